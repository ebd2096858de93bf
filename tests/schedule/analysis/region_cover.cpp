// Region cover, declared in analysis.hpp: what blocks that hold others surely write.
#include <tilewright/impl/schedule/analysis/scope.hpp>

#include "../script_schedule.hpp"

using namespace tilewright;

namespace {

/// Each iteration fills X by a block that holds others, and reads it.
ir::function filled_by(std::string_view inside) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(X[0:8])
            <inside>
        for j in range(8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)",
                    {{"<inside>", inside}});
}

/// Only where X is written anew in each of them do iterations run at once.
void check_unfilled(std::string_view inside) {
  schedule s(filled_by(inside));
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

}  // namespace

TEST_CASE("analysis: inner blocks write all of a box") {
  for (const char* inside : {R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        X[vj] = A[vi, vj])",
                             R"(for j, k in T.grid(2, 4):
    with T.block("I"):
        vj, vk = T.axis.remap("SS", [j, k])
        X[vk * 2 + vj] = A[vi, vk * 2 + vj])"}) {
    schedule s(filled_by(inside));
    s.parallel(s.get_loops(s.block("R"))[0]);
    check_meaning(s, filled_by(inside));
  }
}

TEST_CASE("analysis: inner blocks write less than a box by a guard") {
  check_unfilled(R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        T.where(j >= vi)
        X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by a condition") {
  check_unfilled(R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        if vj >= vi:
            X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by a loop of a block in between") {
  check_unfilled(R"(with T.block("M"):
    vm = T.axis.spatial(8, vi)
    T.reads(A[vm, 0:8])
    T.writes(X[0:8])
    for j in range(8 - vm):
        with T.block("I"):
            vj = T.axis.spatial(8, j + vm)
            X[vj] = A[vm, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by loops that are shorter") {
  check_unfilled(R"(for j in range(4):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by steps") {
  check_unfilled(R"(for j in range(2):
    with T.block("I"):
        vj = T.axis.spatial(2, j)
        T.reads(A[vi, vj * 5:vj * 5 + 3])
        T.writes(X[vj * 5:vj * 5 + 3])
        for c in range(3):
            X[vj * 5 + c] = A[vi, vj * 5 + c])");
}

TEST_CASE("region_cover: a copy that a layout spreads out does not write the box around it") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  const block_rv copy = s.read_at(i, b, 0, "global");
  s.transform_layout(copy, {buffer_selector::list::write, 0}, "lambda i, j: (i * 8 + j,)");
  check_refusal(s, "read_at", 5, [&] { s.read_at(i, b, 0, "local"); });
}

TEST_CASE("analysis: inner blocks write all of a box at a constant index") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4, 2, 8), "int32")):
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(B[vi, 1, 0:8])
            for j in range(8):
                with T.block("I"):
                    vj = T.axis.spatial(8, j)
                    B[vi, 1, vj] = A[vi, vj] + 1
)");
  schedule s(f);
  s.cache_write(s.block("O"), 0, "global");
  check_meaning(s, f);
}

TEST_CASE("analysis: inner blocks that write a view write the buffer") {
  const std::string guarded = R"(V = T.match_buffer(X[0:8], (8,), "int32")
for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        <guard>
        V[vj] = A[vi, vj])";
  check_unfilled(fill(guarded, {{"<guard>", "T.where(j >= vi)"}}));
  const std::string whole = fill(guarded, {{"<guard>", "T.where(j >= 0)"}});
  schedule s(filled_by(whole));
  s.parallel(s.get_loops(s.block("R"))[0]);
  check_meaning(s, filled_by(whole));
  check_unfilled(R"(V = T.match_buffer(X[0:4], (4,), "int32")
for j in range(4):
    with T.block("I"):
        vj = T.axis.spatial(4, j)
        V[vj] = A[vi, vj])");
}

