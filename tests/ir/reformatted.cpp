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
