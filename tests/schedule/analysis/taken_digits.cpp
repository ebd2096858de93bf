// Digits of loops that bindings are made of.
#include <tilewright/impl/dependence/binding/taken_digits.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include <tilewright/ir/stmt.hpp>

using namespace tilewright;
using dependence::taken_digits;

namespace {

/// A loop from 0, or from `min`.
struct loop {
  ir::var v = ir::make_var("x");
  ir::stmt s;

  explicit loop(int extent, int min = 0) : s(ir::make_loop(v, min, extent, ir::stmt{})) {}
  const ir::loop_node* node() const { return ir::as_loop(s); }
};

}  // namespace

TEST_CASE("taken digits: all digits of a loop are as good as loops of their own") {
  const loop x(24), y(6);
  const dependence::loop_nest loops{x.node(), y.node()};
  taken_digits all(loops);
  CHECK(all.take(ir::floordiv(x.v, 8)) == 3);
  CHECK(all.take(ir::floormod(x.v, 4)) == 4);
  CHECK(all.take(ir::floormod(ir::floordiv(x.v, 4), 2)) == 2);
  CHECK(all.are_complete({0, 1}));  // y occurs whole
  CHECK_FALSE(all.are_complete({1, 0}));
}

TEST_CASE("taken digits: what is left out, or there twice, is no whole loop") {
  const loop x(24);
  const dependence::loop_nest loops{x.node()};
  const auto complete = [&](const std::vector<ir::expr>& terms) {
    taken_digits some(loops);
    for (const ir::expr& e : terms) CHECK(some.take(e));
    return some.are_complete({0});
  };
  CHECK(complete({ir::floordiv(x.v, 8), ir::floormod(x.v, 8)}));
  CHECK_FALSE(complete({ir::floordiv(x.v, 8)}));
  CHECK_FALSE(complete({ir::floormod(x.v, 8)}));
  CHECK_FALSE(complete({ir::floordiv(x.v, 8), ir::floormod(x.v, 4)}));
  CHECK_FALSE(complete({ir::floordiv(x.v, 8), ir::floormod(x.v, 8), ir::floormod(x.v, 8)}));
}

TEST_CASE("taken digits: uneven digits and loops that begin elsewhere are none") {
  const loop x(24), later(24, 4);
  const dependence::loop_nest loops{x.node(), later.node()};
  taken_digits none(loops);
  CHECK_FALSE(none.take(ir::floordiv(x.v, 5)));
  CHECK_FALSE(none.take(ir::floormod(x.v, 7)));
  CHECK_FALSE(none.take(ir::floordiv(later.v, 4)));
  CHECK_FALSE(none.take(x.v * 2));
  CHECK_FALSE(none.take(ir::make_var("y")));
}
