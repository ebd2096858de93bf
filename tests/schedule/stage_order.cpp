#include <tilewright/impl/schedule/legality/stage_order.hpp>

#include <string>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// Each iteration fills Y, by way of Z or without, and copies it to a row of X; D reads X, behind
/// the loop or in it.
ir::function rows(const std::string& filling, const std::string& reading) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    Z = T.alloc_buffer((1,), "int32")
    Y = T.alloc_buffer((8,), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        <filling>
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vj]
    <reading>
)",
                    {{"<filling>", filling}, {"<reading>", reading}});
}

constexpr const char* copy = R"(
for i, j in T.grid(8, 8):
    with T.block("D"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = X[vi, vj])";

constexpr const char* row_above = R"(
    for j in range(8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.if_then_else(vi > 0, X[vi - 1, vj], 0))";

/// A block that holds others fills Y.
constexpr const char* by_block = R"(
with T.block("O"):
    vi = T.axis.spatial(8, i)
    T.reads(A[vi, 0:8])
    T.writes(Y[0:8])
    for j in range(8):
        with T.block("W"):
            vj = T.axis.spatial(8, j)
            Y[vj] = A[vi, vj])";

void check_not_inlined(const ir::function& f) {
  schedule s(f);
  const block_rv x = s.block("X");
  check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(x); });
}

/// X is not computed at that loop of D.
void check_not_moved(const ir::function& f, std::size_t loop) {
  schedule s(f);
  const block_rv x = s.block("X");
  const loop_rv at = s.get_loops(s.block("D"))[loop];
  check_refusal(s, "compute_at", 1, [&] { s.compute_at(x, at); });
}

void check_inlined(const ir::function& f) {
  schedule s(f);
  s.compute_inline(s.block("X"));
  check_meaning(s, f);
}

}  // namespace

TEST_CASE("compute_inline: reads a buffer that every iteration fills anew") {
  check_not_inlined(rows(by_block, copy));
}

TEST_CASE("compute_at: what it reads is overwritten by other iterations") {
  check_not_moved(rows(by_block, copy), 0);
}

TEST_CASE("compute_at: what it reads belonged to the iteration before") {
  check_not_moved(rows(by_block, row_above), 1);
}

TEST_CASE("compute_inline: reads values that follow from what every iteration overwrites") {
  check_not_inlined(rows(R"(
with T.block("Z"):
    vi = T.axis.spatial(8, i)
    Z[0] = A[vi, 0]
for j in range(8):
    with T.block("Y"):
        vj = T.axis.spatial(8, j)
        Y[vj] = Z[0] + vj)",
                         copy));
}

TEST_CASE("compute_inline: reads a loop that the writer of its input uses") {
  check_not_inlined(rows(R"(
for j in range(8):
    with T.block("Y"):
        vj = T.axis.spatial(8, j)
        Y[vj] = A[i, vj])",
                         copy));
}

TEST_CASE("compute_inline: reads what its reader finds in the same iteration") {
  check_inlined(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    Y = T.alloc_buffer((8, 8), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(Y[vi, 0:8])
            for j in range(8):
                with T.block("W"):
                    vj = T.axis.spatial(8, j)
                    Y[vi, vj] = A[vi, vj]
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vi, vj]
        for j in range(8):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vi, 7 - vj]
)"));
}

TEST_CASE("compute_inline: reads a halo that is computed again") {
  check_inlined(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((18,), "int32"), D: T.Buffer((16,), "int32")):
    Y = T.alloc_buffer((18,), "int32")
    X = T.alloc_buffer((16,), "int32")
    for i in range(4):
        for j in range(6):
            with T.block("Y"):
                vj = T.axis.spatial(18, i * 4 + j)
                Y[vj] = A[vj] * 2
        for j in range(4):
            with T.block("X"):
                vi = T.axis.spatial(16, i * 4 + j)
                X[vi] = Y[vi] + Y[vi + 1] + Y[vi + 2]
    for i in range(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = X[vi]
)"));
}
