#include <tilewright/impl/backend/llvm/float_range.hpp>

#include <cmath>

#include <doctest/doctest.h>

#include <tilewright/ir/stmt.hpp>

using namespace tilewright;
using namespace tilewright::ir;
using backend::llvm::detail::range_of;

namespace {

const buffer x = make_buffer("X", dtype::f32, {8});
const expr any = load(x, {0});

expr f32(double v) { return real(dtype::f32, v); }

bool lies(const expr& e, double low, double high) {
  const auto range = range_of(e);
  REQUIRE(range.has_value());
  // where it was rounded, a little beyond
  return range->low <= low && low - range->low <= 1e-5 * std::abs(low) && range->high >= high &&
         range->high - high <= 1e-5 * std::abs(high);
}

}  // namespace

TEST_CASE("what is limited by literals behind it lies between these, also where it was NaN") {
  CHECK(lies(min(max(any, f32(-3)), f32(5)), -3, 5));
  CHECK(lies(max(min(any, f32(5)), f32(-3)), -3, 5));
  CHECK(lies(min(f32(5), max(any, f32(-3))), -3, 5));
  CHECK_FALSE(range_of(any).has_value());
  CHECK_FALSE(range_of(max(f32(0), any)).has_value());  // NaN stays
  CHECK_FALSE(range_of(max(any, f32(NAN))).has_value());
  CHECK(std::isinf(range_of(max(any, f32(0)))->high));
}

TEST_CASE("sums and products of what is limited, and what is rounded") {
  const expr unit = min(max(any, f32(0)), f32(1));
  CHECK(lies(unit * f32(-255) + f32(7), -248, 7));
  CHECK(lies(unit - unit, -1, 1));
  CHECK(lies(call(dtype::f32, "floor", {unit * f32(2.5)}), 0, 3));
  CHECK_FALSE(range_of(max(any, f32(0)) * f32(0)).has_value());  // infinity times nothing
  CHECK_FALSE(range_of(call(dtype::f32, "exp", {unit})).has_value());
}

TEST_CASE("short integers as floats, and no others") {
  const auto of = [](dtype t) { return cast(dtype::f32, load(make_buffer("B", t, {8}), {0})); };
  CHECK(lies(of(dtype::u8), 0, 255));
  CHECK(lies(of(dtype::i16), -32768, 32767));
  CHECK_FALSE(range_of(of(dtype::i32)).has_value());
  CHECK_FALSE(range_of(cast(dtype::f16, load(make_buffer("B", dtype::u16, {8}), {0}))).has_value());
}

TEST_CASE("a range becomes an integer that holds it with fractions cut off") {
  const auto becomes = [](double low, double high, dtype t) {
    return backend::llvm::detail::float_range{low, high}.becomes(t);
  };
  CHECK(becomes(-0.9, 255.9, dtype::u8));
  CHECK_FALSE(becomes(-1, 255, dtype::u8));
  CHECK_FALSE(becomes(0, 256, dtype::u8));
  CHECK(becomes(-128.5, 127.5, dtype::i8));
  CHECK_FALSE(becomes(-129, 127, dtype::i8));
  CHECK_FALSE(becomes(0, 0x1p31, dtype::i32));
  CHECK_FALSE(becomes(-INFINITY, 0, dtype::i32));
}
