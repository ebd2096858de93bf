#include <tilewright/arith/linear.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::ir;

TEST_CASE("an expression as a sum, and back") {
  const var i = make_var("i"), j = make_var("j");
  const arith::linear sum = arith::to_linear((i + 3) * 4 - j + i);
  REQUIRE(sum.terms.size() == 2);
  CHECK(sum.coefficient(i) == 5);
  CHECK(sum.coefficient(j) == -1);
  CHECK(sum.coefficient(i * j) == 0);
  CHECK(sum.constant == 12);
  CHECK(arith::same_value(arith::from_linear(sum), i * 5 - j + 12));
  CHECK(is_int(arith::from_linear(arith::to_linear(i - i + 7)), 7));
}

TEST_CASE("what is no sum is a term") {
  const var i = make_var("i"), j = make_var("j");
  const arith::linear sum = arith::to_linear(floordiv(i, 4) * 8 + i * j);
  CHECK(sum.coefficient(floordiv(i, 4)) == 8);
  CHECK(sum.coefficient(j * i) == 1);
}

TEST_CASE("casts of variables are looked through, sums of data are not") {
  const var i = make_var("i");
  const buffer b = make_buffer("B", dtype::i32, {8});
  CHECK(arith::to_linear(cast(dtype::i64, i * 2 + 1)).coefficient(i) == 2);
  const expr data = cast(dtype::i64, load(b, {i}) + 1);
  CHECK(arith::to_linear(data).terms[0].first.same(data));
}

TEST_CASE("same value by structure") {
  const var i = make_var("i"), other = make_var("i");
  CHECK(arith::same_value(floordiv(i + other, 2), floordiv(other + i, 2)));
  CHECK(arith::same_value(max(i, other), max(other, i)));
  CHECK_FALSE(arith::same_value(i, other));
  CHECK_FALSE(arith::same_value(i + 1, i + 2));
  CHECK_FALSE(arith::same_value(real(dtype::f32, 0.0), real(dtype::f32, -0.0)));
  const expr x = cast(dtype::f32, i), y = cast(dtype::f32, other);
  CHECK_FALSE(arith::same_value(x + y, y + x));
}

TEST_CASE("a coefficient that leaves 64 bits leaves the expression as it is") {
  const var i = make_var("i", dtype::i64);
  const std::int64_t big = std::int64_t{1} << 62;
  const expr e = i * big + i * big;
  CHECK(arith::to_linear(e).terms[0].first.same(e));
}
