#include <tilewright/schedule/primitive/notes/annotate.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"

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
  check_refusal(s, "annotate", 2, [&] { s.annotate(b, "tilewright.rising", ir::attr::list{"q"}); });
  check_refusal(s, "unannotate", 1, [&] { s.unannotate(b, "other"); });
  check_refusal(s, "unannotate", 1, [&] { s.unannotate(i, "other"); });
  s.unannotate(b, "key");
  s.unannotate(i, "key");
  CHECK(s.get(b).block->annotations.empty());
  CHECK(s.get(i).annotations.empty());
  check_meaning(s, f);
}
