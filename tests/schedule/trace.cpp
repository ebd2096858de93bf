#include <tilewright/schedule/trace.hpp>

#include <cmath>

#include <tilewright/ir/text/tokenize.hpp>
#include <tilewright/schedule/sampling.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

namespace {

schedule tiled(const ir::function& f) {
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const std::vector<expr_rv> t = s.sample_perfect_tile(i, 2, 16, decision{2, 4});
  const auto [i0, i1] = s.split(i, {t[0], t[1]});
  s.reorder(i0, j, k, i1);
  s.fuse(i0, j);
  const expr_rv v = s.sample_categorical({0, 16}, {0.25, 0.75}, 1);
  s.annotate(c, "unroll", v);
  s.enter_postproc();
  s.unroll(i1);
  return s;
}

const char* tiled_text =
    "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
    "l1, l2, l3 = sch.get_loops(block=b0)\n"
    "v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[2, 4])\n"
    "l6, l7 = sch.split(loop=l1, factors=[v4, v5], preserve_unit_iters=True, "
    "disable_predication=False)\n"
    "sch.reorder(l6, l2, l3, l7)\n"
    "l8 = sch.fuse(l6, l2, preserve_unit_iters=True)\n"
    "v9 = sch.sample_categorical(candidates=[0, 16], probs=[0.25, 0.75], decision=1)\n"
    "sch.annotate(block_or_loop=b0, ann_key=\"unroll\", ann_val=v9)\n"
    "sch.enter_postproc()\n"
    "sch.unroll(loop=l7)\n";

}  // namespace

TEST_CASE("print gives TVM's form, parse reads it") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f);
  CHECK(s.trace().print() == tiled_text);
  CHECK(trace::parse(tiled_text) == s.trace());
  check_meaning(s, f);
}

TEST_CASE("an empty trace is pass") {
  CHECK(trace().print() == "pass\n");
  CHECK(trace::parse("pass\n").empty());
  CHECK(trace::parse("").empty());
  CHECK(trace::parse("\n# nothing\n").empty());
}

TEST_CASE("parse accepts what TVM and people write") {
  const trace t = trace::parse(
      "# from tvm import tir\n"
      "def apply_trace(sch: tir.Schedule) -> None:\n"
      "    b0 = sch.get_sblock(name='C')  # the product\n"
      "    x, y, z, = s.get_loops(b0)\n"
      "    a, b = s.split(x,\n"
      "                   [None, 4])\n"
      "    c, d = s.split(y, factors=[None, (2 + 3 * 2) // 4])\n"
      "    s.reorder(a, c, z)\n"
      "    s.compute_inline(block=b0)\n");
  CHECK(t.size() == 6);
  CHECK(t.print() ==
        "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
        "l1, l2, l3 = sch.get_loops(block=b0)\n"
        "l4, l5 = sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True, "
        "disable_predication=False)\n"
        "l6, l7 = sch.split(loop=l2, factors=[None, (2 + 3 * 2) // 4], preserve_unit_iters=True, "
        "disable_predication=False)\n"
        "sch.reorder(l4, l6, l3)\n"
        "sch.compute_inline(block=b0)\n");
}

TEST_CASE(
    "a list of one result keeps its comma, defaults and empty lists are printed as TVM does") {
  const char* text =
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "l1, = sch.get_loops(block=b0)\n"
      "b2, = sch.get_consumers(block=b0)\n"
      "sch.get_producers(block=b0)\n"
      "sch.get_child_blocks(b0)\n"
      "sch.get_child_blocks(l1)\n"
      "b3 = sch.cache_read(block=b0, read_buffer_index=0, storage_scope=\"local\")\n"
      "b4 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope=\"local\", "
      "consumer_blocks=[b2, b3])\n"
      "l5 = sch.sample_compute_location(block=b0, decision=-1)\n"
      "sch.compute_at(block=b0, loop=l5, preserve_unit_loops=True, index=-1)\n"
      "b6 = sch.decompose_reduction(block=b0, loop=l1)\n"
      "sch.unannotate(block_or_loop=l1, ann_key=\"x\")\n";
  CHECK(trace::parse(text).print() == text);
}

