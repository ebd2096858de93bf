// The algorithm of a trace, and the numbers of its format, which are changed as what else is drawn.
#include <tilewright/impl/search/session/trace_algorithm.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/mutators/categorical.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;
using namespace tilewright::search::detail;

namespace {

/// Sums of rows of `n` elements, in a format of these numbers.
ir::function row_sums(const std::string& name, int n, ir::attr::list sizes) {
  const std::string width = std::to_string(n);
  ir::function out = ir::parse(
      "@T.prim_func\ndef " + name + "(A: T.Buffer((16, " + width +
      "), \"float32\"), B: T.Buffer((16,), \"float32\")):\n    for i, k in T.grid(16, " + width +
      "):\n        with T.block(\"B\"):\n            vi, vk = T.axis.remap(\"SR\", [i, "
      "k])\n            with T.init():\n                B[vi] = T.float32(0)\n            "
      "B[vi] = B[vi] + A[vi, vk]\n");
  if (!sizes.empty()) out.attrs[ir::sizes_attribute] = std::move(sizes);
  return out;
}

ir::function all_formats() {
  return ir::with_reformatted(
      row_sums("sum", 5, {}),
      {row_sums("sum_in_a_8_1", 8, {8, 1}), row_sums("sum_in_a_16_1", 16, {16, 1}),
       row_sums("sum_in_a_8_2", 9, {8, 2}), row_sums("sum_in_b_4", 4, {4})});
}

std::vector<schedule> sketches_of_all() {
  const space::design_space as_it_stands(space::design_space::function(
      [](schedule s, const space::context&) { return std::vector<schedule>{std::move(s)}; }));
  return as_it_stands.sketches(all_formats(), {target::host(), 1}, 1);
}

}  // namespace

TEST_CASE("a sketch of each family, in which the numbers are drawn") {
  const std::vector<schedule> sketches = sketches_of_all();
  REQUIRE(sketches.size() == 3);
  CHECK(sketches[0].trace().print() == "sch.work_on(func_name=\"sum\")\n");
  CHECK(search::algorithm_of(sketches[0].trace()) == "sum");
  CHECK(sketches[1].trace().print() ==
        R"(v0 = sch.sample_categorical(candidates=[8, 16], probs=[0.5, 0.5], decision=0)
v1 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=0)
b2 = sch.get_block(name="root", func_name="sum")
sch.annotate(block_or_loop=b2, ann_key="tilewright.sizes", ann_val=[v0, v1])
sch.work_on(func_name="sum_in_a")
)");
  CHECK(search::algorithm_of(sketches[1].trace()) == "sum_in_a_8_1");
  CHECK(chosen_algorithm(sketches[1].trace()).length == 5);
  CHECK(sketches[2].trace().print() == "sch.work_on(func_name=\"sum_in_b_4\")\n");
  CHECK(chosen_algorithm(trace::parse("b0 = sch.get_block(name=\"B\")")).length == 0);
}

TEST_CASE("each format is measured once, in the first sketch of its family") {
  const std::vector<schedule> sketches = sketches_of_all();
  std::vector<std::string> names;
  for (const trace& t : first_of_each_algorithm(all_formats(), sketches[0].trace(), sketches))
    names.push_back(search::algorithm_of(t));
  CHECK(names ==
        std::vector<std::string>{"sum_in_a_8_1", "sum_in_a_8_2", "sum_in_a_16_1", "sum_in_b_4"});
}

TEST_CASE(
    "the other sketches of an algorithm come with their own decisions, and no more than a few") {
  const space::design_space splits(
      space::design_space::function([](schedule s, const space::context&) {
        std::vector<schedule> out;
        for (std::int64_t size = 1; size <= 8; ++size) {
          schedule one = s;
          one.split(one.get_loops(one.get_block("B"))[0], {infer, size});
          out.push_back(std::move(one));
        }
        return out;
      }));
  const std::vector<schedule> sketches = splits.sketches(all_formats(), {target::host(), 1}, 1);
  std::vector<std::string> own;
  for (const schedule& sketch : sketches)
    if (search::algorithm_of(sketch.trace()) == "sum") own.push_back(sketch.trace().print());
  REQUIRE(own.size() == 8);
  const trace first = sketches[0].trace();
  REQUIRE(first.print() == own[0]);
  std::vector<std::string> others;
  for (const trace& t : others_of_algorithm(first, sketches)) others.push_back(t.print());
  CHECK(others == std::vector<std::string>(own.begin() + 1, own.begin() + 5));
  CHECK(others_of_algorithm(first, {sketches[0]}).empty());
}

TEST_CASE("the numbers of a format are changed as what else is drawn") {
  const trace t = sketches_of_all()[1].trace();
  support::random random(1);
  std::set<std::string> met;
  for (int turn = 0; turn < 20; ++turn) {
    const auto changed = search::mutate_categorical(t, all_formats(), random);
    REQUIRE(changed);
    met.insert(search::algorithm_of(*changed));
  }
  CHECK(met == std::set<std::string>{"sum_in_a_16_1", "sum_in_a_8_2"});
}
