#if __has_include(<protozero/pbf_reader.hpp>)
#include "network_info.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/backend/cuda/resources.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/impl/model/passes/pass_list.hpp>
#include <tilewright/impl/search/session/unmeasured_schedules.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/device/emulated_program.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/support/mapped_file.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "../command.hpp"

namespace tool {
namespace {

using namespace tilewright;

/// What the plan of a saved model for one kind of machine holds.
struct plan_summary {
  std::size_t code_bytes = 0;
  int threads = 1;
};

plan_summary summary_of(const network::saved_plan& plan) {
  plan_summary out;
  for (const network::saved_kernel& k : plan.kernels) {
    out.code_bytes += k.code.size();
    out.threads = std::max(out.threads, k.threads);
  }
  return out;
}

/// What a saved model holds; nothing of its code is loaded.
int info_of_saved(const network_options& o) {
  if (!o.extents.empty()) throw argument_error(o.file + ": the extents of a saved model are fixed");
  const support::mapped_file file(o.file);
  std::vector<network::saved_plan> plans;
  try {
    plans = network::read_model_file(file.data(), file.size());
  } catch (const argument_error& e) {
    throw argument_error(o.file + ": " + e.what());
  }
  const network::saved_plan& any = plans.front();  // all have the ports of one graph
  std::string text = "{\"saved_model\": " + json(any.name) +
                     ", \"file_bytes\": " + std::to_string(file.size()) + ", \"plans\": [";
  std::string lines = "saved model " + any.name + ": " + std::to_string(file.size()) + " bytes\n";
  for (const network::saved_plan& plan : plans) {
    const plan_summary is = summary_of(plan);
    const std::string kernels = std::to_string(plan.kernels.size()),
                      code = std::to_string(is.code_bytes),
                      arena = std::to_string(plan.arena_bytes),
                      threads = std::to_string(is.threads);
    text += (&plan == &any ? "" : ", ") + ("{\"machine\": " + json(plan.isa)) +
            ", \"kernels\": " + kernels + ", \"code_bytes\": " + code +
            ", \"arena_bytes\": " + arena + ", \"threads\": " + threads + "}";
    const bool is_for_gpu = plan.isa.rfind("nvidia:", 0) == 0;
    lines += "  for " + plan.isa + ": " + kernels + " kernels, " + code + " bytes of code, arena " +
             arena + " bytes" + (is_for_gpu ? "\n" : ", up to " + threads + " threads\n");
    if (o.print)
      for (const network::saved_kernel& k : plan.kernels) lines += "    kernel " + k.name + "\n";
  }
  text += "]";
  const auto ports = [&](const char* what, const std::vector<network_port>& all) {
    text += std::string(", \"") + what + "s\": {";
    for (const network_port& p : all) {
      text += (&p == all.data() ? "" : ", ") + json(p.name) + ": " + json(network::text_of(p.type));
      lines += std::string("  ") + what + " " + p.name + " " + network::text_of(p.type) + "\n";
    }
    text += "}";
  };
  ports("input", any.inputs);
  ports("output", any.outputs);
  say(o.as_json ? text + "}\n" : lines);
  return fine;
}

/// The graph before all passes, and after each.
/// @param parts_in_place as of make_kernels
/// @param widens f16 is widened
std::string text_of_passes(network::graph g, bool parts_in_place, bool widens) {
  std::string before = network::print(g), out = "before all passes:\n" + before;
  const auto step = [&](const network::detail::named_pass& pass) {
    pass.run(g);
    const std::string after = network::print(g);
    out += std::string("after ") + pass.name + (after == before ? ": the same\n" : ":\n" + after);
    before = after;
  };
  if (widens) step({"widen_halves", &network::widen_halves});
  for (const network::detail::named_pass& pass : network::detail::simplifying_passes) step(pass);
  for (const network::detail::named_pass& pass : network::detail::kernel_passes)
    if (parts_in_place || pass.run != &network::place_parts) step(pass);
  return out;
}

/// Kernels of a launch for a GPU and what the assembler says that they need, or why there are none.
struct gpu_launch {
  backend::cuda::program kernels;
  backend::cuda::resource_report needs;  // empty without NVRTC
  std::string problem;                   // empty: there are kernels, and they may be started
};

gpu_launch examined(const network::executable& program, std::size_t k,
                    backend::cuda::program kernels, bool compiles) {
  gpu_launch out;
  out.kernels = std::move(kernels);
  if (!compiles) return out;
  const backend::cuda::compiled code = backend::cuda::compile(out.kernels, *program.gpu());
  out.needs = code.report;
  for (const backend::launch& l : code.artifact.launches)
    if (const std::string why = backend::cuda::why_rejected(l, code.report, *program.gpu());
        !why.empty())
      out.problem = network::text_of(program.launches()[k].what) + ": " + why;
  return out;
}

/// As a call on the device takes its code.
gpu_launch gpu_launch_of(const network::executable& program, std::size_t k,
                         const search::database& records, std::uint64_t seed, bool compiles) {
  gpu_launch out;
  try {
    out = examined(program, k, network::gpu_kernels_of(program, k, records, seed), compiles);
  } catch (const build_error& e) {
    out.problem = e.what();
  }
  if (out.problem.empty()) return out;
  const target::gpu& gpu = *program.gpu();
  search::detail::take_unmeasured(program.task(k), seed, [&](const schedule& s) {
    try {
      gpu_launch other =
          examined(program, k, backend::cuda::print(pass::lower(s.function(), gpu), gpu), compiles);
      if (!other.problem.empty()) return false;
      out = std::move(other);
      return true;
    } catch (const error&) {  // what is said is why the first one cannot be used
      return false;
    }
  });
  return out;
}

/// Whether NVRTC can be opened.
bool has_compiler() {
  try {
    backend::cuda::nvrtc();
    return true;
  } catch (const build_error&) {
    return false;
  }
}

/// What a network becomes on a GPU, each different kernel once; no device is needed.
class gpu_summary {
 public:
  gpu_summary(const network::executable& program, const network_options& o) {
    const target::gpu& gpu = *program.gpu();
    const bool compiles = has_compiler();
    const auto records = search::database::shared(o.database);
    std::map<std::string, gpu_launch> known;
    std::int64_t starts = 0, spilled = 0;
    int most_registers = 0;
    std::int64_t most_shared = 0;
    for (std::size_t k = 0; k < program.launches().size(); ++k) {
      const network::node& what = program.launches()[k].what;
      const search::record_key& key = program.task(k).key;
      const auto [at, is_new] = known.try_emplace(key.workload + key.arguments);
      if (is_new) at->second = gpu_launch_of(program, k, *records, o.seed, compiles);
      const gpu_launch& l = at->second;
      starts += static_cast<std::int64_t>(l.kernels.kernels.size());
      if (!l.problem.empty()) is_fine = false;
      if (is_new && !l.problem.empty()) {
        problems += (problems.empty() ? "" : ", ") + json(l.problem);
        lines += "cannot run on " + gpu.name + ": " + l.problem + "\n";
      }
      if (o.print)
        lines += "  " + what.op + " " + what.name + ": " +
                 std::to_string(l.kernels.kernels.size()) + " kernels\n";
      for (const backend::cuda::kernel& one : l.kernels.kernels) {
        most_shared = std::max<std::int64_t>(most_shared, one.start.shared_bytes);
        const backend::cuda::kernel_resources* r = l.needs.find(one.start.symbol);
        if (!r) continue;
        most_registers = std::max(most_registers, r->registers);
        spilled += r->spilled_bytes;
      }
    }
    json_text = ", \"gpu\": {\"architecture\": " + json(gpu.name) +
                ", \"starts\": " + std::to_string(starts) + ", \"problems\": [" + problems + "]";
    lines += "for " + gpu.name + ": " + std::to_string(starts) + " starts of kernels; ";
    if (compiles) {
      json_text += ", \"most_registers\": " + std::to_string(most_registers) +
                   ", \"spilled_bytes\": " + std::to_string(spilled);
      lines += "up to " + std::to_string(most_registers) + " registers a thread, " +
               std::to_string(spilled) + " bytes spilled, ";
    } else {
      lines += "not compiled, since there is no NVRTC; ";
    }
    json_text += ", \"most_shared_bytes\": " + std::to_string(most_shared) + "}";
    lines += "up to " + std::to_string(most_shared) + " bytes of shared memory\n";
  }

