#include "engines.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <backend/cuda/gpu_list.hpp>
#include <laws/random_steps.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/call/argument_values.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace campaign {
namespace {

const target::cpu& machine() {
  static const target::cpu out = [] {
    target::cpu cpu = target::host();
    cpu.cores = 2;
    return cpu;
  }();
  return out;
}

bool same_parameters(const ir::function& a, const ir::function& b) {
  return std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(),
                    [](const ir::param& x, const ir::param& y) { return x.buffer == y.buffer; });
}

}  // namespace

namespace {

/// Runs the interpreter on the arguments of `memory`, with fresh outputs.
void interpret(const ir::function& f, search::runner& memory) {
  std::vector<ir::tensor_view> views;
  for (std::size_t i = 0; i < memory.operands().size(); ++i)
    views.push_back({memory.data()[i], memory.operands()[i].scalar ? std::vector<std::int64_t>{}
                                                                   : memory.operands()[i].strides});
  memory.reset_outputs();
  ir::interpret_options options;
  options.check_unwritten = true;
  options.check_races = true;
  options.check_scopes = false;
  ir::interpret(f, views, options);
}

}  // namespace

bool runs(const ir::function& f) {
  try {
    search::runner memory(f, {}, backend::serial_executor(), 1);
    interpret(f, memory);
    return true;
  } catch (const error&) {
    return false;
  }
}

bool binds_threads(const ir::function& f) {
  return ir::any_stmt(f.body, [](const ir::stmt& s) {
    const auto* loop = ir::as_loop(s);
    return loop && loop->loop == ir::loop_kind::thread_binding;
  });
}

std::optional<schedule> scheduled(const ir::function& f, std::uint64_t seed) {
  support::random draw(seed);
  try {
    const std::vector<schedule> all =
        space::default_cpu().sketches(f, {&machine(), machine().cores}, seed);
    if (all.empty()) return std::nullopt;
    auto one = search::replay(laws::any(draw, all).trace().without_decisions(), f, seed);
    if (!one) return std::nullopt;
    space::default_cpu().finish(one->scheduled, {&machine(), machine().cores});
    return one->scheduled;
  } catch (const schedule_error&) {
    return std::nullopt;
  }
}

schedule random_schedule(const ir::function& f, std::uint64_t seed) {
  support::random draw(seed);
  schedule s(f, seed);
  for (std::int64_t steps = 1 + laws::pick(draw, 16); steps > 0; --steps) {
    schedule before = s;
    laws::random_step(s, draw);
    if (!same_parameters(f, s.function())) s = std::move(before);  // it means something else now
  }
  return s;
}

std::optional<schedule> scheduled_for_gpu(const ir::function& f, std::uint64_t seed) {
  if (binds_threads(f)) return std::nullopt;
  try {
    const std::vector<schedule> one =
        gpu_list::members(f, 1, seed % 2 ? gpu_list::rules() : space::default_gpu(), seed);
    return one.empty() ? std::nullopt : std::optional(one.front());
  } catch (const schedule_error&) {
    return std::nullopt;
  }
}

std::string wrong_when_interpreted(const ir::function& f, const ir::function& scheduled,
                                   std::uint64_t seed, bool& compared) {
  using result = search::exact_comparison::result;
  const search::exact_comparison c = search::compare_exactly(f, scheduled, seed);
  compared = c.is != result::unknown;
  return c.is == result::different ? "in exact arithmetic: " + c.text : "";
}

std::string wrong_in_floats(const ir::function& f, const ir::function& scheduled,
                            std::uint64_t seed) {
  search::runner memory(f, {}, backend::serial_executor(), seed);
  interpret(f, memory);
  const auto expected = memory.outputs();
  interpret(scheduled, memory);
  const std::string wrong =
      search::compare_outputs(memory.operands(), search::needs_of(f), expected, memory.outputs());
  return wrong.empty() ? wrong : "interpreted: " + wrong;
}

std::string wrong_by_machine_code(const ir::function& f, const ir::function& scheduled,
                                  std::uint64_t seed) {
  const search::built b = search::build(scheduled, machine());
  if (!b.code) return "machine code: " + b.error;
  static backend::pool two(2);
  search::runner memory(f, {}, two.view(), seed);
  const std::string wrong = search::verify_against_interpreter(f, memory, *b.code);
  return wrong.empty() ? wrong : "machine code: " + wrong;
}

std::string wrong_when_emulated(const ir::function& f, const ir::function& scheduled,
                                std::uint64_t seed) {
  namespace cu = backend::cuda;
  static const target::gpu device = target::named_gpu("sm_80");
  search::runner memory(f, {}, backend::serial_executor(), seed);
  std::vector<cu::emulated_argument> arguments;
  std::vector<std::int64_t> strides;
  std::vector<ir::tensor_view> views;
  for (std::size_t i = 0; i < memory.operands().size(); ++i) {
    const search::operand& o = memory.operands()[i];
    arguments.push_back({memory.data()[i], o.scalar ? 1 : o.elements()});
    views.push_back({memory.data()[i], o.scalar ? std::vector<std::int64_t>{} : o.strides});
    if (!o.scalar) strides.insert(strides.end(), o.strides.begin(), o.strides.end());
  }
  memory.reset_outputs();
  ir::interpret(f, views, {});
  const auto expected = memory.outputs();
  memory.reset_outputs();
  const cu::emulator kernels(cu::print(pass::lower(scheduled, device), device));
  kernels.run(arguments, strides, seed);
  const std::string wrong =
      search::compare_outputs(memory.operands(), search::needs_of(f), expected, memory.outputs());
  return wrong.empty() ? wrong : "emulator: " + wrong;
}

}  // namespace campaign
