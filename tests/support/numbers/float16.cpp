#include <tilewright/support/numbers/float16.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

#include <doctest/doctest.h>

using tilewright::bfloat16;
using tilewright::float16;

static_assert(std::is_trivially_copyable_v<float16> && sizeof(float16) == 2);
static_assert(std::is_trivially_copyable_v<bfloat16> && sizeof(bfloat16) == 2);
static_assert(float16(1.0f).bits == 0x3c00 && bfloat16(1.0f).bits == 0x3f80);
static_assert(static_cast<float>(float16::from_bits(0x3555)) == 0x1.554p-2f);

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Float>
void check_round_trip() {
  for (std::uint32_t raw = 0; raw <= 0xffff; ++raw) {
    const auto value = Float::from_bits(static_cast<std::uint16_t>(raw));
    const float wide = value;
    if (std::isnan(wide)) {
      REQUIRE(std::isnan(static_cast<float>(Float(wide))));
      continue;
    }
    REQUIRE(Float(wide).bits == raw);
    REQUIRE(Float(static_cast<double>(wide)).bits == raw);
  }
}

/// Rounding agrees with the definition at, below and above the midpoint of every two neighbours.
template <class Float>
void check_midpoints(std::uint16_t largest) {
  for (std::uint16_t raw = 0; raw < largest; ++raw) {
    const double low = static_cast<float>(Float::from_bits(raw));
    const double high = static_cast<float>(Float::from_bits(static_cast<std::uint16_t>(raw + 1)));
    const double middle = (low + high) / 2;
    const std::uint16_t even = static_cast<std::uint16_t>(raw + (raw & 1));
    REQUIRE(Float(middle).bits == even);
    REQUIRE(Float(std::nextafter(middle, 0.0)).bits == raw);
    REQUIRE(Float(std::nextafter(middle, 1e300)).bits == raw + 1);
    REQUIRE(Float(-middle).bits == (even | 0x8000));
    const float single = static_cast<float>(middle);
    if (single == middle) REQUIRE(Float(single).bits == even);
  }
}

}  // namespace

TEST_CASE("every 16-bit value survives the way through float and double") {
  check_round_trip<float16>();
  check_round_trip<bfloat16>();
}

TEST_CASE("rounding is to nearest even between all neighbours, subnormals included") {
  check_midpoints<float16>(0x7bff);
  check_midpoints<bfloat16>(0x7f7f);
}

TEST_CASE("overflow gives infinity, half of the last step stays finite") {
  CHECK(static_cast<float>(float16(65504.0f)) == 65504.0f);
  CHECK(static_cast<float>(float16(65519.0f)) == 65504.0f);
  CHECK(static_cast<float>(float16(65520.0f)) == infinity);
  CHECK(static_cast<float>(float16(-1e30)) == -infinity);
  CHECK(static_cast<float>(bfloat16(std::numeric_limits<float>::max())) == infinity);
  CHECK(static_cast<float>(bfloat16(1e300)) == infinity);
}

TEST_CASE("zeros keep their sign and tiny values vanish") {
  CHECK(float16(-0.0f).bits == 0x8000);
  CHECK(std::signbit(static_cast<float>(float16::from_bits(0x8000))));
  CHECK(float16(0x1p-25).bits == 0);
  CHECK(float16(0x1.000002p-25f).bits == 1);
  CHECK(bfloat16(0x1p-134).bits == 0);
  CHECK(bfloat16(0x1p-133).bits == 1);
  CHECK(float16(std::numeric_limits<double>::denorm_min()).bits == 0);
  CHECK(float16(std::numeric_limits<float>::denorm_min()).bits == 0);
}

TEST_CASE("infinities and NaNs stay what they are; NaNs become quiet") {
  CHECK(float16(infinity).bits == 0x7c00);
  CHECK(bfloat16(-infinity).bits == 0xff80);
  CHECK(float16(std::numeric_limits<float>::quiet_NaN()).bits == 0x7e00);
  CHECK(float16(std::bit_cast<float>(0x7f800001u)).bits == 0x7e00);
  CHECK(bfloat16(std::bit_cast<float>(0x7f800001u)).bits == 0x7fc0);
}

TEST_CASE("a double rounds once") {
  // 1 + 2^-11 + 2^-40 is above the midpoint; by way of float it would sit on it and go to even.
  CHECK(float16(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01);
}

TEST_CASE("integers convert and values compare through float") {
  CHECK(float16(2049) == 2048.0f);
  CHECK(bfloat16(-3) < bfloat16(2u));
}
