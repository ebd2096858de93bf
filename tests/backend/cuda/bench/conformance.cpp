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
  const auto doubled = as<std::int32_t>(input("shuffle_double"));
  CHECK(count_wrong(std::int32_t{}, double{}, "shuffle_double",
                    [&](std::int32_t, std::size_t i) { return 0.5 * doubled[i ^ 1]; }) == 0);
}
