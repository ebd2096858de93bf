#include <tilewright/pass/gpu/unify_threads.hpp>

#include <doctest/doctest.h>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

TEST_CASE("loops on one axis become one variable, guarded where they are shorter") {
  const ir::function before = threads::without_blocks(threads::reversed);
  const ir::function after = pass::unify_threads(before);
  CHECK(threads::count(after, "thread_binding") == 2);
  CHECK(threads::count(after, "if tx < 6") == 1);
  const pass::kernel_nest nest = pass::nest_of(after.body);
  REQUIRE(nest.blocks.size() == 1);
  CHECK(ir::is_int(nest.blocks[0]->extent, 4));
}

TEST_CASE("what stands outside of the threads is done by the first of them") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4, 8), "float32")):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi, 0]
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("C"):
                vi, vt = T.axis.remap("SS", [i, t])
                C[vi, vt] = A[vi, vt] + T.float32(1)
)");
  const ir::function after = pass::unify_threads(before);
  CHECK(threads::count(after, "if tx == 0") == 1);
  threads::check_same(before, after);
}

TEST_CASE("each statement below the allocations is a kernel, of one thread where none is bound") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
)");
  const ir::function after = pass::unify_threads(before);
  CHECK(threads::count(after, "T.thread_binding(1, thread=\"blockIdx.x\")") == 2);
  CHECK(threads::count(after, "T.thread_binding(8, thread=\"threadIdx.x\")") == 1);
  threads::check_same(before, after);
}

TEST_CASE("grids that cannot be made are refused") {
  const auto refused = [](const char* loops, const char* part) {
    const std::string text = std::string(R"(
@T.prim_func
def main(B: T.Buffer((4, 8), "float32")):
)") + loops + R"(
                B[i, t] = T.float32(1)
)";
    CHECK_THROWS_WITH_AS(pass::unify_threads(ir::parse(text)), doctest::Contains(part),
                         build_error);
  };
  refused(R"(    for i in range(4):
        for t in T.thread_binding(8, thread="blockIdx.x"):
            if True:)",
          "stands around loops bound to blockIdx");
  refused(R"(    for i in T.thread_binding(4, thread="threadIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            if True:)",
          "has 8 iterations inside of a loop of 4 on that axis");
}
