#include "tune_tasks.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/support/error.hpp>

#include "../arrays/matrix_input.hpp"
#include "../command.hpp"
#include "../option_values.hpp"
#include "../records/database.hpp"
#include "../records/workload.hpp"

namespace tool {
namespace {

using namespace tilewright;

using extent_lists = std::vector<std::map<std::string, std::int64_t>>;

bool knows(const ir::function& f, const std::string& name) {
  for (const ir::var& v : ir::symbolic_extents(f))
    if (v->name == name) return true;
  return std::any_of(f.params.begin(), f.params.end(),
                     [&](const ir::param& p) { return !p.buffer && p.scalar->name == name; });
}

/// Each function's own of the extents; one that no function knows goes to all, which refuse it.
extent_lists shared_out(const std::vector<ir::function>& functions,
                        const std::map<std::string, std::int64_t>& extents) {
  extent_lists out(functions.size());
  for (const auto& [name, value] : extents) {
    std::size_t known = 0;
    for (const ir::function& f : functions) known += knows(f, name) ? 1 : 0;
    for (std::size_t i = 0; i < functions.size(); ++i)
      if (known == 0 || knows(functions[i], name)) out[i][name] = value;
  }
  return out;
}

target::cpu cpu_of(const std::string& name, const std::vector<std::string_view>& gpus) {
  try {
    return target::named(name);
  } catch (const argument_error& e) {
    std::string text = std::string(e.what()) + "; or a GPU, cuda";
    for (const std::string_view gpu : gpus) text += ", " + std::string(gpu);
    throw argument_error(text);
  }
}

}  // namespace

tune_tasks::tune_tasks(const tune_options& o) {
  choose_target(o.target, !o.workers.empty() || o.count);
  if (o.threads > 0 && o.threads != exec->threads) {
    own = std::make_unique<backend::pool>(o.threads);
    exec = &own->view();
  }
  cpu.cores = exec->threads;
  std::vector<ir::function> functions;
  for (const std::string& file : o.files) functions.push_back(load_function(file, o.function));
  extent_lists extents;
  if (o.several.empty()) extents = shared_out(functions, extents_of(o.dims));
  for (const std::vector<std::string>& each : o.several) extents.push_back(extents_of(each));
  const matrix_inputs matrices(o.matrices);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::map<std::string, std::int64_t> bound = extents[i];
    matrices.bind(functions[i], bound);
    functions[i] = matrices.stored(with_extents(o.files[i], functions[i], bound));
    if (o.in_order) functions[i] = ir::with_term_order(functions[i]);
  }
  db = database_to_write(o.database);
  for (const ir::function& f : functions) {
    all.push_back(
        contiguous_workload(f, gpu ? target::machine(*gpu) : target::machine(cpu), *exec));
    if (!o.space.empty()) all.back().space = chosen_space(o.space);
    if (!matrices.empty()) {
      const std::vector<search::operand> operands = search::operands(f);
      all.back().given.resize(operands.size());
      matrices.fill(operands, all.back().given);
    }
    all.back().key.arguments += search::key_suffix(o.where);
    db->add_workload(all.back().key.workload, ir::print(f));
  }
}

/// @throws argument_error for a space of GPUs where the target is a CPU, and the other way round
space::design_space tune_tasks::chosen_space(const std::string& name) const {
  for (const space::named_space& s : space::named_spaces())
    if (s.name == name && s.for_gpu != gpu.has_value())
      throw argument_error(name +
                           (s.for_gpu ? " makes schedules for GPUs, and the target is a CPU"
                                      : " makes schedules for CPUs, and the target is a GPU") +
                           "; `tilewright space ls` lists the others, --target names a target");
  return space::find_space(name);
}

/// A GPU by its architecture, or, as "cuda", this machine's; where there is none, sm_90a.
/// @param elsewhere whether code of a CPU runs on other machines, or nowhere
void tune_tasks::choose_target(const std::string& name, bool elsewhere) {
  if (std::optional<cuda::named_device> there = cuda::find_device(name)) {
    cpu = target::host();
    gpu = std::move(there->gpu);
    no_gpu = std::move(there->missing);
    return;
  }
  cpu = cpu_of(name, target::known_gpu_names());
  if (elsewhere || target::runs_on(cpu, target::host())) return;
  throw argument_error("code for " + name +
                       " does not run on this machine, so it cannot be measured here; name a "
                       "worker on one that runs it: --worker-at \"ssh HOST tilewright worker\"");
}

}  // namespace tool
