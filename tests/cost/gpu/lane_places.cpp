// What an access of a warp costs, by where its lanes are.
#include <tilewright/impl/cost/gpu/lane_places.hpp>

#include <doctest/doctest.h>

using namespace tilewright::cost::detail;

namespace {

/// Where lanes are, `f` bytes from the first one.
template <class F>
lane_bytes places(F f) {
  lane_bytes out{};
  for (int l = 0; l < most_lanes; ++l) out[static_cast<std::size_t>(l)] = f(l);
  return out;
}

}  // namespace

TEST_CASE("lane_places: 128 bytes a cycle, whoever reads the same") {
  CHECK(bank_cycles(places([](int) { return 0; }), 32, 4, true) == 1);
  CHECK(bank_cycles(places([](int l) { return 4 * l; }), 32, 4, true) == 1);
  CHECK(bank_cycles(places([](int l) { return 8 * l; }), 32, 8, true) == 2);
  CHECK(bank_cycles(places([](int l) { return 16 * l; }), 32, 16, true) == 4);
  // four places in a row of lanes are four cycles; two, where neighbours share them or those behind them
  CHECK(bank_cycles(places([](int l) { return l % 4 * 16; }), 32, 16, true) == 4);
  CHECK(bank_cycles(places([](int l) { return l / 2 % 4 * 16; }), 32, 16, true) == 2);
  CHECK(bank_cycles(places([](int l) { return (l / 4 * 2 + l % 2) * 16; }), 32, 16, true) == 2);
  CHECK(bank_cycles(places([](int l) { return l / 2 * 8; }), 32, 8, true) == 1);
  // a store has a value of each lane
  CHECK(bank_cycles(places([](int l) { return l / 2 * 16; }), 32, 16, false) == 4);
}

TEST_CASE("lane_places: a bank serves one word after the other") {
  CHECK(bank_cycles(places([](int l) { return 128 * l; }), 32, 4, true) == 32);
  CHECK(bank_cycles(places([](int l) { return 8 * l; }), 32, 4, true) == 2);
  CHECK(bank_cycles(places([](int l) { return 132 * l; }), 32, 4, true) == 1);
  // rows of 36 words: neighbouring ones meet in no bank, those that are eight apart do
  CHECK(bank_cycles(places([](int l) { return l / 8 * 144; }), 32, 16, true) == 2);
  CHECK(bank_cycles(places([](int l) { return l % 2 * 144; }), 32, 16, true) == 2);
  CHECK(bank_cycles(places([](int l) { return l % 2 * 8 * 144; }), 32, 16, true) == 4);
  CHECK(bank_cycles(places([](int l) { return l % 2 * 4 * 144; }), 32, 16, true) == 2);
  CHECK(bank_cycles(places([](int l) { return -4 * l; }), 32, 4, true) == 1);
}

TEST_CASE("lane_places: pieces of 32 bytes") {
  CHECK(sectors_of(places([](int l) { return 4 * l; }), 32, 4) == 4);
  CHECK(sectors_of(places([](int l) { return 16 * l; }), 32, 16) == 16);
  CHECK(sectors_of(places([](int) { return 0; }), 32, 4) == 1);
  CHECK(sectors_of(places([](int l) { return 256 * l; }), 32, 4) == 32);
  // the order of lanes makes no difference
  CHECK(sectors_of(places([](int l) { return (l / 2 + l % 2 * 16) * 4; }), 32, 4) == 4);
  CHECK(sectors_of(places([](int l) { return 4 * l; }), 8, 4) == 1);
}
