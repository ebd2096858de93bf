#include <tilewright/support/numbers/number_text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using namespace tilewright::support;

TEST_CASE("numbers as text: as printf writes them in the C locale") {
  CHECK(general_text(0.5, 3) == "0.5");
  CHECK(general_text(1234567.0, 3) == "1.23e+06");
  CHECK(general_text(1.0 / 3, 9) == "0.333333333");
  CHECK(general_text(100.0, 9) == "100");
  CHECK(general_text(-0.0, 3) == "-0");
  CHECK(general_text(std::numeric_limits<double>::infinity(), 3) == "inf");
  CHECK(fixed_text(2.345, 2) == "2.35");
  CHECK(fixed_text(12345.0, 0) == "12345");
  CHECK(fixed_text(0.04, 1) == "0.0");
  CHECK(fixed_text(std::numeric_limits<double>::max(), 1).size() == 311);
  CHECK(hex_text(0x1f, 4) == "001f");
}

TEST_CASE("text as a number: all of it or nothing") {
  CHECK(read_number<float>("0.5") == 0.5f);
  CHECK(read_number<double>("1e-300") == 1e-300);
  CHECK_FALSE(read_number<float>("0,5"));
  CHECK_FALSE(read_number<float>("0.5 "));
  CHECK_FALSE(read_number<float>(""));
  CHECK(read_number<std::uint64_t>("18446744073709551615") == UINT64_MAX);
  CHECK_FALSE(read_number<int>("2147483648"));
  CHECK_FALSE(read_number<std::uint32_t>("-1"));
  CHECK(is_ascii_alnum('z'));
  CHECK_FALSE(is_ascii_alnum('_'));
  CHECK_FALSE(is_ascii_alnum(static_cast<char>(0xe4)));
}
