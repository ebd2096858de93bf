#include <tilewright/schedule/primitive/staging/cache_inplace.hpp>

#include <string>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* update = R"(
@T.prim_func
def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((6, 7), "float32")):
    for i, j in T.grid(6, 7):
        with T.block("A1"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(6, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

/// Of a loop that writes T0 and reads it, a part of the writing cannot copy T0 in.
void check_part_refused(const char* part) {
  schedule s(ir::parse(R"(@T.prim_func
def main(V: T.Buffer((8,), "int32"), T1: T.Buffer((8,), "int32")):
    T0 = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("T0"):
            vi = T.axis.spatial(8, i)
            T0[vi] = V[vi] * 2
        with T.block("T1"):
            vi = T.axis.spatial(8, i)
            T1[vi] = T0[vi] + 1
)"));
  s.loop_partition(s.get_loops(s.block("T0"))[0], {infer, 5});
  const block_rv b = s.block(part);
  check_refusal(s, "cache_inplace", 4, [&] { s.cache_inplace(b, 1, "local"); });
}

/// A block that changes X, and n, which says whether or where it runs, cannot copy X in.
void check_overwriting_refused(const std::string& body) {
  schedule s(program_of(R"(@T.prim_func
def main(X: T.Buffer((8,), "int32")):
    n = T.alloc_buffer((1,), "int32")
    with T.block("n"):
        n[0] = 1
    for i in range(4):
        with T.block("B"):
            <body>
)",
                        {{"<body>", body}}));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_inplace", 5, [&] { s.cache_inplace(b, 0, "global"); });
}

}  // namespace

TEST_CASE("cache_inplace: copies around each instance") {
  const ir::function f = ir::parse(update);
  schedule s(f);
  const auto [in, out] = s.cache_inplace(s.block("A1"), 0, "local");
  CHECK(s.get(in).block->name == "A_local");
  CHECK(s.get(out).block->name == "A_local_1");
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((6, 7), "float32"), B: T.Buffer((6, 7), "float32")):
    A_local = T.alloc_buffer((6, 7), "float32", scope="local")
    for i, j in T.grid(6, 7):
        for ax0, ax1 in T.grid(1, 1):
            with T.block("A_local"):
                v0 = T.axis.spatial(6, i + ax0)
                v1 = T.axis.spatial(7, j + ax1)
                A_local[v0, v1] = A[v0, v1]
        with T.block("A1"):
            vi, vj = T.axis.remap("SS", [i, j])
            A_local[vi, vj] = A_local[vi, vj] + T.float32(1)
        for ax0, ax1 in T.grid(1, 1):
            with T.block("A_local_1"):
                v0 = T.axis.spatial(6, i + ax0)
                v1 = T.axis.spatial(7, j + ax1)
                A[v0, v1] = A_local[v0, v1]
    for i, j in T.grid(6, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)");
  check_meaning(s, f);
}

TEST_CASE("cache_inplace: guarded instances") {
  const ir::function f = ir::parse(update);
  schedule s(f);
  const block_rv a1 = s.block("A1");
  s.split(s.get_loops(a1)[1], {infer, 3});
  s.cache_inplace(a1, 0, "shared");
  check_meaning(s, f);
}

TEST_CASE("cache_inplace: a whole buffer in an opaque call") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64,), "int32")):
    for i in range(1):
        with T.block("call"):
            T.reads(A[0:64])
            T.writes(A[0:64])
            T.evaluate(T.call_extern("int32", "update", A.data))
)");
  schedule s(f);
  s.cache_inplace(s.block("call"), 0, "local");
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((64,), "int32")):
    A_local = T.alloc_buffer((64,), "int32", scope="local")
    for i in range(1):
        for ax0 in range(64):
            with T.block("A_local"):
                v0 = T.axis.spatial(64, ax0)
                A_local[v0] = A[v0]
        with T.block("call"):
            T.reads(A_local[0:64])
            T.writes(A_local[0:64])
            T.evaluate(T.call_extern("int32", "update", A_local.data))
        for ax0 in range(64):
            with T.block("A_local_1"):
                v0 = T.axis.spatial(64, ax0)
                A[v0] = A_local[v0]
)");
  check_schedule(s, f);
}

TEST_CASE("cache_inplace: requirements by number") {
  const ir::function f = ir::parse(update);
  schedule s(f);
  const block_rv a1 = s.block("A1"), b = s.block("B");
  check_refusal(s, "cache_inplace", 1, [&] { s.cache_inplace(a1, 1, "local"); });
  check_refusal(s, "cache_inplace", 2, [&] { s.cache_inplace(a1, 0, "test_scope"); });
  check_refusal(s, "cache_inplace", 3, [&] { s.cache_inplace(b, 0, "local"); });
}

TEST_CASE("cache_inplace: a buffer that nobody has written cannot be copied in") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    with T.block("both"):
        T.reads(A[0:8], B[0:8])
        T.writes(B[0:8], C[0:8])
        for i in range(8):
            B[i] = A[i]
            C[i] = B[i]
)"));
  const block_rv b = s.block("both");
  check_refusal(s, "cache_inplace", 4, [&] { s.cache_inplace(b, 1, "local"); });
}

