// Algorithms that take other parameters stand beside a function as others do.
#include <tilewright/ir/reformatted.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
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

TEST_CASE("formats that differ in numbers are a family") {
  const ir::function f = programs::row_sums_of_families();
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
}
