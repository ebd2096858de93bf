// From what lowering gives to code.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/sparse/inspection.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/function_ref.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::search::detail {

/// As pass::lower_prepared. What is computed of offsets alone, such as the row of each element, is prepared, too: it is
/// done once for a pattern, as weights are packed once (dispatch/pattern_lists.hpp).
inline pass::prepared lowered_in_parts(const ir::function& scheduled, const target::cpu& cpu) {
  const bool may_divide = scheduled.attrs.count(ir::offsets_attribute) > 0 &&
                          ir::bound_weights(scheduled).empty() && ir::as_realize(scheduled.body);
  sparse::inspection parts;
  if (may_divide) parts = sparse::divide(scheduled, sparse::inspected::offsets);
  if (parts.lists.empty() ||
      support::any(parts.lists, [](const ir::buffer& b) { return pass::constant_size(b) < 0; }))
    return pass::lower_prepared(scheduled, cpu);
  // code takes its arguments by their positions, so that both parts have all of them
  parts.inspector.params = parts.executor.params;
  return {pass::lower(parts.executor, cpu), pass::lower(parts.inspector, cpu), parts.lists};
}

/// Code of what `lowered` gives; what it throws is an error of the build.
inline built built_of(support::function_ref<pass::prepared()> lowered, const target::cpu& cpu) {
  built out;
  try {
    const pass::prepared parts = lowered();
    out.artifact = backend::compile(parts.main, cpu);
    for (const ir::buffer& b : parts.packed)
      out.artifact.packed_bytes.push_back(pass::constant_size(b) * bytes(b->type));
    if (parts.preparation.body)
      out.artifact.preparation.push_back(backend::compile(parts.preparation, cpu));
    if (target::architecture_of(cpu) == target::host_architecture())
      out.code = backend::link(out.artifact);
  } catch (const std::exception& e) {
    out.code = nullptr;
    out.artifact = {};
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
  }
  return out;
}

/// What kernels may need. Functions of angles have an array for those far from zero, which hardly any thread touches.
inline backend::cuda::resource_limits limits_of(const backend::cuda::program& p) {
  constexpr std::int64_t large_angles = 64;  // bytes
  backend::cuda::resource_limits out;
  for (const char* function : {"tw_sin(", "tw_cos(", "tw_tan("})
    if (p.text.find(function) != std::string::npos) out.frame_bytes = large_angles;
  return out;
}

/// What a compiled program comes to; kernels that are not worth starting are no code.
inline built kept(backend::cuda::compiled made, const target::gpu& gpu,
                  const backend::cuda::resource_limits& limits) {
  built out;
  for (const backend::launch& l : made.artifact.launches)
    if (std::string why = backend::cuda::why_rejected(l, made.report, gpu, limits); !why.empty()) {
      out.error = std::move(why);
      out.rejected = true;
      return out;
    }
  out.artifact = std::move(made.artifact);
  return out;
}

inline std::chrono::milliseconds compile_limit(double deadline) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * std::min(deadline, 1e6)));
}

/// Kernels of what `lowered` gives. Those that are not worth starting are no code.
/// @param deadline  s after which NVRTC gives up; 0: never
inline built kernels_of(support::function_ref<ir::function()> lowered, const target::gpu& gpu,
                        double deadline) {
  namespace cu = backend::cuda;
  const auto limit = compile_limit(deadline);
  const auto start = std::chrono::steady_clock::now();
  try {
    const cu::program text = cu::print(lowered(), gpu);
    return kept(cu::compile(text, gpu, limit), gpu, limits_of(text));
  } catch (const std::exception& e) {
    built out;
    out.late = deadline > 0 && std::chrono::steady_clock::now() - start >= limit;
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
    return out;
  }
}

/// The same for several programs, [programs]: small ones in one run of NVRTC. Where that fails, or has an
/// advisory, of which nobody knows whom it means, each gets a run of its own.
inline std::vector<built> kernels_of_all(const std::vector<ir::function>& scheduled,
                                         const target::gpu& gpu, double deadline) {
  namespace cu = backend::cuda;
  std::vector<built> out(scheduled.size());
  std::vector<std::size_t> together;
  std::vector<cu::program> texts;
  for (std::size_t i = 0; i < scheduled.size(); ++i) {
    try {
      cu::program text = cu::print(pass::lower(scheduled[i], gpu), gpu);
      if (!cu::is_small(text)) continue;
      texts.push_back(std::move(text));
      together.push_back(i);
    } catch (const std::exception&) {  // said where it is built alone
    }
  }
  bool joined = texts.size() > 1;
  if (joined) {
    try {
      std::vector<cu::compiled> made = cu::compile_together(texts, gpu, compile_limit(deadline));
      joined = made[0].report.advisories.empty();
      for (std::size_t k = 0; joined && k < made.size(); ++k)
        out[together[k]] = kept(std::move(made[k]), gpu, limits_of(texts[k]));
    } catch (const std::exception&) {
      joined = false;
    }
  }
  for (std::size_t i = 0; i < scheduled.size(); ++i)
    if (!joined || !support::contains(together, i))
      out[i] = kernels_of([&] { return pass::lower(scheduled[i], gpu); }, gpu, deadline);
  return out;
}

/// Whether programs, which are candidates of one workload, had better be compiled together: the first one
/// that can be lowered tells.
inline bool are_small(const std::vector<ir::function>& scheduled, const target::gpu& gpu) {
  for (const ir::function& f : scheduled) {
    try {
      return backend::cuda::is_small(backend::cuda::print(pass::lower(f, gpu), gpu));
    } catch (const std::exception&) {  // the next one
    }
  }
  return false;
}

}  // namespace tilewright::search::detail
