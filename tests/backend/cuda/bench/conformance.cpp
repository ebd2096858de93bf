// The host's models of the prelude's functions against arithmetic that is known to be right.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include <tilewright/support/numbers/float16.hpp>

#include "../cases.hpp"
#include "gpu/conformance.hpp"

using namespace tilewright;

namespace {

template <class T>
std::vector<T> as(const std::vector<std::byte>& raw) {
  std::vector<T> out(raw.size() / sizeof(T));
  std::memcpy(out.data(), raw.data(), raw.size());
  return out;
}

std::uint16_t rounded_f16(double x) { return std::isnan(x) ? 0x7fff : float16(x).bits; }

}  // namespace

TEST_CASE("the host's models convert as the library does, and wrap and exchange as they should") {
  if (!cases::have_emulator()) return;
  std::map<std::string, gpu_conformance::entry> all;
  for (gpu_conformance::entry& e : gpu_conformance::all()) all[e.name.substr(12)] = e;
  const auto input = [&](const char* name) { return all.at(name).input; };
  const auto output = [&](const char* name) { return gpu_conformance::on_host(all.at(name)); };
  const auto count_wrong = [&](auto from, auto to, const char* name, auto expected) {
    const auto x = as<decltype(from)>(input(name));
    const auto y = as<decltype(to)>(output(name));
    REQUIRE(x.size() == y.size());
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto right = static_cast<decltype(to)>(expected(x[i], i));
      wrong += std::memcmp(&right, &y[i], sizeof right) == 0 ? 0 : 1;
    }
    return wrong;
  };
  const auto threads = [](std::size_t i) { return static_cast<std::int64_t>(i % 256); };
  CHECK(count_wrong(float{}, std::uint16_t{}, "round_f16",
                    [](float x, std::size_t) { return rounded_f16(static_cast<double>(x)); }) == 0);
  CHECK(count_wrong(double{}, std::uint16_t{}, "round_f16_of_double",
                    [](double x, std::size_t) { return rounded_f16(x); }) == 0);
  CHECK(count_wrong(float{}, std::uint16_t{}, "round_bf16", [](float x, std::size_t) {
          return std::isnan(x) ? std::uint16_t{0x7fff} : bfloat16(x).bits;
        }) == 0);
  CHECK(count_wrong(std::uint16_t{}, float{}, "widen_f16", [](std::uint16_t x, std::size_t) {
          return (x & 0x7fff) > 0x7c00 ? 0.0f : static_cast<float>(float16::from_bits(x));
        }) == 0);
  CHECK(count_wrong(std::int32_t{}, std::int32_t{}, "floordiv", [&](std::int64_t x, std::size_t i) {
          const std::int64_t by = threads(i) - 128;
          return by == 0 ? x : ir::floor_divide(x, by);
        }) == 0);
  CHECK(count_wrong(std::int32_t{}, std::int32_t{}, "floormod", [&](std::int64_t x, std::size_t i) {
          const std::int64_t by = threads(i) - 128;
          return by == 0 ? 0 : ir::floor_modulo(x, by);
        }) == 0);
  const auto shuffled = as<std::int32_t>(input("shuffle_32"));
  CHECK(count_wrong(std::int32_t{}, std::int32_t{}, "shuffle_32",
                    [&](std::int32_t, std::size_t i) { return shuffled[i ^ 16]; }) == 0);
  const auto powers = as<std::int32_t>(input("exp2"));
  const auto got = as<float>(output("exp2"));
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const double right =
        std::exp2(static_cast<double>(-0.001f * static_cast<float>(powers[i] & 131071)));
    if (right < 0x1p-126 ? got[i] != 0
                         : std::abs(static_cast<double>(got[i]) / right - 1) > 0x1p-22)
      FAIL_CHECK("exp2 of " << powers[i] << " is " << got[i]);
  }
  const auto doubled = as<std::int32_t>(input("shuffle_double"));
  CHECK(count_wrong(std::int32_t{}, double{}, "shuffle_double",
                    [&](std::int32_t, std::size_t i) { return 0.5 * doubled[i ^ 1]; }) == 0);
}

TEST_CASE("the host's model of additions that memory makes adds each term once, in any order") {
  if (!cases::have_emulator()) return;
  std::map<std::string, gpu_conformance::entry> all;
  for (gpu_conformance::entry& e : gpu_conformance::all())
    if (e.name.find("atomic_add") != std::string::npos) all[e.name.substr(23)] = e;
  CHECK(all.size() == 13);
  for (const auto& [name, e] : all) {
    CAPTURE(name);
    const std::vector<std::byte> one = gpu_conformance::on_host(e, 1);
    CHECK(gpu_conformance::wrong_elements(e, gpu_conformance::on_host(e, 2), one) == 0);
    std::vector<std::byte> spoiled = one;  // an addition that came twice, or not at all
    const auto size = static_cast<std::size_t>(bytes(e.result));
    spoiled[5 * size + size - 1] ^= std::byte{0x40};
    CHECK(gpu_conformance::wrong_elements(e, spoiled, one) == 1);
    spoiled.pop_back();
    CHECK(gpu_conformance::wrong_elements(e, spoiled, one) == one.size() / size);
  }
  // 64 terms to each of 1024 elements, 2048 to each of four, and what the others begin with
  const auto sums_of = [&](const std::string& name, auto typed, auto value, auto few) {
    using number = decltype(typed);
    const auto x = as<std::int32_t>(all.at(name).input);
    std::vector<number> out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = static_cast<number>(i % 5);
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i % 1024] += value(x[i]);
      if (i % 8 == 0) out[1024 + i % 256 / 8 % 4] += few(x[i]);
    }
    return out;
  };
  const auto got = [&](auto typed, const std::string& name) {
    return as<decltype(typed)>(gpu_conformance::on_host(all.at(name)));
  };
  CHECK(got(std::uint32_t{}, "u32") ==
        sums_of(
            "u32", std::uint32_t{}, [](std::int32_t x) { return static_cast<std::uint32_t>(x); },
            [](std::int32_t x) { return static_cast<std::uint32_t>(x >> 3); }));
  CHECK(got(std::uint64_t{}, "i64") ==  // wraps
        sums_of(
            "i64", std::uint64_t{},
            [](std::int32_t x) { return static_cast<std::uint64_t>(x * std::int64_t{3000000007}); },
            [](std::int32_t x) { return static_cast<std::uint64_t>(std::int64_t{x}); }));
  const auto small = [](std::int32_t x) { return static_cast<double>((x & 1023) - 512); };
  const auto least = [](std::int32_t x) { return static_cast<double>((x & 15) - 8); };
  CHECK(got(double{}, "f64") == sums_of("f64", double{}, small, least));
  const std::vector<double> wide = sums_of("f32", double{}, small, least);
  CHECK(got(float{}, "f32") == std::vector<float>(wide.begin(), wide.end()));
  // each of the roundings
  const auto halves = as<std::uint16_t>(all.at("once_f16").input);
  const auto once = got(std::uint16_t{}, "once_f16");
  int wrong = 0;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const double begin = 0.125 * static_cast<double>(i % 256),
                 x = static_cast<double>(static_cast<float>(float16::from_bits(halves[i])));
    wrong += once[i] == float16(std::isnan(x) ? begin : begin + x).bits ? 0 : 1;
  }
  CHECK(wrong == 0);
}
