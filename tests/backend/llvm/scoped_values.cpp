#include <tilewright/backend/llvm/scoped_values.hpp>

#include <array>

#include <doctest/doctest.h>

using namespace tilewright::backend::llvm;

TEST_CASE("what is kept in a scope is found until it ends, and what was kept before stays") {
  std::array<int, 3> places{};
  const auto value = [&](std::size_t i) { return reinterpret_cast<value_ref>(&places[i]); };
  scoped_values<int> all;
  CHECK(all.find(7) == nullptr);
  all.keep(7, value(0));
  const std::size_t outside = all.size();
  all.keep(8, value(1));
  all.keep(7, value(2));  // the first one stays
  CHECK(all.size() == 2);
  CHECK(all.find(7) == value(0));
  CHECK(all.find(8) == value(1));
  all.keep_first(outside);
  CHECK(all.find(7) == value(0));
  CHECK(all.find(8) == nullptr);
  all.keep(8, value(2));
  CHECK(all.find(8) == value(2));
}
