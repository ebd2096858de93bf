// Inside of a block that writes memory which it knows by two names, nothing changes.
#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// A block that matches two windows of X, or uses X besides.
ir::function with_views(const char* second, const char* used) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((3, 8), "int32"), X: T.Buffer((3, 8), "int32")):
    for t in range(3):
        with T.block("O"):
            vt = T.axis.spatial(3, t)
            T.reads(A[vt, 0:8], X[vt, 0:8])
            T.writes(X[vt, 0:8])
            V = T.match_buffer(X[vt, 0:4], (4,), "int32", offset_factor=1)
            W = T.match_buffer(X[vt, <second>], (4,), "int32", offset_factor=1)
            for i in range(4):
                with T.block("V"):
                    vi = T.axis.spatial(4, i)
                    V[vi] = A[vt, vi] * 2
            for i in range(4):
                with T.block("W"):
                    vi = T.axis.spatial(4, i)
                    W[vi] = <used>
)",
                    {{"<second>", second}, {"<used>", used}});
}

}  // namespace

TEST_CASE("two_names: a matched buffer is used beside its view") {
  const ir::function f = with_views("4:8", "X[vt, 3 - vi] + 1");
  schedule s(f);
  const block_rv v = s.block("V"), w = s.block("W");
  const loop_rv inner = s.get_loops(v)[0], first = s.get_loops(s.block("O"))[0];
  check_refusal(s, "reverse_compute_at", 0, [&] { s.reverse_compute_at(w, inner); });
  check_refusal(s, "split", 0, [&] { s.split(inner, {infer, 2}); });
  s.split(first, {infer, 2});  // outside of the block
  check_meaning(s, f);
}

TEST_CASE("two_names: two views of the same elements") {
  const ir::function f = with_views("2:6", "V[3 - vi] + 1");
  schedule s(f);
  const block_rv w = s.block("W");
  const loop_rv inner = s.get_loops(s.block("V"))[0];
  check_refusal(s, "reverse_compute_at", 0, [&] { s.reverse_compute_at(w, inner); });
}

TEST_CASE("two_names: views of different elements are different buffers") {
  const ir::function f = with_views("4:8", "V[vi] + 1");
  schedule s(f);
  const loop_rv inner = s.get_loops(s.block("V"))[0];
  s.reverse_compute_at(s.block("W"), inner);
  check_meaning(s, f);
}
