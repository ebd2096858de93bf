#include <tilewright/schedule/primitive/annotate.hpp>

#include <tilewright/ir/parse.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

TEST_CASE("annotate: every type of value, on blocks and loops") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i, j] = s.loops<2>(b);
  s.annotate(b, "integer", 3);
  s.annotate(b, "negative", -3);
  s.annotate(b, "real", 0.25);
  s.annotate(b, "text", "say \"hi\"\n\\");
  s.annotate(b, "empty", "");
  s.annotate(b, "quote", "'");
  s.annotate(b, "list", ir::attr::list{1, 2.5, "x", ir::attr::list{}});
  s.annotate(b, "dict", ir::attr::dict{{"a", 1}, {"b", ir::attr::list{2}}});
  s.annotate(i, "tile", "SSRS");
  const auto& notes = s.get(b).block->annotations;
  CHECK(notes.at("real") == ir::attr(0.25));
  CHECK(notes.at("text") == ir::attr("say \"hi\"\n\\"));
  CHECK(notes.size() == 8);
  CHECK(s.get(i).annotations.at("tile") == ir::attr("SSRS"));
  check_meaning(s, f);
}

TEST_CASE("annotate: with a random variable and an expression of it") {
  const ir::function f = programs::elementwise({"i"}, {16});
  schedule s(f);
  const block_rv b = s.block("B");
  const expr_rv v = s.sample_categorical({8, 16, 32}, {1, 1, 1}, 2);
  s.annotate(b, "unroll", v);
  s.annotate(b, "quarter", floordiv(v, 4) - 1);
  CHECK(s.get(b).block->annotations.at("unroll") == ir::attr(32));
  CHECK(s.get(b).block->annotations.at("quarter") == ir::attr(7));
  check_schedule(s, f);
  CHECK(s.trace().print().find("ann_val=v1 // 4 - 1") != std::string::npos);
}

TEST_CASE("annotate and unannotate: requirements by number") {
  const ir::function f = programs::elementwise({"i"}, {4});
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  s.annotate(b, "key", 1);
  s.annotate(i, "key", 1);
  check_refusal(s, "annotate", 1, [&] { s.annotate(b, "key", 2); });
  check_refusal(s, "annotate", 1, [&] { s.annotate(i, "key", "1"); });
  s.annotate(i, "key", 1);  // as it is
  check_refusal(s, "unannotate", 1, [&] { s.unannotate(b, "other"); });
  check_refusal(s, "unannotate", 1, [&] { s.unannotate(i, "other"); });
  s.unannotate(b, "key");
  s.unannotate(i, "key");
  CHECK(s.get(b).block->annotations.empty());
  CHECK(s.get(i).annotations.empty());
  check_meaning(s, f);
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
