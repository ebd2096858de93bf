// What the tests of the passes towards kernels share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>

#include "backend/harness.hpp"

namespace threads {

using namespace tilewright;

/// Runs both in the interpreter, threads with memory of their own, and compares all that they write.
inline void check_same(const ir::function& before, const ir::function& after,
                       double tolerance = 0) {
  INFO(ir::print(after));
  std::vector<harness::argument> expected = harness::make_arguments(before, {}),
                                 got = harness::make_arguments(before, {});
  const auto run = [](const ir::function& f, std::vector<harness::argument>& memory) {
    std::vector<ir::tensor_view> views;
    for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
    ir::interpret_options how;
    how.check_races = true;
    ir::interpret(f, views, how);
  };
  run(before, expected);
  run(after, got);
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(harness::difference(got[i], expected[i]) <= tolerance);
}

inline std::size_t count(const ir::function& f, const std::string& text) {
  const std::string all = ir::print(f);
  std::size_t out = 0;
  for (std::size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++out;
  return out;
}

inline ir::function without_blocks(const char* text) {
  return pass::simplify_loops(pass::lower_blocks(ir::parse(text)));
}

/// Each thread fills its place of a shared row, and reads that of another one.
inline const char* const reversed = R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 6), "float32")):
    S = T.alloc_buffer((4, 8), "float32", scope="shared")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for a in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("S"):
                vi, va = T.axis.remap("SS", [i, a])
                S[vi, va] = A[vi, va] * T.float32(2)
        for b in T.thread_binding(6, thread="threadIdx.x"):
            with T.block("B"):
                vi, vb = T.axis.remap("SS", [i, b])
                B[vi, vb] = S[vi, 7 - vb]
)";

/// Rows of 5 tiles of 8, each through shared memory, each thread adding up all of a tile.
inline const char* const tiles = R"(
@T.prim_func
def main(A: T.Buffer((4, 40), "float32"), B: T.Buffer((4, 8), "float32")):
    S = T.alloc_buffer((4, 40), "float32", scope="shared")
    C = T.alloc_buffer((4, 8), "float32", scope="local")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for k_0 in range(5):
                for a in T.thread_binding(8, thread="threadIdx.x"):
                    with T.block("S"):
                        vi = T.axis.spatial(4, i)
                        va = T.axis.spatial(40, k_0 * 8 + a)
                        S[vi, va] = A[vi, va]
                for k_1 in range(8):
                    with T.block("C"):
                        vi = T.axis.spatial(4, i)
                        vt = T.axis.spatial(8, t)
                        vk = T.axis.reduce(40, k_0 * 8 + k_1)
                        with T.init():
                            C[vi, vt] = T.float32(0)
                        C[vi, vt] = C[vi, vt] + S[vi, vk] * T.cast(vt, "float32")
            with T.block("B"):
                vi, vt = T.axis.remap("SS", [i, t])
                B[vi, vt] = C[vi, vt]
)";

}  // namespace threads