TEST_CASE("parse errors name the place and what is expected") {
  const auto error = [](const char* text) -> std::string {
    try {
      trace::parse(text);
    } catch (const argument_error& e) {
      return e.what();
    }
    return "accepted";
  };
  const auto says = [&](const char* text, const char* place, const char* expected) {
    const std::string what = error(text);
    CHECK_MESSAGE(what.find(place) != std::string::npos, what);
    CHECK_MESSAGE(what.find(expected) != std::string::npos, what);
  };
  says("b0 = sch.get_blok(name=\"C\")\n", "line 1, column 10",
       "the name of a primitive (write get_block)");
  says("sch.merge_blocks_again(b0, b1)\n", "line 1, column 5",
       "docs/primitives.md has those of this version; a newer one may have written the trace");
  says("b0 = sch.get_block()\n", "line 1", "an argument \"name\"");
  says("b0 = sch.get_block(nam=\"C\")\n", "column 20", "a parameter of get_block");
  says("\nsch.parallel(loop=l0)\n", "line 2, column 19", "a loop");
  says("b0 = sch.get_block(name=\"C\")\nsch.parallel(loop=b0)\n", "line 2", "a loop");
  says("a, b = sch.get_block(name=\"C\")\n", "line 1", "one name for the result");
  says("x = sch.enter_postproc()\n", "line 1", "no result");
  says("b0 = sch.get_block(name=3)\n", "column 25", "a string");
  says("b0 = sch.get_block(name=\"C\"", "line 1", "expected");
  says("v0 = sch.sample_categorical(candidates=[1, 2, probs=[0.5])\n", "line 1", "expected");
  says("v0 = sch.sample_categorical(candidates=[99999999999999999999], probs=[1.0])\n", "line 1",
       "expected");
  says("x y\n", "line 1", "expected");
  says("b0 = sch.get_block(name=\"C\") b1 = 3\n", "line 1", "expected");
  std::string deep = "sch.split(loop=l0, factors=[";
  deep = "b0 = sch.get_block(name=\"C\")\nl0, = sch.get_loops(b0)\nl1, = " + deep +
         std::string(100000, '(');
  CHECK(error(deep.c_str()) != "accepted");
  std::string longer =
      "b0 = sch.get_block(name=\"C\")\nl0, = sch.get_loops(b0)\nl1, = sch.split(loop=l0, "
      "factors=[1";
  for (int i = 0; i < 100000; ++i) longer += "+1";
  CHECK(error((longer + "])\n").c_str()) != "accepted");
}

TEST_CASE("trace: results that nobody uses need no names") {
  const ir::function f = programs::matmul(8, 8, 8);
  schedule named(f), unnamed(f);
  const std::string start =
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\nl1, l2, l3 = sch.get_loops(block=b0)\n";
  trace::parse(start +
               "l4, l5 = sch.split(loop=l1, factors=[None, 4])\n"
               "b6 = sch.decompose_reduction(block=b0, loop=l3)\nsch.unroll(loop=l2)\n")
      .apply_to(named);
  trace::parse(start +
               "sch.split(loop=l1, factors=[None, 4])\n"
               "sch.decompose_reduction(block=b0, loop=l3)\nsch.unroll(loop=l2)\n")
      .apply_to(unnamed);
  CHECK(ir::equal(named.function(), unnamed.function()));
  CHECK(named.trace().print() == unnamed.trace().print());
}

