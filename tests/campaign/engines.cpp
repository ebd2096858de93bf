#include "engines.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <backend/cuda/gpu_list.hpp>
#include <laws/random_steps.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/backend/compile_parts.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
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

std::optional<reference> interpreted(const ir::function& f, std::uint64_t seed) {
  static backend::pool two(2);
  try {
    reference out;
    out.memory = std::make_unique<search::runner>(f, std::vector<search::argument_layout>{},
                                                  two.view(), seed);
    interpret(f, *out.memory);
    out.outputs = out.memory->outputs();
    return out;
  } catch (const error&) {
    return std::nullopt;
  }
}

bool binds_threads(const ir::function& f) {
  return ir::any_stmt(f.body, [](const ir::stmt& s) {
    const auto* loop = ir::as_loop(s);
    return loop && loop->loop == ir::loop_kind::thread_binding;
  });
}

std::optional<schedule> scheduled(const ir::function& f, std::uint64_t seed, drawn how) {
  const space::context where{{&machine()}, machine().cores};
  support::random draw(seed);
  constexpr std::uint64_t attempts = 4;  // one in seven members is refused while it is drawn
  for (std::uint64_t k = 0; how == drawn::as_a_member && k < attempts; ++k) {
    try {
      return space::default_cpu().member(f, where, seed + k);
    } catch (const schedule_error&) {
    }
  }
  try {
    const std::vector<schedule> all = space::default_cpu().sketches(f, where, seed);
    if (all.empty()) return std::nullopt;
    auto one = search::replay(laws::any(draw, all).trace().without_decisions(), f, seed);
    if (!one) return std::nullopt;
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

namespace {

/// How the last outputs differ from what they should be.
std::string difference(const ir::function& f, const reference& is, const std::string& engine) {
  const std::string out = search::compare_outputs(is.memory->operands(), search::needs_of(f),
                                                  is.outputs, is.memory->outputs());
  return out.empty() ? out : engine + ": " + out;
}

search::built built_quickly(const ir::function& scheduled) {
  search::built out;
  const pass::prepared parts = pass::lower_prepared(scheduled, machine());
  if (parts.preparation.body) return search::build(scheduled, machine());
  out.artifact = backend::detail::compile_parts::compile_at(backend::llvm::codegen_none, parts.main,
                                                            machine());
  out.code = backend::load(out.artifact);
  return out;
}

}  // namespace

std::string wrong_in_floats(const ir::function& f, reference& is, const ir::function& scheduled) {
  interpret(scheduled, *is.memory);
  return difference(f, is, "interpreted");
}

std::string wrong_by_machine_code(const ir::function& f, reference& is,
                                  const ir::function& scheduled, codegen how) {
  const search::built b =
      how == codegen::quick ? built_quickly(scheduled) : search::build(scheduled, machine());
  if (!b.code) return "machine code: " + b.error;
  const search::measurement m = is.memory->run(*b.code);
  return m.ok() ? difference(f, is, "machine code") : "machine code: " + m.detail;
}

std::string wrong_when_emulated(const ir::function& f, reference& is, const ir::function& scheduled,
                                std::uint64_t seed, bool& compared) {
  namespace cu = backend::cuda;
  static const target::gpu device = target::named_gpu("sm_80");
  constexpr double most_threads = 20000;
  const cu::program text = cu::print(pass::lower(scheduled, device), device);
  double threads = 0;
  for (const cu::kernel& k : text.kernels) {
    double all = 1;
    for (const auto& shape : {k.start.grid, k.start.block})
      for (const std::uint32_t extent : shape) all *= extent;
    threads += all;
  }
  compared = threads <= most_threads;
  if (!compared) return {};
  const search::runner& memory = *is.memory;
  std::vector<cu::emulated_argument> arguments;
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < memory.operands().size(); ++i) {
    const search::operand& o = memory.operands()[i];
    arguments.push_back({memory.data()[i], o.scalar ? 1 : o.elements()});
    if (!o.scalar) strides.insert(strides.end(), o.strides.begin(), o.strides.end());
  }
  is.memory->reset_outputs();
  const cu::emulator kernels(text);
  kernels.run(arguments, strides, seed);
  return difference(f, is, "emulator");
}

}  // namespace campaign
