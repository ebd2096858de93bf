#include <tilewright/pass/gpu/place_barriers.hpp>

#include <doctest/doctest.h>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

ir::function with_barriers(const ir::function& f) {
  const ir::function unified = pass::simplify_loops(pass::unify_threads(f));
  return pass::simplify_loops(pass::place_barriers(
      pass::plan_shared_memory(pass::simplify_loops(pass::compact_buffers(unified)))));
}

constexpr const char* barrier = "tvm_storage_sync";

/// Threads of one block, 8 of them, run `body`.
ir::function kernel(const std::string& body) {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    with T.block("root"):
        S = T.alloc_buffer((64,), "float32", scope="shared")
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
)" + body);
}

std::size_t barriers_of(const std::string& body) {
  const ir::function before = pass::lower_blocks(kernel(body));
  return threads::count(with_barriers(before), barrier);
}

}  // namespace

TEST_CASE("a barrier stands where a thread reads what another one wrote") {
  const ir::function before = threads::without_blocks(threads::reversed);
  const ir::function after = with_barriers(before);
  CHECK(threads::count(after, barrier) == 1);
  threads::check_same(before, after);
}

TEST_CASE("a tile in a loop has two: before it is read, and before it is filled again") {
  const ir::function before = threads::without_blocks(threads::tiles);
  const ir::function after = with_barriers(before);
  CHECK(threads::count(after, barrier) == 2);
  const pass::kernel_nest nest = pass::nest_of(after.body);
  REQUIRE(nest.shared.size() == 1);
  CHECK(ir::is_int(nest.shared[0]->shape.back(), 8));  // one tile, not the row
  threads::check_same(before, after, 1e-6);
}

TEST_CASE("what only one thread touches needs none") {
  // its own element, whatever lies between
  CHECK(barriers_of(R"(
                S[t * 8] = A[t]
                B[t] = S[t * 8]
)") == 0);
  // rows of threads, 8 apart
  CHECK(barriers_of(R"(
                for j in range(8):
                    S[t * 8 + j] = A[t * 8 + j]
                for j in range(8):
                    B[t * 8 + j] = S[t * 8 + 7 - j]
)") == 0);
  // columns of threads
  CHECK(barriers_of(R"(
                for j in range(8):
                    S[j * 8 + t] = A[t * 8 + j]
                for j in range(8):
                    B[t * 8 + j] = S[(7 - j) * 8 + t]
)") == 0);
  // the first thread, twice
  CHECK(barriers_of(R"(
                if t == 0:
                    S[3] = A[0]
                if t == 0:
                    B[0] = S[3]
)") == 0);
}

TEST_CASE("what two threads touch needs one, however it is written") {
  CHECK(barriers_of(R"(
                for j in range(8):
                    S[t * 8 + j] = A[t * 8 + j]
                for j in range(8):
                    B[t * 8 + j] = S[j * 8 + t]
)") == 1);
  CHECK(barriers_of(R"(
                for j in range(9):
                    if t * 7 + j < 64:
                        B[t] = A[j]
                S[t] = A[t]
                B[t] = S[t // 2]
)") == 1);
  // global memory that the kernel stores to
  CHECK(barriers_of(R"(
                B[t] = A[t]
                B[t + 8] = B[7 - t]
)") == 1);
}

TEST_CASE("a condition that differs between threads moves inside of what needs a barrier") {
  const std::string body = R"(
                if t < 4:
                    S[t] = A[t]
                    B[t] = S[3 - t]
)";
  const ir::function before = pass::lower_blocks(kernel(body));
  const ir::function after = with_barriers(before);
  CHECK(threads::count(after, barrier) == 1);
  CHECK(threads::count(after, "if tx < 4") == 2);
}

TEST_CASE("a barrier that not all threads would reach is refused") {
  CHECK_THROWS_WITH_AS(barriers_of(R"(
                for j in range(t):
                    S[j] = A[t]
                    B[t] = S[7 - j]
)"),
                       doctest::Contains("whose iterations they do not agree on"), build_error);
  CHECK_THROWS_WITH_AS(barriers_of(R"(
                if A[t] > T.float32(0):
                    S[t] = A[t]
                    B[t] = S[7 - t]
)"),
                       doctest::Contains("under a condition that reads memory"), build_error);
}

TEST_CASE("buffers that live at different times share their place, with a barrier between") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="shared")
    R = T.alloc_buffer((8,), "float32", scope="shared")
    for t in T.thread_binding(8, thread="threadIdx.x"):
        for k in range(2):
            for a in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("S"):
                    va = T.axis.spatial(8, a)
                    S[va] = A[va]
            with T.block("B"):
                vt = T.axis.spatial(8, t)
                B[vt] = S[7 - vt]
        for k in range(2):
            for a in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("R"):
                    va = T.axis.spatial(8, a)
                    R[va] = A[va]
            with T.block("C"):
                vt = T.axis.spatial(8, t)
                C[vt] = R[7 - vt]
)");
  const ir::function after = with_barriers(before);
  const pass::kernel_nest nest = pass::nest_of(after.body);
  REQUIRE(nest.shared.size() == 2);
  CHECK(ir::is_int(nest.shared[0]->elem_offset, 0));
  CHECK(ir::is_int(nest.shared[1]->elem_offset, 0));
  threads::check_same(before, after);
}

TEST_CASE("blocks that add to what the kernel initializes are refused, if they may meet") {
  const auto kernel = [](const std::string& part, const std::string& element) {
    return pass::unify_threads(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((32,), "float32")):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        C[)" + element + R"(] = T.float32(0)
        for k in T.thread_binding(8, thread=")" +
                                         part + R"("):
            with T.attr(0, "tilewright.atomic", 1):
                C[i] = C[i] + A[i, k]
)"));
  };
  CHECK(threads::count(pass::place_barriers(kernel("threadIdx.x", "i")), "tvm_storage_sync") == 1);
  for (const ir::function& f : {kernel("blockIdx.y", "i"), kernel("threadIdx.x", "0")})
    CHECK_THROWS_WITH_AS(pass::place_barriers(f), doctest::Contains("needs a nest of its own"),
                         build_error);
}
