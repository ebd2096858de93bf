#include <tilewright/arith/form.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::arith;

TEST_CASE("interval arithmetic saturates") {
  const std::int64_t inf = bounds::positive_infinity, most = inf - 1;
  CHECK(add(bounds{0, most}, bounds{1, 1}) == bounds{1, inf});
  CHECK(scale(bounds{-2, 3}, -4) == bounds{-12, 8});
  CHECK(scale(bounds{0, inf}, -1) == bounds{bounds::negative_infinity, 0});
  CHECK(multiply(bounds{-2, 3}, bounds{-5, 7}) == bounds{-15, 21});
  CHECK(multiply(bounds{0, inf}, bounds{0, 0}) == bounds{0, 0});
  CHECK(floor_divide(bounds{-7, 7}, 4) == bounds{-2, 1});
  CHECK(floor_modulo(bounds{9, 11}, 4) == bounds{1, 3});
  CHECK(floor_modulo(bounds{9, 12}, 4) == bounds{0, 3});
  CHECK(bounds_of(dtype::i8) == bounds{-128, 127});
  CHECK(bounds_of(dtype::u16) == bounds{0, 65535});
  CHECK_FALSE(bounds_of(dtype::i64).bounded());
}

TEST_CASE("summands move to the heap and back") {
  form f;
  std::vector<ir::var> vars;
  vars.reserve(20);  // forms name the handles where they stand
  for (int i = 0; i < 20; ++i) {
    vars.push_back(ir::make_var("v"));
    add_term(f, vars.back(), i + 1);
  }
  REQUIRE(f.terms.size() == 20);
  const form copy = f;
  for (int i = 0; i < 20; ++i) CHECK(find_term(copy, vars[static_cast<std::size_t>(i)]) == i);
  for (int i = 19; i >= 3; --i) add_term(f, vars[static_cast<std::size_t>(i)], -(i + 1));
  REQUIRE(f.terms.size() == 3);
  CHECK(f.terms[2].coefficient == 3);
  form moved = std::move(f);
  CHECK(moved.terms.size() == 3);
  CHECK(difference(copy, copy).is_constant());
  const ir::expr built = expression(moved, dtype::i32);
  CHECK(expression(plain_form(built), dtype::i32, built).same(built));
}

TEST_CASE("overflow makes a form invalid") {
  form f;
  const ir::var v = ir::make_var("v");
  add_term(f, v, std::int64_t{1} << 62);
  scale(f, 4);
  CHECK_FALSE(f.valid);
}
