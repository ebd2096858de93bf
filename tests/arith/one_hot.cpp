#include <tilewright/arith/one_hot.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

const var b = make_var("b"), n = make_var("n");
const buffer places = make_buffer("I", dtype::i32, {64}),
             values = make_buffer("V", dtype::f32, {64});
const expr place = load(places, {n}), value = load(values, {n}), zero = real(dtype::f32, 0);

/// Whether the term has its place at `wanted`.
bool is_at(const expr& term, const expr& wanted) {
  const auto hot = arith::as_one_hot(term, b);
  return hot && arith::same_value(hot->place, wanted) && !uses_var(hot->place, b);
}

}  // namespace

TEST_CASE("a choice by an equation is a term at one place, whichever side the variable is on") {
  CHECK(is_at(select(eq(place, b), value, zero), place));
  CHECK(is_at(select(eq(b, place), value, zero), place));
  CHECK(is_at(if_then_else(eq(place, b), value, zero), place));
  CHECK(is_at(select(eq(place + 1, b), value, zero), place + 1));
  CHECK(is_at(select(eq(place, b + 3), value, zero), place - 3));
  CHECK(is_at(select(eq(expr(9) - b, place), value, zero), expr(9) - place));
  CHECK(arith::as_one_hot(select(eq(place, b), value, zero), b)->value.same(value));
}

TEST_CASE("a truth value as a number is one at its place") {
  for (const dtype t : {dtype::i32, dtype::f32}) {
    const auto hot = arith::as_one_hot(cast(t, eq(place, b)), b);
    REQUIRE(hot);
    CHECK(arith::same_value(hot->place, place));
    CHECK(hot->value.type() == t);
  }
}

TEST_CASE("what else is asked stays a choice") {
  const expr other = lt(n, 7);
  const auto chosen = arith::as_one_hot(select(logical_and(other, eq(place, b)), value, zero), b);
  REQUIRE(chosen);
  CHECK(chosen->value->op == op::select);
  CHECK(chosen->value->args[0].same(other));
  const auto counted = arith::as_one_hot(cast(dtype::i32, logical_and(eq(place, b), other)), b);
  REQUIRE(counted);
  CHECK(counted->value->op == op::cast);
}

TEST_CASE("other terms have no such place") {
  const auto none = [](const expr& term) { CHECK_FALSE(arith::as_one_hot(term, b)); };
  none(value);
  none(select(eq(place, b), value, real(dtype::f32, 1)));
  none(select(lt(place, b), value, zero));
  none(select(eq(place, b * 2), value, zero));
  none(select(eq(place, floordiv(b, expr(2))), value, zero));
  none(select(eq(load(places, {b}), b), value, zero));
  none(select(eq(place, n), value, zero));
  none(select(eq(value, cast(dtype::f32, b)), value, zero));
}
