// From what lowering gives to code.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/function_ref.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::search::detail {

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
    out.code = backend::load(out.artifact);
  } catch (const std::exception& e) {
    out.code = nullptr;
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
  }
  return out;
}

/// Kernels of what `lowered` gives. Those that are not worth starting are no code.
/// @param deadline  s after which NVRTC gives up; 0: never
inline built kernels_of(support::function_ref<ir::function()> lowered, const target::gpu& gpu,
                        double deadline) {
  namespace cu = backend::cuda;
  const auto limit =
      std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * std::min(deadline, 1e6)));
  const auto start = std::chrono::steady_clock::now();
  built out;
  try {
    const cu::program text = cu::print(lowered(), gpu);
    cu::compiled made = cu::compile(text, gpu, limit);
    for (const backend::launch& l : made.artifact.launches)
      if (std::string why = cu::why_rejected(l, made.report, gpu); !why.empty()) {
        out.error = std::move(why);
        out.rejected = true;
        return out;
      }
    out.artifact = std::move(made.artifact);
  } catch (const std::exception& e) {
    out.late = deadline > 0 && std::chrono::steady_clock::now() - start >= limit;
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
  }
  return out;
}

}  // namespace tilewright::search::detail
