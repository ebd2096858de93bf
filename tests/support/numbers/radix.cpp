#include <tilewright/support/numbers/radix.hpp>

#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

using tilewright::support::radix;

namespace {

using steps = std::vector<std::pair<std::int64_t, std::int64_t>>;

radix made_of(const steps& list) {
  radix out;
  for (const auto& [factor, count] : list) out.add(factor, count);
  return out;
}

/// All sums, one by one.
std::vector<std::int64_t> sums(const steps& list) {
  std::vector<std::int64_t> out{0};
  for (const auto& [factor, count] : list) {
    std::vector<std::int64_t> next;
    for (const std::int64_t low : out)
      for (std::int64_t i = 0; i < count; ++i) next.push_back(low + i * factor);
    out = std::move(next);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("radix: tiles of a loop, windows that overlap, rows with padding") {
  const radix tiles = made_of({{16, 4}, {1, 2}, {2, 8}});
  CHECK(tiles.size() == 3);
  CHECK(tiles.reach() == 63);
  CHECK(tiles.is_exact());
  CHECK_FALSE(tiles.has_gaps());
  CHECK(tiles.distance() == 1);

  const radix windows = made_of({{2, 5}, {1, 3}});
  CHECK(windows.reach() == 10);
  CHECK_FALSE(windows.is_exact());
  CHECK_FALSE(windows.has_gaps());
  CHECK(windows.distance() == 0);

  const radix rows = made_of({{20, 4}, {1, 16}});
  CHECK(rows.reach() == 75);
  CHECK_FALSE(rows.is_exact());
  CHECK(rows.has_gaps());
  CHECK(rows.distance() == 1);

  const radix lanes = made_of({{32, 4}, {4, 5}});
  CHECK(lanes.distance() == 4);
  CHECK(lanes.has_gaps());
}

TEST_CASE("radix: without steps the sum is 0") {
  const radix none;
  CHECK(none.reach() == 0);
  CHECK(none.is_exact());
  CHECK_FALSE(none.has_gaps());
  CHECK(none.distance() > 0);
}

TEST_CASE("radix: factors that are not positive are no radix") {
  CHECK_FALSE(made_of({{-1, 4}}).is_exact());
  CHECK_FALSE(made_of({{0, 4}}).is_exact());
  CHECK(made_of({{0, 4}}).distance() == 0);
}

TEST_CASE("radix: all sums of some thousand lists of steps") {
  tilewright::support::random random(1);
  int with_gaps = 0, ambiguous = 0, exact = 0;
  for (int n = 0; n < 4000; ++n) {
    steps list;
    const auto count = static_cast<std::size_t>(random.below(4));
    std::int64_t next = 1;  // mostly near to what makes a radix
    for (std::size_t i = 0; i < count; ++i) {
      const auto extent = 2 + static_cast<std::int64_t>(random.below(3));
      const auto off = static_cast<std::int64_t>(random.below(6)) - 2;
      list.emplace_back(std::max<std::int64_t>(1, off > 1 ? next : next + off), extent);
      next = list.back().first * extent;
    }
    const std::vector<std::int64_t> all = sums(list);
    const std::set<std::int64_t> values(all.begin(), all.end());
    std::int64_t apart = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < all.size(); ++i) apart = std::min(apart, all[i] - all[i - 1]);
    std::reverse(list.begin(), list.end());
    const radix r = made_of(list);
    CHECK(r.reach() == all.back());
    CHECK(r.has_gaps() == (values.size() != static_cast<std::size_t>(all.back()) + 1));
    // certain in one direction: that no sum comes twice needs no order of the steps
    if (r.distance() > 0) CHECK(r.distance() == apart);
    if (values.size() != all.size()) CHECK(r.distance() == 0);
    CHECK(r.is_exact() == (!r.has_gaps() && r.distance() > 0));
    if (r.is_exact()) CHECK(values.size() == all.size());
    with_gaps += r.has_gaps();
    ambiguous += r.distance() == 0;
    exact += r.is_exact();
  }
  CHECK(with_gaps > 200);
  CHECK(ambiguous > 200);
  CHECK(exact > 200);
}
