#include <tilewright/pass/gpu/narrow_indices.hpp>

#include <tilewright/ir/visit.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

TEST_CASE("loops that count in 64 bits count in 32, with all that is computed of them") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((T.int64(12), T.int64(10)), "float32"), B: T.Buffer((T.int64(10), T.int64(12)), "float32"), P: T.Buffer((T.int64(12),), "int64")):
    for i_0 in T.thread_binding(T.int64(3), thread="blockIdx.x"):
        for i_1 in T.thread_binding(T.int64(4), thread="threadIdx.x"):
            for j in range(T.int64(10)):
                with T.block("B"):
                    vi = T.axis.spatial(T.int64(12), i_0 * T.int64(4) + i_1)
                    vj = T.axis.spatial(T.int64(10), j)
                    B[vj, vi] = T.if_then_else(vi % T.int64(3) < vj, A[vi, vj], A[vi // T.int64(2), vj])
            with T.block("P"):
                vi = T.axis.spatial(T.int64(12), i_0 * T.int64(4) + i_1)
                P[vi] = vi * T.int64(5)
)");
  const ir::function after = pass::narrow_indices(before);
  threads::check_same(before, after);
  bool wide = false;
  ir::for_each_stmt(after.body, [&](const ir::stmt& s) {
    if (const ir::loop_node* loop = ir::as_loop(s)) wide |= loop->var.type() == dtype::i64;
    if (const ir::store_node* to = ir::as_store(s))
      for (const ir::expr& at : to->indices) wide |= at.type() == dtype::i64;
  });
  CHECK_FALSE(wide);
}

TEST_CASE("what may not fit into 32 bits stays, and what is loaded") {
  const ir::function before = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((T.int64(6),), "int64"), B: T.Buffer((T.int64(6), T.int64(4)), "int64"), C: T.Buffer((T.int64(6),), "float32"), D: T.Buffer((T.int64(6),), "float32")):
    for i in range(T.int64(6)):
        for j in range(T.int64(4)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = vi * T.int64(1000000000) + vj + A[vi]
        with T.block("D"):
            vi = T.axis.spatial(T.int64(6), i)
            D[vi] = T.if_then_else(A[vi] < vi * T.int64(4000000000), C[T.min(T.max(A[vi], T.int64(0)), T.int64(5))], T.float32(1))
)");
  const ir::function after = pass::narrow_indices(before);
  threads::check_same(before, after);
  CHECK(threads::count(after, "T.int64(4000000000)") == 1);
  CHECK(threads::count(after, "for i in range(6)") == 1);
}

TEST_CASE("a loop beyond 32 bits keeps its variable, and one of 32 bits is left as it is") {
  const ir::function long_loop = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((T.int64(3000000000),), "float32")):
    for i in range(T.int64(3000000000)):
        A[i] = T.float32(0)
)");
  CHECK(ir::print(pass::narrow_indices(long_loop)) == ir::print(long_loop));
  const ir::function plain = threads::without_blocks(threads::reversed);
  CHECK(pass::narrow_indices(plain).body == plain.body);
}
