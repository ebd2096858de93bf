// A format of another size gets the same schedule.
#include <tilewright/search/mutators/format.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/schedule.hpp>

#include "ir/row_sums.hpp"

using namespace tilewright;

TEST_CASE("a format of another size gets the same schedule") {
  const ir::function f = programs::reformatted_row_sums();
  const trace t = trace::parse(R"(
sch.work_on(func_name="sum_in_ell_8")
b0 = sch.get_block(name="B", func_name="main")
l1, l2 = sch.get_loops(block=b0)
v3, v4 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[4, 4])
)");
  support::random r(1);
  const auto changed = search::mutate_format(t, f, r);
  REQUIRE(changed);
  CHECK(changed->size() == t.size());
  CHECK(changed->print().rfind("sch.work_on(func_name=\"sum_in_ell_16\")", 0) == 0);
  CHECK((*changed)[3].choice == decision{4, 4});
  schedule s(f);
  changed->apply_to(s);
  CHECK(ir::equal(s.function(), programs::row_sums("sum", 16)));
  // neither the function itself nor a format of one size has another one
  for (const char* other : {"sum", "sum_in_other"})
    CHECK_FALSE(search::mutate_format(
        trace::parse(std::string("sch.work_on(func_name=\"") + other + "\")"), f, r));
  CHECK_FALSE(search::mutate_format(t, programs::row_sums("sum", 5), r));
}
