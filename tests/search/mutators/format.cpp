// A format of another size gets the same schedule.
#include <tilewright/search/mutators/format.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>

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

TEST_CASE("a format of another size gets the same schedule") {
  const ir::function f = all();
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
  CHECK(ir::equal(s.function(), sums("sum", 16)));
  // neither the function itself nor a format of one size has another one
  for (const char* other : {"sum", "sum_in_other"})
    CHECK_FALSE(search::mutate_format(
        trace::parse(std::string("sch.work_on(func_name=\"") + other + "\")"), f, r));
  CHECK_FALSE(search::mutate_format(t, sums("sum", 5), r));
}
