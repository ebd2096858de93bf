#include <tilewright/support/hash.hpp>

#include <bit>
#include <set>

#include <doctest/doctest.h>

using tilewright::support::hash128;
using tilewright::support::hasher;

namespace {
hash128 of(std::string_view text) {
  hasher h;
  h.add(text);
  return h.finish();
}
hash128 of(std::uint64_t word) {
  hasher h;
  h.add(word);
  return h.finish();
}
}  // namespace

TEST_CASE("hashes are the same on every machine") {
  CHECK(hasher{}.finish().hex() == "09a23c3a0ffedfe9630d9b54e8125edb");
  CHECK(of(std::uint64_t{1}).hex() == "90fbe730583c57f4365055a2bb548cd8");
  CHECK(of("tensor program").hex() == "4f9f816e7e6f7a46d88898bfcf8210f1");
}

TEST_CASE("hex and from_hex are inverse") {
  const hash128 h{0x0123456789abcdefu, 0xfedcba9876543210u};
  CHECK(h.hex() == "0123456789abcdeffedcba9876543210");
  CHECK(hash128::from_hex(h.hex()) == h);
  CHECK(hash128::from_hex("0123456789ABCDEFfedcba9876543210") == h);
  CHECK_FALSE(hash128::from_hex(""));
  CHECK_FALSE(hash128::from_hex("0123456789abcdeffedcba987654321"));
  CHECK_FALSE(hash128::from_hex("0123456789abcdeffedcba987654321g"));
}

TEST_CASE("boundaries between strings count") {
  hasher one, two;
  one.add("ab");
  one.add("c");
  two.add("a");
  two.add("bc");
  CHECK(one.finish() != two.finish());
  CHECK(of("") != hasher{}.finish());
  CHECK(of(std::string_view("\0", 1)) != of(""));
}

TEST_CASE("one input bit flips about half of the output bits in either lane") {
  for (int bit = 0; bit < 64; ++bit) {
    const hash128 a = of(std::uint64_t{0}), b = of(std::uint64_t{1} << bit);
    CHECK(std::popcount(a.hi ^ b.hi) > 12);
    CHECK(std::popcount(a.lo ^ b.lo) > 12);
  }
}

TEST_CASE("short sequences do not collide, not even in one lane") {
  std::set<std::uint64_t> hi, lo;
  for (std::uint64_t a = 0; a < 100; ++a)
    for (std::uint64_t b = 0; b < 100; ++b) {
      hasher h;
      h.add(a);
      h.add(b);
      hi.insert(h.finish().hi);
      lo.insert(h.finish().lo);
    }
  CHECK(hi.size() == 10000);
  CHECK(lo.size() == 10000);
}
