// Algorithms that take other parameters stand beside a function as others do.
#include <tilewright/ir/reformatted.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

/// Sums of rows of `n` elements.
ir::function sums(const std::string& name, int n) {
  const std::string width = std::to_string(n);
  return ir::parse(
      "@T.prim_func\ndef " + name + "(A: T.Buffer((16, " + width +
      "), \"float32\"), B: T.Buffer((16,), \"float32\")):\n    for i, k in T.grid(16, " + width +
      "):\n        with T.block(\"B\"):\n            vi, vk = T.axis.remap(\"SR\", [i, "
      "k])\n            with T.init():\n                B[vi] = T.float32(0)\n            "
      "B[vi] = B[vi] + A[vi, vk]\n");
}

ir::function all() {
  return ir::with_reformatted(sums("sum", 5), {sums("sum_in_ell_8", 8), sums("sum_in_ell_16", 16),
                                               sums("sum_in_other", 7)});
}

}  // namespace

TEST_CASE("algorithms with other parameters are found by their names") {
  const ir::function f = all();
  CHECK(ir::algorithm_names(f) ==
        std::vector<std::string>{"sum", "sum_in_ell_8", "sum_in_ell_16", "sum_in_other"});
  CHECK(ir::equal(ir::alternative(f, "sum_in_ell_16").value(), sums("sum_in_ell_16", 16)));
  CHECK_FALSE(ir::has_alternatives(ir::alternative(f, "sum").value()));
  CHECK_FALSE(ir::alternative(f, "sum_in_ell").has_value());
  CHECK_FALSE(ir::alternative(sums("sum", 5), "other").has_value());
  CHECK(ir::workload_key(f) == ir::workload_key(sums("sum", 5)));
  CHECK_THROWS_WITH_AS(ir::with_reformatted(all(), {sums("sum_in_other", 3)}),
                       "alternatives: sum_in_other and sum_in_other share a name; give each "
                       "algorithm its own (requirement 1)",
                       argument_error);
}

TEST_CASE("a schedule goes on with one of them, under the function's name") {
  schedule s(all());
  s.work_on("sum_in_ell_8");
  CHECK(s.function().name == "sum");
  CHECK(ir::equal(s.function(), sums("sum", 8)));
}
