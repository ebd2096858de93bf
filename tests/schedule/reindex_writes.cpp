// reindex and its caches: blocks that write an element several times, or not always, and memory of
// threads.
#include <tilewright/schedule/primitive/reindex.hpp>

#include "script_schedule.hpp"

using namespace tilewright;

TEST_CASE("reindex, transform_block_layout: the last of several instances that write an element") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), X: T.Buffer((8,), "int32")):
    for j, i in T.grid(4, 4):
        with T.block("X"):
            vj, vi = T.axis.remap("SS", [j, i])
            X[vi + vj] = A[vi, vj]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "reindex", 6, [&] { s.reindex(x, {buffer_selector::list::write, 0}); });
  check_refusal(s, "transform_block_layout", 6,
                [&] { s.transform_block_layout(x, "lambda j, i: (i, j)"); });
  const ir::function f = s.function();
  s.reindex_cache_write(x, 0, "local", "lambda j, i: (i, j)");  // in the order of the block
  check_meaning(s, f);
}

TEST_CASE("reindex, reindex_cache_write: a store in a loop that may have no iteration") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            for j in range(vi):
                X[vi] = A[j]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "reindex", 6, [&] { s.reindex(x, {buffer_selector::list::write, 0}); });
  check_refusal(s, "reindex_cache_write", 8,
                [&] { s.reindex_cache_write(x, 0, "local", "lambda i: (i,)"); });
}

TEST_CASE("reindex, reindex_cache_read: the memory of threads is read by these alone") {
  const auto program = [](const std::string& between) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((8,), "int32", scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
)" + between + R"(
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)");
  };
  schedule beside(program("    for i in T.thread_binding(8, thread=\"threadIdx.x\"):"));
  const block_rv d = beside.block("D");
  check_refusal(beside, "reindex", 4, [&] { beside.reindex(d, {buffer_selector::list::read, 0}); });
  check_refusal(beside, "reindex_cache_read", 4,
                [&] { beside.reindex_cache_read(d, 0, "local", "lambda i: (i,)"); });
  schedule together(program(""));
  together.reindex_cache_read(together.block("D"), 0, "local", "lambda i: (i,)");
  check_meaning(together, program(""));
}
