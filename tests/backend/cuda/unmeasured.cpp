// What a call runs on a GPU where nothing was measured: all of the device is used, whatever extents and types are.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>

#include "cases.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

cases::cu::program unmeasured(const ir::function& f) {
  const schedule s = search::default_schedule(f, space::default_gpu(), gpu_list::machine(), 1);
  return cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
}

std::int64_t threads_of(const backend::launch& l) {
  std::int64_t out = 1;
  for (std::size_t d = 0; d < 3; ++d) out *= std::int64_t{l.grid[d]} * l.block[d];
  return out;
}

/// Each kernel has so many threads at least, and what they compute is what the function means.
cases::cu::program check(const ir::function& f, std::int64_t threads, double tolerance = 0,
                         const harness::options& o = {}) {
  const cases::cu::program p = unmeasured(f);
  INFO(p.text);
  for (const auto& k : p.kernels) CHECK(threads_of(k.start) >= threads);
  if (cases::have_emulator())
    cases::check_equal(cases::emulated(cases::cu::emulator(p), f, 1, o), cases::interpreted(f, o),
                       tolerance);
  return p;
}

}  // namespace

TEST_CASE("unmeasured: vectors are as wide as the widest element that they meet") {
  // 16 bytes of results would be 64 of scales
  check(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((8, 64), "uint8"), S: T.Buffer((64,), "float32"), Y: T.Buffer((8, 64), "uint8")):
    for i, j in T.grid(8, 64):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.cast(T.cast(X[vi, vj], "float32") * T.abs(S[vj]), "uint8")
)"),
        128);
  // channels are three, so that a vector meets several points
  check(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((64, 3), "uint8"), S: T.Buffer((64,), "float32"), Y: T.Buffer((64, 3), "uint8")):
    for i, j in T.grid(64, 3):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.cast(T.cast(X[vi, vj], "float32") * T.abs(S[vi]), "uint8")
)"),
        48);
}

TEST_CASE("unmeasured: extents that no tile divides have threads") {
  check(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((37, 41), "float32"), B: T.Buffer((41, 43), "float32"), C: T.Buffer((37, 43), "float32")):
    for i, j, k in T.grid(37, 43, 41):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"),
        256, 1e-4);
}

TEST_CASE("unmeasured: a row has a block where nothing but its result is left to do") {
  const cases::cu::program p = check(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((5, 300), "float32"), L: T.Buffer((5,), "float32"), Y: T.Buffer((5,), "float32")):
    S = T.alloc_buffer((5,), "float32")
    for i, j in T.grid(5, 300):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj] * X[vi, vj]
    for i in range(5):
        with T.block("Y"):
            vi = T.axis.spatial(5, i)
            Y[vi] = T.sqrt(S[vi]) - L[vi]
)"),
                                     5 * 32, 1e-4);
  CHECK(p.kernels.size() == 1);
  CHECK(p.kernels[0].start.grid[0] == 5);
}

TEST_CASE("unmeasured: rows that are added up themselves keep their blocks") {
  check(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((7, 130), "float32"), E: T.Buffer((1,), "float32")):
    M = T.alloc_buffer((7,), "float32")
    for i, j in T.grid(7, 130):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.float32(-1e30)
            M[vi] = T.max(M[vi], X[vi, vj])
    for o, i in T.grid(1, 7):
        with T.block("E"):
            vo, vi = T.axis.remap("SR", [o, i])
            with T.init():
                E[vo] = T.float32(0)
            E[vo] = E[vo] + M[vi]
)"),
        4, 1e-4);
}

TEST_CASE("unmeasured: parts of a result, and results that read the same, are one kernel") {
  const cases::cu::program p = check(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((300, 2), "float32"), Y: T.Buffer((300, 2), "float32"), Z: T.Buffer((300,), "float32")):
    for i in range(300):
        with T.block("Y"):
            vi = T.axis.spatial(300, i)
            Y[vi, 0] = X[vi, 0] - X[vi, 1]
    for i in range(300):
        with T.block("Y_1"):
            vi = T.axis.spatial(300, i)
            Y[vi, 1] = X[vi, 0] + X[vi, 1]
    for i in range(300):
        with T.block("Z"):
            vi = T.axis.spatial(300, i)
            Z[vi] = X[vi, 0] * X[vi, 1]
)"),
                                     256);
  CHECK(p.kernels.size() == 1);
}

TEST_CASE("unmeasured: functions of angles may have an array for large ones") {
  if (!cases::have_nvrtc()) return;
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((256,), "float32"), Y: T.Buffer((256,), "float32")):
    for i in range(256):
        with T.block("Y"):
            vi = T.axis.spatial(256, i)
            Y[vi] = T.cos(X[vi])
)");
  const schedule s = search::default_schedule(f, space::default_gpu(), gpu_list::machine(), 1);
  const search::built b = search::build(s.function(), cases::device(), 60);
  INFO(b.error);
  CHECK(static_cast<bool>(b));
}