TEST_CASE("replay: stored decisions, fresh ones, and a provider") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f);
  schedule again(f);
  s.trace().apply_to(again);
  CHECK(ir::equal(again.function(), s.function()));
  CHECK(again.trace() == s.trace());
  // instructions are shared, not copied, where variables keep their numbers
  for (std::size_t i = 0; i < s.trace().size(); ++i)
    CHECK(again.trace()[i].what == s.trace()[i].what);

  const trace space = s.trace().without_decisions();
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    schedule drawn(f, seed);
    space.apply_to(drawn);
    CHECK(drawn.trace()[2].choice.size() == 2);
    different += drawn.trace()[2].choice != s.trace()[2].choice;
    check_schedule(drawn, f);
  }
  CHECK(different > 5);

  schedule provided(f);
  std::vector<std::size_t> asked;
  s.trace().apply_to(provided, [&](std::size_t i, const instruction& what, const decision& stored) {
    asked.push_back(i);
    return what.kind->name == "sample_perfect_tile" ? decision{4, 2} : stored;
  });
  CHECK(asked == std::vector<std::size_t>{2, 6});
  CHECK(provided.trace()[2].choice == decision{4, 2});
}

TEST_CASE("replay on a schedule that has variables already renames them") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f);
  schedule busy(f);
  busy.get_loops(busy.block("C"));
  s.trace().apply_to(busy);
  CHECK(ir::equal(busy.function(), s.function()));
  check_schedule(busy, f);
}

TEST_CASE("a refused replay names the instruction") {
  const ir::function f = programs::matmul(8, 4, 6);
  const trace t = trace::parse(
      "b0 = sch.get_block(name=\"C\")\n"
      "l1, l2, l3 = sch.get_loops(block=b0)\n"
      "sch.parallel(loop=l3)\n");
  schedule s(f);
  try {
    t.apply_to(s);
    FAIL("no error");
  } catch (const replay_error& e) {
    CHECK(e.instruction() == 2);
    CHECK(e.primitive() == "parallel");
    CHECK(e.requirement() == 2);
    CHECK(std::string(e.what()).rfind("instruction 2: parallel: ", 0) == 0);
  }
  const trace wrong_count =
      trace::parse("b0 = sch.get_block(name=\"C\")\nl1, l2 = sch.get_loops(block=b0)\n");
  schedule u(f);
  CHECK_THROWS_AS(wrong_count.apply_to(u), argument_error);
  const trace no_index = trace::parse(
      "v0 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=2)\n");
  CHECK_THROWS_WITH_AS(
      trace::parse("b0 = sch.get_block(name=\"B\", func_name=\"main\", name=\"C\")\n"),
      doctest::Contains("line 1, column 48: expected one argument \"name\""), ir::parse_error);
  CHECK_THROWS_WITH_AS(
      no_index.apply_to(u),
      "instruction 0: sample_categorical: decision 2 is no index of the 2 candidates",
      argument_error);
}

TEST_CASE("with_decision changes one decision") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f);
  schedule changed(f);
  s.trace().with_decision(2, {8, 1}).apply_to(changed);
  CHECK(changed.trace()[2].choice == decision{8, 1});
  CHECK(s.trace()[2].choice == decision{2, 4});
  CHECK_THROWS_AS(s.trace().with_decision(0, {1}), argument_error);
  CHECK_THROWS_AS(s.trace().with_decision(99, {1}), argument_error);
}

TEST_CASE("simplified drops what nobody uses; without_postproc cuts") {
  const ir::function f = programs::matmul_relu(8, 4, 6);
  schedule s(f);
  const block_rv c = s.block("C");
  s.get_loops(c);
  s.block("D");
  s.sample_categorical({1, 2}, {1, 1}, 0);
  const expr_rv used = s.sample_categorical({1, 2}, {1, 1}, 1);
  s.annotate(c, "n", floordiv(used, 1));
  s.enter_postproc();
  s.annotate(c, "m", 1);
  CHECK(s.trace().simplified().print() ==
        "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
        "v1 = sch.sample_categorical(candidates=[1, 2], probs=[1.0, 1.0], decision=1)\n"
        "sch.annotate(block_or_loop=b0, ann_key=\"n\", ann_val=v1 // 1)\n"
        "sch.enter_postproc()\n"
        "sch.annotate(block_or_loop=b0, ann_key=\"m\", ann_val=1)\n");
  CHECK(s.trace().simplified(true).size() == 3);
  CHECK(s.trace().without_postproc().size() == 6);
  schedule replayed(f);
  s.trace().simplified().apply_to(replayed);
  CHECK(ir::equal(replayed.function(), s.function()));
}