TEST_CASE("cache_inplace: a part that is the first writer of a buffer of an outer scope") {
  check_part_refused("T0_i0_partition");
}

TEST_CASE("cache_inplace: a part whose elements only other parts of an outer scope write") {
  check_part_refused("T0_i1_partition");
}

TEST_CASE("cache_inplace: a part of what a block of an outer scope has written") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(V: T.Buffer((8,), "int32"), T1: T.Buffer((8,), "int32")):
    T0 = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("T0"):
            vi = T.axis.spatial(8, i)
            T0[vi] = V[vi] * 2
    for i in range(8):
        with T.block("again"):
            vi = T.axis.spatial(8, i)
            T0[vi] = T0[vi] + 1
    for i in range(8):
        with T.block("T1"):
            vi = T.axis.spatial(8, i)
            T1[vi] = T0[vi] + 1
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("again"))[0], {infer, 5});
  s.cache_inplace(s.block("again_i1_partition"), 0, "local");
  check_meaning(s, f);
}

TEST_CASE("cache_inplace: elements that parallel iterations only read") {
  schedule s(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((8,), "int32")):
    for i in T.parallel(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            X[vi + 4] = X[vi] + 1
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_inplace", 6, [&] { s.cache_inplace(b, 0, "global"); });
}

TEST_CASE("cache_inplace: elements between what iterations write are other blocks'") {
  // no two iterations of one block write the same elements, with the copies neither
  schedule s(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((12,), "int32")):
    for i in T.parallel(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            X[vi * 4] = X[vi * 4] + X[vi * 4 + 3]
        with T.block("between"):
            vi = T.axis.spatial(3, i)
            X[(2 - vi) * 4 + 1] = vi
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_inplace", 6, [&] { s.cache_inplace(b, 0, "global"); });
}

TEST_CASE("cache_inplace: a guard that the block overwrites") {
  check_overwriting_refused(R"(
vi = T.axis.spatial(8, i)
T.where(n[0] > 0)
X[vi] = X[vi] + 5
n[0] = 2 - vi)");
}

TEST_CASE("cache_inplace: a binding that the block overwrites") {
  check_overwriting_refused(R"(
vi = T.axis.opaque(8, n[0])
X[vi] = X[vi] + 5
n[0] = vi + 1)");
}

TEST_CASE("cache_inplace: a place that the block overwrites") {
  check_overwriting_refused(R"(
vi = T.axis.opaque(8, i)
T.reads(X[n[0]], n[0])
T.writes(X[n[0]], n[0])
X[n[0]] = X[n[0]] + 5
n[0] = n[0] + 1)");
}

TEST_CASE("cache_inplace: indices wider than the extents of the buffer") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((6,), "int32")):
    for i, k in T.grid(T.int64(6), T.int64(4)):
        with T.block("C"):
            vi, vk = T.axis.remap("SS", [i, k])
            T.reads(C[vi], A[vi, vk])
            T.writes(C[vi])
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(f);
  s.cache_inplace(s.block("C"), 0, "local");
  check_meaning(s, f);
}

TEST_CASE("cache_inplace: what a view shows of a buffer that nobody has written is not written") {
  const std::string head = R"(@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), C: T.Buffer((2, 4), "int32")):
    B = T.alloc_buffer((2, 4), "int32")
)";
  const std::string filled = R"(    for i, j in T.grid(2, 4):
        with T.block("F"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)";
  const std::string rest = R"(    for i in range(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(B[vi, 0:4])
            T.writes(B[vi, 0:4])
            V = T.match_buffer(B[vi, 0:4], (4,), "int32", strides=("s",), offset_factor=1)
            with T.block("W"):
                T.reads(V[0:4])
                T.writes(V[0:4])
                for j in range(4):
                    V[j] = j
                for j in range(3):
                    V[j + 1] = V[j + 1] + V[j]
    for i, j in T.grid(2, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
)";
  schedule s(ir::parse(head + rest));
  const block_rv w = s.block("W");
  check_refusal(s, "cache_inplace", 4, [&] { s.cache_inplace(w, 0, "global"); });
  const ir::function f = ir::parse(head + filled + rest);
  schedule t(f);
  t.cache_inplace(t.block("W"), 0, "global");
  check_schedule(t, f);
}

TEST_CASE("cache_inplace: the block around declares what is copied") {
  const auto program = [](const std::string& declared) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), B: T.Buffer((2, 4), "int32")):
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in range(2):
        with T.block("O"):
            vi = T.axis.spatial(2, i)
            T.reads(B[vi, )" +
                     declared +
                     R"(])
            T.writes(B[vi, 0:2])
            for j in range(2):
                with T.block("W"):
                    vj = T.axis.spatial(2, j)
                    T.reads(B[vi, T.min(vj, 1 - vj):T.min(vj, 1 - vj) + 2])
                    T.writes(B[vi, vj])
                    B[vi, vj] = B[vi, vj] * 3 + B[vi, 1 - vj]
)");
  };
  schedule s(program("0:2"));
  const block_rv w = s.block("W");
  check_refusal(s, "cache_inplace", 4, [&] { s.cache_inplace(w, 0, "local"); });
  const ir::function f = program("0:4");
  schedule t(f);
  t.cache_inplace(t.block("W"), 0, "local");
  check_schedule(t, f);
}
