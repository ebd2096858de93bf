#include <tilewright/schedule/primitive/staging/cache_index.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* resize = R"(
@T.prim_func
def main(A: T.Buffer((3, 10, 10), "float32"), B: T.Buffer((3, 20, 20), "float32")):
    for c, i, j in T.grid(3, 20, 20):
        with T.block("B"):
            vc, vi, vj = T.axis.remap("SSS", [c, i, j])
            B[vc, vi, vj] = A[vc, vi // 4 + vj // 4, vj // 2]
)";

}  // namespace

TEST_CASE("cache_index: the largest expressions, first in the scope") {
  const ir::function f = ir::parse(resize);
  schedule s(f);
  const std::vector<block_rv> made = s.cache_index(s.block("B"), "global");
  REQUIRE(made.size() == 2);
  CHECK(s.get(made[0]).block->name == "index_0");
  CHECK(s.get(made[1]).block->name == "index_1");
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((3, 10, 10), "float32"), B: T.Buffer((3, 20, 20), "float32")):
    index_var_0 = T.alloc_buffer((20, 20), "int32")
    index_var_1 = T.alloc_buffer((20,), "int32")
    for ax0, ax1 in T.grid(20, 20):
        with T.block("index_0"):
            v0, v1 = T.axis.remap("SS", [ax0, ax1])
            index_var_0[v0, v1] = v0 // 4 + v1 // 4
    for ax0 in range(20):
        with T.block("index_1"):
            v0 = T.axis.spatial(20, ax0)
            index_var_1[v0] = v0 // 2
    for c, i, j in T.grid(3, 20, 20):
        with T.block("B"):
            vc, vi, vj = T.axis.remap("SSS", [c, i, j])
            T.reads(A[vc, vi // 4 + vj // 4, vj // 2], index_var_0[vi, vj], index_var_1[vj])
            T.writes(B[vc, vi, vj])
            B[vc, vi, vj] = A[vc, index_var_0[vi, vj], index_var_1[vj]]
)");
  check_meaning(s, f);
}

TEST_CASE("cache_index: a threshold counts parts, and equal values once") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((80,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            v = T.axis.spatial(16, i)
            T.reads(A[0:80])
            T.writes(B[v])
            B[v] = A[v * 4 + 1] + T.exp(T.Cast("float32", 1 + v * 4)) + A[v * 3 + 2] + A[v * 5] + A[2 + v * 3]
)");
  schedule s(f);
  CHECK(s.cache_index(s.block("B"), "local", 2).size() == 2);
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((80,), "float32"), B: T.Buffer((16,), "float32")):
    index_var_0 = T.alloc_buffer((16,), "int32", scope="local")
    index_var_1 = T.alloc_buffer((16,), "int32", scope="local")
    for ax0 in range(16):
        with T.block("index_0"):
            v0 = T.axis.spatial(16, ax0)
            index_var_0[v0] = v0 * 4 + 1
    for ax0 in range(16):
        with T.block("index_1"):
            v0 = T.axis.spatial(16, ax0)
            index_var_1[v0] = v0 * 3 + 2
    for i in range(16):
        with T.block("B"):
            v = T.axis.spatial(16, i)
            T.reads(A[0:80], index_var_0[v], index_var_1[v])
            T.writes(B[v])
            B[v] = A[index_var_0[v]] + T.exp(T.Cast("float32", index_var_0[v])) + A[index_var_1[v]] + A[v * 5] + A[index_var_1[v]]
)");
  check_meaning(s, f);
}

TEST_CASE("cache_index: nothing to compute changes nothing") {
  const ir::function f = ir::parse(resize);
  schedule s(f);
  CHECK(s.cache_index(s.block("B"), "global", 3).empty());
  CHECK(ir::equal(s.function(), f));
}

TEST_CASE("cache_index: tiled and guarded loops, a divisor that may be zero") {
  const ir::function f = ir::parse(resize);
  schedule s(f);
  const block_rv b = s.block("B");
  s.split(s.get_loops(b)[2], {infer, 7});
  s.cache_index(b, "global");
  check_meaning(s, f);

  const ir::function g = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("B"):
            v = T.axis.spatial(16, i)
            B[v] = T.if_then_else(v > 0, A[15 // v], v * 2 + 1)
)");
  schedule t(g);
  CHECK(t.cache_index(t.block("B"), "global").size() == 2);  // v > 0 and v * 2 + 1
  check_meaning(t, g);
}

TEST_CASE("cache_index: symbolic extents") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n * 2 + 1,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            v = T.axis.spatial(n, i)
            B[v] = A[v * 2 + 1]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  s.split(s.get_loops(b)[0], {infer, 16});
  s.cache_index(b, "global");
  CHECK(s.show().find("T.alloc_buffer((n,), \"int32\")") != std::string::npos);
}

TEST_CASE("cache_index: requirements by number") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                vj = T.axis.spatial(16, j)
                B[vi, vj] = A[vi, vj // 2]
)");
  schedule s(f);
  const block_rv b = s.block("B"), root = s.block("root");
  check_refusal(s, "cache_index", 1, [&] { s.cache_index(root, "global"); });
  check_refusal(s, "cache_index", 2, [&] { s.cache_index(b, "test_scope"); });
  check_refusal(s, "cache_index", 3, [&] { s.cache_index(b, "global", -1); });
  check_refusal(s, "cache_index", 4, [&] { s.cache_index(b, "global"); });
}

TEST_CASE("cache_index: values that the nest of the block writes") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    idx = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("idx"):
            vi = T.axis.spatial(8, i)
            idx[vi] = (vi * 3) % 8
        with T.block("B"):
            vi = T.axis.opaque(8, idx[i] % 8)
            B[vi * 2] = A[vi * 2]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_index", 4, [&] { s.cache_index(b, "global"); });
}

TEST_CASE("cache_index: memory of the threads around the block") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi * 2] = A[vi * 2]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_index", 2, [&] { s.cache_index(b, "local"); });
}

TEST_CASE("cache_index: what a block computes from loops alone stays") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(8):
        with T.block("B"):
            T.reads(A[i * 2])
            T.writes(B[i * 2])
            B[i * 2] = A[i * 2]
)"));
  CHECK(s.cache_index(s.block("B"), "global").empty());
}
