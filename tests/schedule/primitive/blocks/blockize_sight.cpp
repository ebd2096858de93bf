// A block with variables sees loops and lets outside of it through them alone.
#include <tilewright/schedule/primitive/blocks/blockize.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("blockize: a guard that uses a loop around the scope of the block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
    for o, i in T.grid(2, 3):
        with T.block("B"):
            vi = T.axis.spatial(5, o * 3 + i)
            T.where(o * 3 + i < 5)
            B[vi] = A[vi]
)");
  for (const bool units : {false, true}) {
    schedule s(f);
    s.loop_partition(s.get_loops(s.block("B"))[1], {factor(1), infer});
    s.blockize(s.get_loops(s.block("B_i0"))[0], units);  // of one iteration: the guard goes outside
    check_meaning(s, f);
    const loop_rv i = s.get_loops(s.block("B_i1"))[0];
    check_refusal(s, "blockize", 2, [&] { s.blockize(i, units); });
  }
}

TEST_CASE("blockize: a binding of a part that uses a loop around the partition") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vi = T.axis.spatial(8, i * 4 + j)
            B[vi] = A[vi] + 1
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("B"))[1], {factor(2), infer});
  const loop_rv j = s.get_loops(s.block("B_j1"))[0];
  check_refusal(s, "blockize", 2, [&] { s.blockize(j); });
  check_meaning(s, f);
}

TEST_CASE("blockize: bindings, guards and bounds that follow what stands around the scope") {
  const auto checks_refusal = [](const char* loop, const char* block) {
    CAPTURE(loop);
    CAPTURE(block);
    schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for t in range(3):
        x: T.int32 = t + 1
        with T.block("part"):
            for i in <extent>:
                with T.block("B"):
                    <block>
                    B[vi] = A[vi] + 1
)",
                          {{"<extent>", loop}, {"<block>", block}}));
    const loop_rv i = s.get_loops(s.block("B"))[0];
    check_refusal(s, "blockize", 2, [&] { s.blockize(i); });
  };
  checks_refusal("range(4)", "vi = T.axis.spatial(8, i + x)");
  checks_refusal("range(4)", "vi = T.axis.spatial(8, i)\nT.where(i < x)");
  checks_refusal("range(x)", "vi = T.axis.spatial(8, i)");
  checks_refusal("range(t + 1)", "vi = T.axis.spatial(8, i)");
}

TEST_CASE("blockize: of several blocks, one without variables that uses a loop around it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32"), C: T.Buffer((3, 6), "int32")):
    for t in range(3):
        with T.block("part"):
            for i in range(6):
                with T.block("B"):
                    vi = T.axis.spatial(6, i)
                    B[vi] = A[vi] + 1
            with T.block("C_left"):
                for i in range(2):
                    with T.block("C0"):
                        vt, vi = T.axis.remap("SS", [t, i])
                        C[vt, vi] = A[vi] + vt
            with T.block("C_right"):
                for i in range(2, 6):
                    with T.block("C1"):
                        vt, vi = T.axis.remap("SS", [t, i])
                        C[vt, vi] = A[vi] + vt
)");
  schedule s(f);
  const block_rv b = s.block("B"), left = s.block("C_left");
  check_refusal(s, "blockize", 2, [&] { s.blockize({b, left}); });
  check_refusal(s, "blockize", 7, [&] { s.blockize({left, b}); });
  // Of blocks without variables alone, the new one has none either and sees all that they see.
  const block_rv both = s.blockize({left, s.block("C_right")});
  CHECK(s.get(both).block->iters.empty());
  check_meaning(s, f);
}