  std::string json_text, lines;
  bool is_fine = true;

 private:
  std::string problems;
};

}  // namespace

int network_info(const network_options& o) {
  if (is_saved(o.file) && o.target != "host")
    throw argument_error(o.file +
                         ": a saved model says for which machines it is; leave --target out");
  if (is_saved(o.file)) return info_of_saved(o);
  const std::optional<cuda::named_device> gpu = cuda::find_device(o.target);
  if (!gpu && o.target != "host")
    throw argument_error("--target " + o.target + ": there is no such machine; it names " +
                         machine_names);
  bool is_fine = true;
  network::graph g = read_network(o);
  std::map<std::string, int> operators;
  for (const network::node& n : g.nodes)
    ++operators[(n.domain.empty() ? "" : n.domain + ".") + n.op];
  std::int64_t constant_bytes = 0;
  for (const network::value& v : g.values)
    if (v.data) constant_bytes += v.data->type().bytes();
  const std::vector<network::unsupported_operator> missing = network::unsupported_operators(g);
  std::string text = "{\"nodes\": " + std::to_string(g.nodes.size()) +
                     ", \"constant_bytes\": " + std::to_string(constant_bytes) +
                     ", \"operators\": {";
  std::string lines = "graph " + g.name + ": " + std::to_string(g.nodes.size()) + " nodes, " +
                      std::to_string(constant_bytes) + " bytes of constants\n";
  bool first = true;
  for (const auto& [op, count] : operators) {
    text += (first ? "" : ", ") + json(op) + ": " + std::to_string(count);
    lines += "  " + op + " " + std::to_string(count) + "\n";
    first = false;
  }
  text += "}, \"unsupported\": [";
  for (const network::unsupported_operator& u : missing) {
    text += (&u == missing.data() ? "" : ", ") + std::string("{\"operator\": ") + json(u.op) +
            ", \"domain\": " + json(u.domain) + ", \"version\": " + std::to_string(u.version) +
            ", \"count\": " + std::to_string(u.count) + ", \"first\": " + json(u.first) + "}";
    lines += "unsupported: " + (u.domain.empty() ? "" : u.domain + ".") + u.op + " version " +
             std::to_string(u.version) + ", " + std::to_string(u.count) + " of them, first " +
             u.first + "\n";
  }
  text += "]";
  if (missing.empty()) {
    network::bind_extents(g, graph_extents_of(o));
    network::infer_types(g);
    const bool widens = !o.plain && !gpu && !o.keep_f16;
    if (o.passes) lines += text_of_passes(g, !gpu, widens);
    if (widens) network::widen_halves(g);
    if (!o.plain && !gpu) network::optimize(g);
    if (!o.plain && gpu) {
      g = network::forms_of(std::move(g)).front();
      network::make_kernels(g, false);
    }
    if (gpu) network::write_outputs(g);
    tuned_options kernel_options;
    kernel_options.mode = mode::off;
    kernel_options.database = ":memory:";
    const network::executable program(std::make_shared<const network::graph>(g), kernel_options,
                                      gpu ? &gpu->gpu : nullptr);
    std::set<std::string> tasks;
    network::kernel_work all;
    for (std::size_t k = 0; k < program.launches().size(); ++k) {
      const network::kernel_work w = network::work_of(program, k);
      all.flops += w.flops;
      all.weight_bytes += w.weight_bytes;
      all.other_bytes += w.other_bytes;
      tasks.insert(program.task(k).key.workload + program.task(k).key.arguments);
    }
    text += ", \"kernels\": " + std::to_string(program.launches().size()) +
            ", \"tasks\": " + std::to_string(tasks.size()) +
            ", \"flops\": " + support::general_text(all.flops, 12) +
            ", \"weight_bytes\": " + std::to_string(all.weight_bytes) +
            ", \"activation_bytes\": " + std::to_string(all.other_bytes) +
            ", \"arena_bytes\": " + std::to_string(program.arena_bytes()) +
            ", \"least_arena_bytes\": " + std::to_string(program.least_arena_bytes());
    lines += std::to_string(program.launches().size()) + " kernels, " +
             std::to_string(tasks.size()) + " of them different; arena " +
             std::to_string(program.arena_bytes()) + " bytes, no smaller than " +
             std::to_string(program.least_arena_bytes()) + "\n" +
             support::general_text(all.flops * 1e-9, 4) + " GFLOP, " +
             std::to_string(all.weight_bytes) + " bytes of weights and " +
             std::to_string(all.other_bytes) + " of activations pass through the kernels\n";
    if (o.print) lines += network::print(g);
    if (gpu) {
      const gpu_summary there(program, o);
      text += there.json_text;
      lines += there.lines;
      is_fine = there.is_fine;
    }
  }
  say(o.as_json ? text + "}\n" : lines);
  return missing.empty() && is_fine ? fine : bad_input;
}

}  // namespace tool
#endif
