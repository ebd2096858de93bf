// Copies that threads make jointly stay copies that they can make.
#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

TEST_CASE("unroll, parallel, bind: the threads of a copy that was made for them stay") {
  const ir::function f = programs::elementwise({"i"}, {4});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  s.bind(i, "threadIdx.y");
  s.read_at(i, s.block("B"), 0, "shared");
  check_refusal(s, "unroll", 1, [&] { s.unroll(i); });
  s.bind(i, "threadIdx.x");
  s.write_at(i, s.block("B"), 0, "shared");
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });  // each would copy back all
  check_schedule(s, f);
  schedule t(f);
  const loop_rv j = t.get_loops(t.block("B"))[0];
  t.bind(j, "threadIdx.y");
  t.read_at(j, t.block("B"), 0, "shared");
  t.parallel(j);  // each copies all for itself
  check_schedule(t, f);
}

TEST_CASE("unannotate: not what says that threads copy jointly") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  for (const char* storage : {"shared", "local"}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const auto [i, j] = s.loops<2>(b);
    s.bind(i, "threadIdx.x");
    const block_rv copy = s.read_at(i, b, 0, storage);
    if (std::string(storage) == "shared")
      check_refusal(s, "unannotate", 0, [&] { s.unannotate(copy, "auto_copy"); });
    else
      s.unannotate(copy, "auto_copy");  // each thread has its own
    check_schedule(s, f);
  }
}

TEST_CASE("annotate, bind: what makes a copy joint leaves threads nothing of it for themselves") {
  const char* const text = R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4, 2), "int32")):
    R = T.alloc_buffer((1,), "int32")
    S = T.alloc_buffer((2,), "int32", scope="shared")
    for i in range(4):
        with T.block("R"):
            vi = T.axis.spatial(4, i)
            R[0] = A[vi] * 2
        with T.block("S"):
            T.reads(R[0])
            T.writes(S[0:2])
            for j in range(2):
                S[j] = R[0]
        for j in range(2):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vj]
)";
  const ir::function f = ir::parse(text);
  schedule bound(f);
  bound.bind(bound.get_loops(bound.block("R"))[0], "threadIdx.x");
  const block_rv copy = bound.block("S");
  check_refusal(bound, "annotate", 0, [&] { bound.annotate(copy, "auto_copy", 1); });
  schedule marked(f);
  marked.annotate(marked.block("S"), "auto_copy", 1);
  const loop_rv i = marked.get_loops(marked.block("R"))[0];
  check_refusal(marked, "bind", 1, [&] { marked.bind(i, "threadIdx.x"); });
  marked.bind(i, "blockIdx.x");  // blocks of threads share nothing
  check_schedule(marked, f);
}

TEST_CASE("write_at: threads do not lose the memory in which they copy jointly") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 2), "int32"), B: T.Buffer((4, 2), "int32")):
    for i, j in T.grid(4, 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  s.bind(i, "threadIdx.x");
  const block_rv copy = s.write_at(i, b, 0, "shared");
  check_refusal(s, "cache_read", 0, [&] { s.cache_read(copy, 0, "global"); });
  check_refusal(s, "set_scope", 4, [&] { s.set_scope(b, 0, "local"); });
  s.set_scope(b, 0, "shared.dyn");
  check_schedule(s, f);
}

TEST_CASE("bind: shared memory is no reason to read what other threads write") {
  for (const char* const index : {"T.max(vi - 1, 0)", "vi"}) {
    const ir::function f = ir::parse(std::string(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32", scope="shared")
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = A[vi] * 2
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = S[)") + index + "] + 1\n");
    schedule s(f);
    const loop_rv i = s.get_loops(s.block("S"))[0];
    if (std::string(index) == "vi")
      s.bind(i, "threadIdx.x");
    else
      check_refusal(s, "bind", 1, [&] { s.bind(i, "threadIdx.x"); });
    check_schedule(s, f);
  }
}
