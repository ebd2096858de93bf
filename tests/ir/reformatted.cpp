// Algorithms that take other parameters stand beside a function as others do.
#include <tilewright/ir/reformatted.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "ir/row_sums.hpp"

using namespace tilewright;

TEST_CASE("algorithms with other parameters are found by their names") {
  const ir::function f = programs::reformatted_row_sums();
  CHECK(ir::algorithm_names(f) ==
        std::vector<std::string>{"sum", "sum_in_ell_8", "sum_in_ell_16", "sum_in_other"});
  CHECK(ir::equal(ir::alternative(f, "sum_in_ell_16").value(),
                  programs::row_sums("sum_in_ell_16", 16)));
  CHECK_FALSE(ir::has_alternatives(ir::alternative(f, "sum").value()));
  CHECK_FALSE(ir::alternative(f, "sum_in_ell").has_value());
  CHECK_FALSE(ir::alternative(programs::row_sums("sum", 5), "other").has_value());
  CHECK(ir::workload_key(f) == ir::workload_key(programs::row_sums("sum", 5)));
  CHECK_THROWS_WITH_AS(ir::with_reformatted(programs::reformatted_row_sums(),
                                            {programs::row_sums("sum_in_other", 3)}),
                       "alternatives: sum_in_other and sum_in_other share a name; give each "
                       "algorithm its own (requirement 1)",
                       argument_error);
}

TEST_CASE("a schedule goes on with one of them, under the function's name") {
  schedule s(programs::reformatted_row_sums());
  s.work_on("sum_in_ell_8");
  CHECK(s.function().name == "sum");
  CHECK(ir::equal(s.function(), programs::row_sums("sum", 8)));
}

TEST_CASE("formats that differ in numbers are a family, and the numbers are drawn before work_on") {
  const auto sized = [](const std::string& name, int n, ir::attr::list sizes) {
    ir::function out = programs::row_sums(name, n);
    out.attrs[ir::sizes_attribute] = std::move(sizes);
    return out;
  };
  const ir::function f = ir::with_reformatted(
      programs::row_sums("sum", 5),
      {sized("sum_in_ell_8", 8, {8}), sized("sum_in_other_7", 7, {7}),
       sized("sum_in_ell_16", 16, {16}), programs::row_sums("sum_in_none", 6)});
  const std::vector<ir::algorithm_family> all = ir::algorithm_families(f);
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "sum");
  CHECK(all[0].sizes == std::vector<std::vector<std::int64_t>>{{}});
  CHECK(all[1].name == "sum_in_ell");
  CHECK(all[1].sizes == std::vector<std::vector<std::int64_t>>{{8}, {16}});
  CHECK(all[2].name == "sum_in_other");
  CHECK(all[2].sizes == std::vector<std::vector<std::int64_t>>{{7}});
  CHECK(all[3].name == "sum_in_none");
  CHECK(ir::sized_name("sum_in_ell", {8, 256}) == "sum_in_ell_8_256");

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
