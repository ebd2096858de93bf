// One object, and its end.
#include <tilewright/support/owned.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using tilewright::support::owned;

namespace {

struct counted_end {
  explicit counted_end(int& ends) : ends_(ends) {}
  ~counted_end() { ++ends_; }
  int value = 7;
  int& ends_;
};

}  // namespace

TEST_CASE("an object lives as long as its owner, and is reached through it") {
  int ends = 0;
  {
    const owned<counted_end> mine(new counted_end(ends));
    CHECK(mine->value == 7);
    (*mine).value = 8;
    CHECK(mine->value == 8);
    CHECK(ends == 0);
  }
  CHECK(ends == 1);
}

TEST_CASE("an owner is neither copied nor moved") {
  static_assert(!std::is_copy_constructible_v<owned<int>>);
  static_assert(!std::is_move_constructible_v<owned<int>>);
  static_assert(!std::is_copy_assignable_v<owned<int>>);
  static_assert(sizeof(owned<int>) == sizeof(int*));
}