TEST_CASE("analysis: stores to a view are stores to the buffer") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            T.writes(C[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            Cs = T.match_buffer(C[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "int32", offset_factor=1)
            for ii, jj in T.grid(4, 4):
                Cs[ii, jj] = A[vi * 4 + ii, vj * 4 + jj] + 1
)");
  schedule s(f);
  s.cache_write(s.block("C"), 0, "global");
  check_meaning(s, f);
}

namespace {

/// Each instance declares that it writes a row of B, by `stores`.
schedule writes_row(std::string_view stores) {
  return schedule(program_of(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), I: T.Buffer((4,), "int32"), B: T.Buffer((4, 8), "int32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8], I[vi])
            T.writes(B[vi, 0:8])
            <stores>
)",
                             {{"<stores>", stores}}));
}

}  // namespace

TEST_CASE("analysis: stores write all of a box") {
  for (const char* stores : {
           "for k in range(8):\n    B[vi, 7 - k] = A[vi, k]",
           "for k in range(16):\n    B[vi, k // 2] = A[vi, k // 2]",
           "for j, k in T.grid(2, 4):\n    B[vi, k * 2 + j] = A[vi, k * 2 + j] + vi",
           "for k in range(4):\n    B[vi, k] = A[vi, k]\n    B[vi, k + 4] = A[vi, k] + 1",
           "for k in range(4):\n    B[vi, k * 2] = A[vi, k]\n    B[vi, k * 2 + 1] = A[vi, k] + 1",
           "for k in range(8):\n    B[vi, (k * 3 + 2) % 8] = A[vi, k]",
           "for k in range(8):\n    B[vi, k] = 0\nfor k in range(8):\n    B[vi, k // 2] = A[vi, k]",
           "for k in range(1, 9):\n    B[vi, k - 1] = T.Cast(\"int32\", "
           "T.exp(T.Cast(\"float32\", A[vi, k - 1])))",
           "V = T.match_buffer(B[vi, 0:8], (8,), \"int32\")\n"
           "for k in range(8):\n    V[7 - k] = A[vi, k]",
           "V = T.match_buffer(B[vi, 4:8], (4,), \"int32\")\n"
           "for k in range(4):\n    V[k] = A[vi, k]\n    B[vi, k] = A[vi, k] + 1",
           "for k in range(8):\n    if A[vi, k] < 0:\n        B[vi, k] = 1\n"
           "    else:\n        B[vi, k] = 2",
       }) {
    CAPTURE(stores);
    schedule s = writes_row(stores);
    const ir::function f = s.function();
    s.cache_write(s.block("B"), 0, "global");
    check_meaning(s, f);
  }
}

TEST_CASE("analysis: stores write less than a box declared") {
  for (const char* stores : {
           "for k in range(8):\n    B[vi, k // 2] = A[vi, k]",
           "for k in range(8):\n    B[vi, k // 2 * 2] = A[vi, k]",
           "for j, k in T.grid(4, 2):\n    B[vi, j + k] = A[vi, j * 2 + k]",
           "for k in range(4):\n    B[vi, k * 2] = A[vi, k]\n"
           "for k in range(4):\n    B[vi, k * 2] = A[vi, k + 4]",
           "for k in range(8):\n    B[vi, k * 2 % 8] = A[vi, k]",
           "for k in range(4):\n    B[vi, k] = A[vi, k]\n    B[vi, 7 - k // 2] = A[vi, k] + 1",
           "B[vi, 3] = A[vi, 3]",
           "B[vi, I[vi] % 8] = A[vi, 3]",
           "for k in range(8):\n    if A[vi, k] < 0:\n        B[vi, k // 2] = 1\n"
           "    else:\n        B[vi, k // 2] = 2",
           "for k in range(6):\n    if A[vi, k] < 0:\n        B[vi, k] = 1\n"
           "    else:\n        B[vi, k + 2] = 2",
       }) {
    CAPTURE(stores);
    schedule s = writes_row(stores);
    const block_rv b = s.block("B");
    check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "global"); });
    const loop_rv i = s.get_loops(b)[0];
    check_refusal(s, "write_at", 5, [&] { s.write_at(i, b, 0, "global"); });
  }
}