TEST_CASE("print_cpp gives statements of C++") {
  const ir::function f = programs::matmul(8, 4, 6);
  CHECK(tiled(f).trace().print_cpp() ==
        "auto b0 = s.get_block(\"C\");\n"
        "auto [l1, l2, l3] = s.loops<3>(b0);\n"
        "const auto list4 = s.sample_perfect_tile(l1, 2, 16, std::vector<std::int64_t>{2, 4});\n"
        "const auto v4 = list4[0];\n"
        "const auto v5 = list4[1];\n"
        "auto [l6, l7] = s.split(l1, {v4, v5}, true, false);\n"
        "s.reorder({l6, l2, l3, l7});\n"
        "auto l8 = s.fuse({l6, l2}, true);\n"
        "auto v9 = s.sample_categorical({0, 16}, {0.25, 0.75}, 1);\n"
        "s.annotate(b0, \"unroll\", v9);\n"
        "s.enter_postproc();\n"
        "s.unroll(l7);\n");
}

namespace {

/// The text of a trace without its first line, printed again.
std::string again(const std::string& line) {
  const std::string head = "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n";
  const std::string text = trace::parse(head + line + "\n").print();
  return text.substr(head.size(), text.size() - head.size() - 1);
}

}  // namespace

TEST_CASE("spellings of other years") {
  CHECK(again("b1 = sch.reindex(block=b0, buffer_index=1, is_write_index=False)") ==
        "b1 = sch.reindex(block=b0, buffer=(\"read\", 1))");
  CHECK(again("sch.set_axis_separator(block=b0, buffer_index=0, buffer_index_type=\"write\", "
              "axis_separators=[1])") ==
        "sch.set_axis_separator(block=b0, buffer=(\"write\", 0), axis_separators=[1])");
  CHECK(
      again("sch.transform_layout(block=b0, buffer_index=0, is_write_index=True, "
            "index_map=lambda i, j: (j, i, ))") ==
      again(
          "sch.transform_layout(block=b0, buffer=(\"write\", 0), index_map=lambda i, j: (j, i))"));
  const std::string loops = "l1, l2, l3 = sch.get_loops(block=b0)\n";
  CHECK(again(loops + "b4 = sch.blockize(loop=l2)") ==
        again(loops + "b4 = sch.blockize(target=l2)"));
  // a copy had a variable for each of its block, and the identity over them is one over fewer
  const std::string map =
      "\nsch.transform_block_layout(block=b1, index_map=lambda i, j, k: (i, j, k))";
  const std::string today = "b1 = sch.reindex(block=b0, buffer=(\"read\", 0))";
  CHECK(again("b1 = sch.reindex(block=b0, buffer_index=0, is_write_index=0)" + map) == today);
  CHECK(again(today + map) != today);
  for (const char* wrong :
       {"b1 = sch.reindex(block=b0, buffer_index=1)",
        "b1 = sch.reindex(block=b0, is_write_index=0)",
        "b1 = sch.reindex(block=b0, buffer_index=1, buffer_index=1, is_write_index=0)",
        "b1 = sch.reindex(block=b0, buffer_index=-1, is_write_index=0)",
        "b1 = sch.reindex(block=b0, buffer_index=0, buffer_index_type=\"both\")"})
    CHECK_THROWS_AS(again(wrong), ir::parse_error);
}

