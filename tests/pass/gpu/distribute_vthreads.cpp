#include <tilewright/pass/gpu/distribute_vthreads.hpp>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

TEST_CASE("what is the same for all virtual threads is done once, the rest for each") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((4,), "float32", scope="local")
    C = T.alloc_buffer((8,), "float32", scope="local")
    for v in T.thread_binding(2, thread="vthread.x"):
        for k in range(4):
            with T.block("S"):
                vk = T.axis.spatial(4, k)
                S[vk] = A[0, vk] * T.float32(3)
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, v * 4 + i)
                C[vi] = A[vi, 1] + S[2]
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(8, v * 4 + i)
                B[vi] = C[vi]
)");
  const ir::function after = pass::distribute_vthreads(before);
  CHECK(threads::count(after, "vthread") == 0);
  CHECK(threads::count(after, "T.unroll(2)") == 2);  // not around S
  threads::check_same(before, after);
}

TEST_CASE("a buffer in which virtual threads are not apart gets one copy for each") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for v in T.thread_binding(2, thread="vthread.x"):
        with T.block("outer"):
            vv = T.axis.spatial(2, v)
            C = T.alloc_buffer((4,), "float32", scope="local")
            for i in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(4, i)
                    C[vi] = A[vv * 4 + vi] * T.float32(2)
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vv * 4 + vi] = C[3 - vi]
)");
  const ir::function after = pass::distribute_vthreads(before);
  CHECK(threads::count(after, "vthread") == 0);
  threads::check_same(before, after);
}
