#include <tilewright/support/numbers/content_number.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

using tilewright::support::content_number;

TEST_CASE("one changed byte anywhere, one more, and another seed give another number") {
  std::vector<unsigned char> bytes(100);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  std::set<std::uint64_t> seen{content_number(bytes.data(), bytes.size(), 1)};
  CHECK(seen.count(content_number(bytes.data(), bytes.size(), 1)) == 1);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= 1;
    seen.insert(content_number(bytes.data(), bytes.size(), 1));
    bytes[at] ^= 1;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length)
    seen.insert(content_number(bytes.data(), length, 1));
  seen.insert(content_number(bytes.data(), bytes.size(), 2));
  CHECK(seen.size() == 202);
}

TEST_CASE("two elements that change places give another number") {
  const std::vector<int> one{1, 2, 3, 4, 5, 6, 7, 8, 9}, other{1, 2, 3, 8, 5, 6, 7, 4, 9};
  const std::size_t length = one.size() * sizeof(int);
  CHECK(content_number(one.data(), length, 0) != content_number(other.data(), length, 0));
}
