// Blocks without variables see the loops and lets around them; blocks with variables do not, so what
// such a block uses cannot become part of them.
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/schedule/primitive/reductions/fuse_reduction_epilogue.hpp>
#include <tilewright/schedule/primitive/reductions/rfactor.hpp>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// A program whose scope "part" stands in a loop `t` and a let `n`.
ir::function in_a_part(const char* statements) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), E: T.Buffer((), "int32")):
    for t in range(3):
        n: T.int32 = t + 2
        with T.block("part"):
            X = T.alloc_buffer((), "int32")
            <statements>
)",
                    {{"<statements>", statements}});
}

}  // namespace

TEST_CASE("defined_around: compute_inline") {
  for (const char* used : {"t", "n"}) {
    CAPTURE(used);
    const ir::function f = in_a_part(fill(R"(with T.block("X"):
    X[()] = A[0, 1] + <used>
for i in range(4):
    with T.block("B"):
        vt, vi = T.axis.remap("SS", [t, i])
        B[vt, vi] = A[vt, vi] + X[()])",
                                          {{"<used>", used}})
                                         .c_str());
    schedule s(f);
    const block_rv x = s.block("X");
    check_refusal(s, "compute_inline", 4, [&] { s.compute_inline(x); });
    check_meaning(s, f);
  }
}

TEST_CASE("defined_around: a block that uses nothing from outside is inlined") {
  const ir::function f = in_a_part(R"(with T.block("X"):
    X[()] = A[0, 1] + 1
for i in range(4):
    with T.block("B"):
        vt, vi = T.axis.remap("SS", [t, i])
        B[vt, vi] = A[vt, vi] + X[()])");
  schedule s(f);
  s.compute_inline(s.block("X"));
  check_meaning(s, f);
}

TEST_CASE("defined_around: reverse_compute_inline") {
  const ir::function f = in_a_part(R"(for i in range(1):
    with T.block("X"):
        vi = T.axis.spatial(1, i)
        X[()] = A[vi, 0]
with T.block("E"):
    E[()] = X[()] + n)");
  schedule s(f);
  const block_rv e = s.block("E");
  check_refusal(s, "reverse_compute_inline", 2, [&] { s.reverse_compute_inline(e); });
}

TEST_CASE("defined_around: fuse_reduction_epilogue") {
  const ir::function f = in_a_part(R"(for k in range(4):
    with T.block("X"):
        vk = T.axis.reduce(4, k)
        with T.init():
            X[()] = 0
        X[()] = X[()] + A[0, vk]
with T.block("E"):
    E[()] = X[()] + t)");
  schedule s(f);
  const block_rv x = s.block("X"), e = s.block("E");
  check_refusal(s, "fuse_reduction_epilogue", 3, [&] { s.fuse_reduction_epilogue(x, e); });
}

TEST_CASE("defined_around: rfactor") {
  const ir::function f = in_a_part(R"(for k in range(1):
    with T.block("E"):
        with T.init():
            E[()] = 0
        E[()] = E[()] + A[t, n - 2])");
  schedule s(f);
  const loop_rv k = s.get_loops(s.block("E"))[0];
  check_refusal(s, "rfactor", 1, [&] { s.rfactor(k, 0); });
}
