// Loops of one nest that are bound to the same axis of threads.
#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "check_schedule.hpp"

using namespace tilewright;

TEST_CASE(
    "bind: nested loops on one axis share what all need, or run nowhere but on its diagonal") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4, 4), "int32", scope="shared")
    for o in range(4):
        for i, j in T.grid(4, 4):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj] * 2
        for k in range(4):
            with T.block("B"):
                vo, vk = T.axis.remap("SS", [o, k])
                B[vo, vk] = S[vk, vo] + 1
)");
  schedule s(f);
  const auto [o, i, j] = s.loops<3>(s.block("S"));
  const loop_rv k = s.get_loops(s.block("B"))[1];
  s.bind(o, "threadIdx.x");
  s.bind(i, "threadIdx.x");
  check_refusal(s, "bind", 4, [&] { s.bind(k, "threadIdx.x"); });
  s.bind(k, "threadIdx.y");
  check_schedule(s, f);
  // in the other order
  schedule t(f);
  const std::vector<loop_rv> around = t.get_loops(t.block("B"));
  t.bind(around[1], "threadIdx.x");
  check_refusal(t, "bind", 4, [&] { t.bind(around[0], "threadIdx.x"); });
  // below a block: its variables follow the loop
  const ir::function nested = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4, 4), "int32")):
    for o in range(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            T.reads(A[vo, 0:4])
            T.writes(B[vo, 0:4])
            for k in range(4):
                with T.block("B"):
                    vk = T.axis.spatial(4, k)
                    B[vo, vk] = A[vo, vk] + 1
)");
  schedule n(nested);
  n.bind(n.get_loops(n.block("O"))[0], "threadIdx.x");
  const loop_rv inner = n.get_loops(n.block("B"))[0];
  check_refusal(n, "bind", 4, [&] { n.bind(inner, "threadIdx.x"); });
  n.bind(inner, "threadIdx.y");
  check_schedule(n, nested);
}