TEST_CASE("annotations are lists and maps with integers of the schedule in them") {
  const std::string line =
      "v1 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=0)\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"k\", ann_val=[v1, 4, {\"a\": v1 * 2, \"b\": "
      "\"text\"}])\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"q'\\\"\\\\\", ann_val=\"\")";
  CHECK(again(line) == line);

  const ir::function f = programs::matmul(8, 4, 6);
  schedule s(f);
  trace::parse("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n" + line).apply_to(s);
  const ir::annotations& notes = s.get(block_rv{0}).block->annotations;
  const ir::attr::list expected{1, 4, ir::attr::dict{{"a", 2}, {"b", "text"}}};
  CHECK(notes.at("k") == ir::attr(expected));
  CHECK(notes.at("q'\"\\") == ir::attr(""));
  check_meaning(s, f);
}

TEST_CASE("simplification sees the integers inside annotations") {
  const trace t = trace::parse(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "v1 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=0)\n"
      "v2 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=0)\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"k\", ann_val=[{\"a\": [v2]}])\n");
  CHECK(t.simplified().size() == 3);
}

TEST_CASE("simplification sees the integers inside index maps, lists of factors and conditions") {
  const std::string draw =
      "v1 = sch.sample_categorical(candidates=[2, 4], probs=[0.5, 0.5], decision=0)\n";
  const std::string unused =
      "v2 = sch.sample_categorical(candidates=[2, 4], probs=[0.5, 0.5], decision=1)\n";
  for (const std::string use :
       {"sch.transform_layout(block=b0, buffer=(\"read\", 0), index_map=lambda i, j: (i // v1, j, "
        "i "
        "% v1), pad_value=None, assume_injective_transform=False)\n",
        "sch.transform_block_layout(block=b0, index_map=lambda i, j, k: (i // v1, i % v1, j, k))\n",
        "l3, l4, l5 = sch.get_loops(block=b0)\n"
        "sch.split(loop=l3, factors=[None, v1 * 2], preserve_unit_iters=True, "
        "disable_predication=False)\n",
        "sch.assert_(condition=v1 < 4)\n"}) {
    INFO(use);
    const std::string before =
        "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
        "sch.annotate(block_or_loop=b0, ann_key=\"k\", ann_val=1)\n" +
        draw;
    const trace kept = trace::parse(before + use),
                t = trace::parse(before + unused + use).simplified();
    CHECK(t == kept);
    CHECK(t.size() == kept.size());
  }
}

TEST_CASE("to_json writes TVM's form, from_json reads it") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f);
  const std::string json = s.trace().to_json();
  CHECK(json.find("[[[\"GetSBlock\", [], [\"C\", \"main\"], [\"b0\"]], [\"GetLoops\", [\"b0\"], "
                  "[], [\"l1\", \"l2\", \"l3\"]], [\"SamplePerfectTile\", [\"l1\"], [2, 16], "
                  "[\"v4\", \"v5\"]], [\"Split\", [\"l1\", \"v4\", \"v5\"], [1, 0], [\"l6\", "
                  "\"l7\"]], [\"Reorder\", [\"l6\", \"l2\", \"l3\", \"l7\"], [], []]") == 0);
  CHECK(json.find("[[2, [2, 4]], [6, 1]]]") != std::string::npos);
  CHECK(trace::from_json(json) == s.trace());
  CHECK(trace::from_json(trace().to_json()).empty());
}

