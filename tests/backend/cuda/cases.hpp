// Functions with loops bound to threads, and what the tests of the CUDA back end do with them.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "backend/harness.hpp"

namespace cases {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

inline const target::gpu& device() {
  static const target::gpu out = target::named_gpu("sm_80");
  return out;
}

/// True where kernels can be emulated; says so where they cannot.
inline bool have_emulator() {
  static const std::string missing = cu::why_no_emulator();
  if (!missing.empty()) MESSAGE("skipped, kernels cannot be emulated: " << missing);
  return missing.empty();
}

/// True where NVRTC is installed; says so where it is not.
inline bool have_nvrtc() {
  static const std::string missing = [] {
    try {
      cu::nvrtc();
      return std::string();
    } catch (const build_error& e) {
      return std::string(e.what());
    }
  }();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return missing.empty();
}

inline std::vector<harness::argument> interpreted(const ir::function& f,
                                                  const harness::options& o = {}) {
  std::vector<harness::argument> memory = harness::make_arguments(f, o);
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
  ir::interpret(f, views, {});
  return memory;
}

inline std::vector<harness::argument> emulated(const cu::emulator& kernels, const ir::function& f,
                                               std::uint64_t seed, const harness::options& o = {}) {
  std::vector<harness::argument> memory = harness::make_arguments(f, o);
  std::vector<cu::emulated_argument> arguments;
  std::vector<std::int64_t> strides;
  for (harness::argument& a : memory) {
    arguments.push_back(
        {a.bytes.data(), static_cast<std::int64_t>(a.bytes.size()) / bytes(a.type)});
    strides.insert(strides.end(), a.strides.begin(), a.strides.end());
  }
  kernels.run(arguments, strides, seed);
  return memory;
}

inline void check_equal(const std::vector<harness::argument>& got,
                        const std::vector<harness::argument>& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(harness::difference(got[i], expected[i]) <= tolerance);
  }
}

/// Lowers `scheduled`, emulates it in two orders, and compares with the interpreter on `f`.
inline void check_emulated(const ir::function& scheduled, const ir::function& f,
                           double tolerance = 0, const harness::options& o = {}) {
  if (!have_emulator()) return;
  const cu::program p = cu::print(pass::lower(scheduled, device()), device());
  INFO(p.text);
  const std::vector<harness::argument> expected = interpreted(f, o);
  const cu::emulator kernels(p);
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    check_equal(emulated(kernels, f, seed, o), expected, tolerance);
}
inline void check_emulated(const ir::function& f, double tolerance = 0,
                           const harness::options& o = {}) {
  check_emulated(f, f, tolerance, o);
}

/// B = exp(A) on 100 elements, 32 threads in a block.
inline ir::function exponential() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
    for i_0 in T.thread_binding(4, thread="blockIdx.x"):
        for i_1 in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(100, i_0 * 32 + i_1)
                T.where(i_0 * 32 + i_1 < 100)
                B[vi] = T.exp(A[vi])
)");
}

/// Two kernels, the second with vectors of four.
inline ir::function two_kernels() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16, 64), "float32"), C: T.Buffer((16, 64), "float32")):
    B = T.alloc_buffer((16, 64), "float32")
    for i in T.thread_binding(16, thread="blockIdx.x"):
        for j in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
    for i_0 in T.thread_binding(2, thread="blockIdx.x"):
        for i_1 in T.thread_binding(8, thread="threadIdx.y"):
            for j_0 in T.thread_binding(16, thread="threadIdx.x"):
                for j_1 in T.vectorized(4):
                    with T.block("C"):
                        vi = T.axis.spatial(16, i_0 * 8 + i_1)
                        vj = T.axis.spatial(64, j_0 * 4 + j_1)
                        C[vi, vj] = T.max(B[vi, vj], T.float32(0)) + A[vi, vj]
)");
}

}  // namespace cases
