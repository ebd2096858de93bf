#include <tilewright/support/numbers/narrow_float.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;

namespace {

dtype named(const char* text) { return *dtype_from_name(text); }

std::vector<dtype> all() {
  std::vector<dtype> out;
  for (const auto& f : detail::dtypes::narrow_floats) out.push_back(*dtype_from_name(f.name));
  return out;
}

}  // namespace

TEST_CASE("the bits of each type: one, the largest and the smallest value") {
  struct row {
    const char* name;
    int one, largest;
    float value, smallest;
  };
  for (const row& r : {row{"float8_e3m4", 0x30, 0x6f, 15.5f, 0x1p-6f},
                       row{"float8_e4m3", 0x38, 0x77, 240.0f, 0x1p-9f},
                       row{"float8_e4m3b11fnuz", 0x58, 0x7f, 30.0f, 0x1p-13f},
                       row{"float8_e4m3fn", 0x38, 0x7e, 448.0f, 0x1p-9f},
                       row{"float8_e4m3fnuz", 0x40, 0x7f, 240.0f, 0x1p-10f},
                       row{"float8_e5m2", 0x3c, 0x7b, 57344.0f, 0x1p-16f},
                       row{"float8_e5m2fnuz", 0x40, 0x7f, 57344.0f, 0x1p-17f},
                       row{"float6_e2m3fn", 0x08, 0x1f, 7.5f, 0.125f},
                       row{"float6_e3m2fn", 0x0c, 0x1f, 28.0f, 0.0625f},
                       row{"float4_e2m1fn", 0x2, 0x7, 6.0f, 0.5f}}) {
    CAPTURE(r.name);
    const dtype t = named(r.name);
    CHECK(round_to_narrow(t, 1.0) == r.one);
    CHECK(round_to_narrow(t, r.value) == r.largest);
    CHECK(largest_narrow(t) == r.value);
    CHECK(lowest_narrow(t) == -r.value);
    CHECK(widen_narrow(t, 1) == r.smallest);
    CHECK(round_to_narrow(t, r.smallest) == 1);
    CHECK(round_to_narrow(t, r.smallest / 2) == 0);  // a tie, to even
    CHECK(round_to_narrow(t, r.smallest * 0.75) == 1);
    CHECK(round_to_narrow(t, r.smallest * 1.5) == 2);
  }
  const dtype scale = named("float8_e8m0fnu");
  CHECK(widen_narrow(scale, 127) == 1.0f);
  CHECK(largest_narrow(scale) == 0x1p127f);
  CHECK(lowest_narrow(scale) == 0x1p-127f);
  CHECK(round_to_narrow(scale, 0.0) == 0);
  CHECK(round_to_narrow(scale, 5.0) == 129);
  CHECK(std::isnan(widen_narrow(scale, round_to_narrow(scale, -1.0))));
}

TEST_CASE("rounding what the bits mean gives the bits") {
  for (dtype t : all())
    for (int raw = 0; raw < 1 << bits(t); ++raw) {
      const float x = widen_narrow(t, static_cast<std::uint8_t>(raw));
      if (std::isnan(x)) continue;
      CHECK_MESSAGE(round_to_narrow(t, x) == raw, std::string(name(t)));
    }
}

TEST_CASE("rounding is to the nearest value, ties to even") {
  for (dtype t : all()) {
    if (t == named("float8_e8m0fnu")) continue;
    for (int raw = 0; widen_narrow(t, static_cast<std::uint8_t>(raw)) < largest_narrow(t); ++raw) {
      const double a = widen_narrow(t, static_cast<std::uint8_t>(raw));
      const double b = widen_narrow(t, static_cast<std::uint8_t>(raw + 1));
      const double middle = (a + b) / 2;
      CHECK(round_to_narrow(t, middle) == raw + raw % 2);
      CHECK(round_to_narrow(t, std::nextafter(middle, 0.0)) == raw);
      CHECK(round_to_narrow(t, std::nextafter(middle, b)) == raw + 1);
    }
  }
}

TEST_CASE("what is too large, and NaN") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto value = [](const char* t, double x) {
    return widen_narrow(named(t), round_to_narrow(named(t), x));
  };
  CHECK(value("float8_e5m2", 1e6) == std::numeric_limits<float>::infinity());
  CHECK(value("float8_e5m2", -infinity) == -std::numeric_limits<float>::infinity());
  CHECK(value("float8_e4m3", 300.0) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(value("float8_e4m3fn", 500.0)));
  CHECK(value("float8_e4m3fn", 460.0) == 448.0f);
  CHECK(std::isnan(value("float8_e5m2fnuz", infinity)));
  CHECK(value("float4_e2m1fn", 100.0) == 6.0f);
  CHECK(value("float6_e3m2fn", -infinity) == -28.0f);
  for (dtype t : all()) {
    const float nan = widen_narrow(t, round_to_narrow(t, std::nan("")));
    const bool has_nan = bits(t) == 8;
    CHECK(std::isnan(nan) == has_nan);
    if (!has_nan) CHECK(nan == largest_narrow(t));
  }
  CHECK(round_to_narrow(named("float8_e4m3fnuz"), -0.0) == 0);
  CHECK(round_to_narrow(named("float8_e4m3fn"), -0.0) == 0x80);
}
