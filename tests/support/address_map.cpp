#include <tilewright/support/address_map.hpp>

#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/support/random.hpp>

using tilewright::support::address_map;

TEST_CASE("an empty map holds nothing") {
  address_map<int> map;
  CHECK(map.find(&map) == nullptr);
  CHECK_FALSE(map.contains(&map));
  map.erase(&map);
  CHECK(map.size() == 0);
}

TEST_CASE("the first value of a key stays until it is changed through the pointer") {
  int key = 0;
  address_map<int> map;
  const auto [first, fresh] = map.insert(&key, 1);
  CHECK(fresh);
  CHECK(*first == 1);
  const auto [second, again] = map.insert(&key, 2);
  CHECK_FALSE(again);
  CHECK(*second == 1);
  *second = 3;
  CHECK(*map.find(&key) == 3);
  map.erase(&key);
  CHECK(map.find(&key) == nullptr);
}

TEST_CASE("random insertions and removals give what an ordered map gives") {
  std::vector<char> nodes(std::size_t{400} * 96);  // as far apart as nodes of an expression
  address_map<std::uint64_t> map;
  std::map<const void*, std::uint64_t> expected;
  tilewright::support::random draw(1);
  for (int step = 0; step < 40000; ++step) {
    const void* key = &nodes[draw.below(400) * 96];
    // the map grows at first, then shrinks
    if (draw.below(100) < (step < 20000 ? 70u : 40u)) {
      const std::uint64_t value = draw.next();
      const bool fresh = expected.emplace(key, value).second;
      CHECK(map.insert(key, value).second == fresh);
    } else {
      map.erase(key);
      expected.erase(key);
    }
    REQUIRE(map.size() == expected.size());
    const void* asked = &nodes[draw.below(400) * 96];
    const auto known = expected.find(asked);
    REQUIRE(map.contains(asked) == (known != expected.end()));
    if (known != expected.end()) REQUIRE(*map.find(asked) == known->second);
  }
}
