#include <tilewright/support/function_ref.hpp>

#include <memory>
#include <string>

#include <doctest/doctest.h>

using namespace tilewright;

namespace {

int call(support::function_ref<int(int)> f) { return f(20); }
int twice(int n) { return 2 * n; }

struct counter {
  int calls = 0;
  int operator()(int n) { return n + ++calls; }
};

}  // namespace

TEST_CASE("function_ref calls lambdas, functions and objects, and copies none of them") {
  const int one = 1;
  CHECK(call([&](int n) { return n + one; }) == 21);
  CHECK(call(twice) == 40);
  CHECK(call(&twice) == 40);
  counter count;
  CHECK(call(count) == 21);
  CHECK(call(count) == 22);
  CHECK(count.calls == 2);
  CHECK(call([held = std::make_unique<int>(3)](int n) { return n + *held; }) == 23);
}

TEST_CASE("function_ref hands arguments and results through as they are") {
  const std::string text = "abc";
  const auto same = [](const std::string& s) -> const std::string& { return s; };
  const support::function_ref<const std::string&(const std::string&)> f = same;
  CHECK(&f(text) == &text);
  const auto moved = [](std::unique_ptr<int> p) { return p; };
  const support::function_ref<std::unique_ptr<int>(std::unique_ptr<int>)> move = moved;
  CHECK(*move(std::make_unique<int>(4)) == 4);
}
