#include <tilewright/schedule/primitive/work_on.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "ir/doubled.hpp"
#include "ir/row_sums.hpp"

using namespace tilewright;
using programs::doubled, programs::doubled_both_ways;

TEST_CASE("a schedule goes on with one of the algorithms") {
  schedule s(doubled_both_ways());
  s.work_on("by_sum");
  CHECK(s.function().name == "twice");
  CHECK(ir::equal(s.function(), doubled("by_sum", "A[vi] + A[vi]")));
  CHECK(s.trace().print() == "sch.work_on(func_name=\"by_sum\")\n");
  schedule again(doubled_both_ways());
  trace::parse(s.trace().print()).apply_to(again);
  CHECK(again.show() == s.show());
  schedule other(doubled_both_ways());
  CHECK_THROWS_WITH_AS(
      other.work_on("thrice"),
      "work_on: no algorithm is called thrice; there is twice, by_sum (requirement 1)",
      schedule_error);
  // of a single function there is nothing to choose
  CHECK_NOTHROW(again.work_on("main"));
  CHECK(ir::equal(again.function(), s.function()));
  CHECK(trace::parse("sch.work_on(\"main\")").empty());
}

TEST_CASE("a schedule goes on with one that takes other parameters, under the function's name") {
  schedule s(programs::reformatted_row_sums());
  s.work_on("sum_in_ell_8");
  CHECK(s.function().name == "sum");
  CHECK(ir::equal(s.function(), programs::row_sums("sum", 8)));
}

TEST_CASE("numbers of a format are drawn before work_on") {
  const ir::function f = programs::row_sums_of_families();
  const trace t = trace::parse(R"(
v0 = sch.sample_categorical(candidates=[8, 16], probs=[0.5, 0.5], decision=1)
b1 = sch.get_block(name="root", func_name="main")
sch.annotate(block_or_loop=b1, ann_key="tilewright.sizes", ann_val=[v0])
sch.work_on(func_name="sum_in_ell")
b2 = sch.get_block(name="B", func_name="main")
l3, l4 = sch.get_loops(block=b2)
)");
  for (const int choice : {0, 1}) {
    schedule s(f);
    t.with_decision(0, {choice}).apply_to(s);
    CHECK(s.function().name == "sum");
    ir::function made = s.function();
    made.attrs.clear();
    CHECK(ir::equal(made, programs::row_sums("sum", choice == 0 ? 8 : 16)));
  }
  schedule s(f);
  s.annotate(s.get_block("root"), ir::sizes_attribute, annotation_value::list{32});
  CHECK_THROWS_WITH_AS(s.work_on("sum_in_ell"),
                       "work_on: no algorithm is called sum_in_ell_32; there is sum, sum_in_ell_8, "
                       "sum_in_other_7, sum_in_ell_16, sum_in_none (requirement 1)",
                       schedule_error);
}