TEST_CASE("analysis: stores to a view write less than a box declared") {
  for (const char* stores : {
           "V = T.match_buffer(B[vi, 0:8], (8,), \"int32\")\n"
           "for k in range(8):\n    V[k // 2] = A[vi, k]",
           "V = T.match_buffer(B[vi, 0:4], (4,), \"int32\")\n"
           "for k in range(4):\n    V[k] = A[vi, k]\n    B[vi, k + 3] = A[vi, k] + 1",
       }) {
    CAPTURE(stores);
    schedule s = writes_row(stores);
    const block_rv b = s.block("B");
    check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "global"); });
  }
}

TEST_CASE("analysis: an init writes all of a box of which updates write less") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4, 8), "int32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(B[vi, 0:8])
            with T.init():
                for j in range(8):
                    B[vi, j] = 0
            for j in range(8):
                B[vi, j // 2] = B[vi, j // 2] + A[vi, vk]
)");
  schedule s(f);
  s.cache_write(s.block("B"), 0, "global");
  check_meaning(s, f);
}

TEST_CASE("analysis: stores that leave elements of a box to what others read") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4, 8), "int32")):
    X = T.alloc_buffer((4, 8), "int32")
    for i in range(4):
        with T.block("X"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(X[vi, 0:8])
            for k in range(8):
                X[vi, k // 2] = A[vi, k]
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.reads(X[vi, 0:8])
            T.writes(B[vi, 0:4])
            for k in range(4):
                B[vi, k] = X[vi, k]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "cache_read", 4, [&] { s.cache_read(b, 0, "global"); });
}

TEST_CASE("analysis: stores of each iteration write less than a box") {
  check_unfilled("for k in range(8):\n    X[k // 2] = A[vi, k]");
  schedule s(filled_by("for k in range(8):\n    X[7 - k] = A[vi, k]"));
  s.parallel(s.get_loops(s.block("R"))[0]);
  check_meaning(s, filled_by("for k in range(8):\n    X[7 - k] = A[vi, k]"));
}

TEST_CASE("region_cover: a block whose guard never holds writes nothing") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi]
    with T.block("O"):
        T.reads()
        T.writes(X[0:8])
        for a in range(1):
            with T.block("P"):
                va = T.axis.spatial(8, a)
                T.where(a == 1)
                X[va] = 0
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = X[vi]
)");
  schedule s(f);
  const block_rv p = s.block("P");
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(p, 0, "global"); });
}

TEST_CASE(
    "carried_dependence: what blocks outside of the loop have written is written anew below") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((9,), "int32"), D: T.Buffer((9,), "int32")):
    X = T.alloc_buffer((9,), "int32")
    for i in range(9):
        with T.block("X"):
            vi = T.axis.spatial(9, i)
            X[vi] = A[vi]
    for i in range(9):
        with T.block("U"):
            vi = T.axis.spatial(9, i)
            X[vi] = X[vi] * 2
        with T.block("D"):
            vi = T.axis.spatial(9, i)
            D[vi] = X[vi] + T.if_then_else(vi >= 2, X[vi - 2], 0)
)");
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("D"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
  check_refusal(s, "vectorize", 1, [&] { s.vectorize(i); });
  check_refusal(s, "bind", 1, [&] { s.bind(i, "threadIdx.x"); });

  // the border that the loop leaves as it is belongs to nobody's iteration
  const ir::function border = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), D: T.Buffer((4,), "int32")):
    X = T.alloc_buffer((4, 10), "int32")
    for i, j in T.grid(4, 10):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = 0
    for i in range(4):
        for j in range(8):
            with T.block("U"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj + 1] = X[vi, vj + 1] + A[vi, vj]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            T.reads(X[0:4, 0], X[vi, 0:10])
            T.writes(D[vi])
            D[vi] = X[3 - vi, 0] + X[vi, 9] + X[vi, 1]
)");
  schedule t(border);
  t.parallel(t.get_loops(t.block("D"))[0]);
  check_meaning(t, border);
}

