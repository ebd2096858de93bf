#include <tilewright/support/short_vector.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/support/random.hpp>

using tilewright::support::short_vector;

namespace {

using words = short_vector<std::string, 3>;

words of(std::size_t n) {
  words out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back("a word that is too long for a string itself " + std::to_string(i));
  return out;
}
std::vector<std::string> listed(const words& w) { return {w.begin(), w.end()}; }

}  // namespace

TEST_CASE("lists are copied and moved whether their elements lie inside or not") {
  for (std::size_t n : {0u, 1u, 3u, 4u, 9u}) {
    words a = of(n);
    CHECK(a.size() == n);
    CHECK(a.empty() == (n == 0));
    const std::vector<std::string> all = listed(a);
    words copy = a;
    CHECK(listed(copy) == all);
    words moved = std::move(copy);
    CHECK(listed(moved) == all);
    for (std::size_t m : {0u, 2u, 5u}) {
      words to = of(m);
      to = a;
      CHECK(listed(to) == all);
      words onto = of(m);
      onto = std::move(to);
      CHECK(listed(onto) == all);
      to = of(m);  // what was moved from can be used again
      CHECK(to.size() == m);
    }
    a = *&a;
    CHECK(listed(a) == all);
  }
}

TEST_CASE("a list begins with as many copies of a value as asked for") {
  for (std::size_t n : {0u, 2u, 3u, 7u}) {
    const words list(n, "a word that is too long for a string itself");
    CHECK(listed(list) ==
          std::vector<std::string>(n, "a word that is too long for a string itself"));
  }
}

TEST_CASE("an element of the list can be appended to it") {
  words w = of(3);
  w.push_back(w.front());
  CHECK(w.back() == w.front());
  CHECK(w[3] == w[0]);
}

TEST_CASE("what a list owns is given up once") {
  auto owner = std::make_shared<int>(1);
  {
    short_vector<std::shared_ptr<int>, 2> list;
    for (int i = 0; i < 5; ++i) list.push_back(owner);
    CHECK(owner.use_count() == 6);
    list.erase(list.begin() + 1, list.begin() + 3);
    CHECK(owner.use_count() == 4);
    auto other = std::move(list);
    CHECK(owner.use_count() == 4);
    other.clear();
    CHECK(owner.use_count() == 1);
    other.emplace_back(owner);
  }
  CHECK(owner.use_count() == 1);
}

TEST_CASE("random changes give what a vector gives") {
  tilewright::support::random draw(1);
  words list;
  std::vector<std::string> expected;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t what = draw.below(10);
    if (what < 6 || expected.empty()) {
      expected.push_back(std::to_string(draw.next()));
      list.emplace_back(expected.back());
    } else if (what < 8) {
      const auto at = static_cast<std::ptrdiff_t>(draw.below(expected.size()));
      expected.erase(expected.begin() + at);
      list.erase(list.begin() + at);
    } else if (what == 8) {
      std::sort(expected.begin(), expected.end());
      std::sort(list.begin(), list.end());
    } else if (what == 9 && draw.below(2) == 0) {
      const auto odd = [](const std::string& s) { return s.back() % 2 != 0 && s.size() < 18; };
      std::erase_if(expected, odd);
      erase_if(list, odd);
    } else if (draw.below(8) == 0) {
      expected.clear();
      list.clear();
    }
    REQUIRE(listed(list) == expected);
  }
}