TEST_CASE("JSON keeps strings, lists, expressions and maps") {
  const trace t = trace::parse(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "l1, l2, l3 = sch.get_loops(block=b0)\n"
      "v4 = sch.sample_categorical(candidates=[1, 2], probs=[0.25, 0.75], decision=0)\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"\", ann_val=\"\")\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"'\", ann_val=\"\\\"\")\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"list\", ann_val=[v4, \"x\", {\"k\": 2.5}])\n"
      "l5, l6 = sch.split(loop=l1, factors=[None, v4 * 2 + 1])\n"
      "b7 = sch.cache_read(block=b0, read_buffer_index=0, storage_scope=\"shared\", "
      "consumer_blocks=[b0])\n"
      "sch.transform_layout(block=b0, buffer=(\"read\", 0), index_map=lambda i, j: (i // v4, j, i "
      "% v4), pad_value=lambda a, b, c: T.float32(1))\n"
      "sch.assert_(condition=v4 * 3 <= 6)\n");
  CHECK(trace::from_json(t.to_json()) == t);
  CHECK(trace::parse(t.print()) == t);
}

TEST_CASE("what is no trace in JSON is refused") {
  for (const char* text : {"", "[]", "[[], [], []]", "[[[\"Nope\", [], [], []]], []]",
                           "[[[\"GetLoops\", [], [], []]], []]",
                           "[[[\"GetSBlock\", [\"b0\"], [\"C\", \"main\"], [\"b0\"]]], []]",
                           "[[[\"GetSBlock\", [], [\"C\"], [\"b0\"]]], []]",
                           "[[[\"GetSBlock\", [], [\"C\", \"main\"], [\"b0\"]]], [[1, 2]]]",
                           "[[[\"GetSBlock\", [], [\"C\", \"main\"], [\"b0\"]], [\"Unroll\", "
                           "[\"b0)\\nsch.unroll(b0\"], "
                           "[], []]], []]"})
    CHECK_THROWS_AS(trace::from_json(text), argument_error);
}

TEST_CASE("assert ends a trace whose choices do not go together") {
  const ir::function f = programs::matmul(8, 4, 6);
  schedule s(f);
  const auto t = s.sample_perfect_tile(s.get_loops(s.block("C"))[0], 2, 16, decision{2, 4});
  s.require(le(t[0] * t[1], 8));
  s.require(ne(t[0], t[1]));
  check_meaning(s, f);
  CHECK(s.trace().print().find("sch.assert_(condition=v4 * v5 <= 8)") != std::string::npos);
  CHECK(trace::parse("v0 = sch.sample_categorical([1], [1.0])\nsch.assert(condition=v0 == 1)\n")
            .size() == 2);
  const expr_rv inner = t[1];
  check_refusal(s, "assert", 1, [&] { s.require(gt(inner, 4)); });
  schedule again(f);
  CHECK_NOTHROW(s.trace().with_decision(2, {8, 1}).apply_to(again));
}

TEST_CASE("the probability of a trace is that of its decisions") {
  const ir::function f = programs::matmul(8, 4, 6);
  const schedule s = tiled(f), start(f);
  // 8 = a * b with b <= 16: four ways; the second of two candidates with weight 0.75
  CHECK(s.trace().log_probability(start) == doctest::Approx(std::log(0.25) + std::log(0.75)));
  CHECK(std::isinf(s.trace().with_decision(2, {3, 5}).log_probability(start)));
  CHECK(trace().log_probability(start) == 0);
}

TEST_CASE("the probabilities of all decisions add up to 1") {
  const ir::function f = programs::matmul(12, 4, 6);
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("C"))[0];
  double perfect = 0, parts = 0, tiles = 0;
  for (std::int64_t a = 1; a <= 12; ++a)
    for (std::int64_t b = 1; b <= 12; ++b)
      for (std::int64_t c = 1; c <= 12; ++c) {
        const auto& loop = s.get(i).var;
        const decision d{a, b, c};
        perfect += std::exp(primitive::log_probability_perfect_tile(f, loop, 3, 4, d));
        parts += std::exp(primitive::log_probability_partitioned_tile(f, loop, 3, 1, 2, d));
        tiles += std::exp(primitive::log_probability_tile(f, loop, 3, {2, 5, 6}, d));
      }
  CHECK(perfect == doctest::Approx(1));
  CHECK(parts == doctest::Approx(1));
  CHECK(tiles == doctest::Approx(1));
}