TEST_CASE("region_cover: a part that is updated through a view is read") {
  const auto part = [](const char* first) {
    return schedule(program_of(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32")):
    for j in range(2):
        with T.block("M"):
            vj = T.axis.spatial(2, j)
            T.reads(A[vj * 2:vj * 2 + 2])
            T.writes(A[vj * 2:vj * 2 + 2])
            W = T.match_buffer(A[vj * 2:vj * 2 + 2], (2,), "int32", offset_factor=1)
            <first>
            for k in range(2):
                with T.block("U"):
                    vk = T.axis.spatial(2, k)
                    W[vk] = W[vk] + vj
)",
                               {{"<first>", first}}));
  };
  schedule updated = part("");
  const block_rv m = updated.block("M");
  check_refusal(updated, "cache_write", 3, [&] { updated.cache_write(m, 0, "global"); });
  schedule written = part(
      "for k in range(2):\n    with T.block(\"Z\"):\n"
      "        vk = T.axis.spatial(2, k)\n        W[vk] = vj");
  const ir::function f = written.function();
  written.cache_write(written.block("M"), 0, "global");
  check_meaning(written, f);
}

TEST_CASE("region_cover: a symbolic multiple that is split is written") {
  const auto program = [](const char* extent, const char* quotient, const char* guard) {
    return program_of(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 3), "int32")
    C = T.match_buffer(c, (n, 3), "int32")
    B = T.alloc_buffer(((n + 3) // 4, 3, 4), "int32")
    for o, j, i in T.grid((n + 7) // 8, 3, 8):
        with T.block("B"):
            vi = T.axis.spatial(<extent>, o * 8 + i)
            vj = T.axis.spatial(3, j)
            T.where(<guard>)
            B[<quotient>, vj, vi % 4] = T.if_then_else(vi < n, A[vi, vj], 1)
    for i, j in T.grid(n, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi // 4, vj, vi % 4]
)",
                      {{"<extent>", extent}, {"<quotient>", quotient}, {"<guard>", guard}});
  };
  const char* multiple = "(n + 3) // 4 * 4";
  const ir::function f = program(multiple, "vi // 4", "o * 8 + i < (n + 3) // 4 * 4");
  schedule s(f);
  s.cache_read(s.block("C"), 0, "local");
  CHECK(s.show().find("ax0 <") == std::string::npos);  // as much as there is
  check_meaning(s, f, {{"n", 5}});
  check_meaning(s, f, {{"n", 8}});
  const auto check_uncovered = [&](const ir::function& g) {
    schedule t(g);
    const block_rv c = t.block("C");
    check_refusal(t, "cache_read", 4, [&] { t.cache_read(c, 0, "local"); });
  };
  check_uncovered(program("n", "vi // 4", "o * 8 + i < n"));
  check_uncovered(program(multiple, "vi // 8", "o * 8 + i < (n + 3) // 4 * 4"));
  check_uncovered(program(multiple, "vi // 4", "o * 8 + i < n"));
}

TEST_CASE("region_cover: all of a row of symbolic length, in tiles or as digits") {
  const auto covered = [](std::string_view loops, std::string_view row, std::string_view column,
                          std::string_view guard) {
    const ir::function f =
        program_of(R"(@T.prim_func
def main(a: T.handle, d: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (6, n, 12), "int32")
    D = T.match_buffer(d, (6, n), "int32")
    C = T.alloc_buffer((6, n), "int32")
    for <loops>:
        for k0, k1 in T.grid(4, 3):
            with T.block("C"):
                vi = T.axis.spatial(6, <row>)
                vj = T.axis.spatial(n, <column>)
                vk = T.axis.reduce(12, k0 * 3 + k1)
                T.where(<guard>)
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
    for i, j in T.grid(6, n):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj]
)",
                   {{"<loops>", loops}, {"<row>", row}, {"<column>", column}, {"<guard>", guard}});
    return primitive::region_covered(primitive::block_scope(*ir::root_block(f)), 1);
  };
  CHECK(covered("f, u in T.grid(n * 6, 1)", "(f + u) // n", "(f + u) % n", "True"));
  CHECK(covered("i, o, j in T.grid(6, (n + 31) // 32, 32)", "i", "o * 32 + j", "o * 32 + j < n"));
  CHECK_FALSE(covered("i, o, j in T.grid(6, n // 32, 32)", "i", "o * 32 + j", "o * 32 + j < n"));
}
