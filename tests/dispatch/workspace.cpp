#include <tilewright/dispatch/workspace.hpp>

#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tilewright;

namespace {

constexpr auto centred =
    kernel<"centred">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"total", float, "M"> total;
      return blocks(total(i) = sum<j>(X(i, j)), Y(i, j) = X(i, j) - total(i));
    });

}  // namespace

TEST_CASE("poison_workspace: no call needs what another one left there") {
  constexpr int m = 700, n = 3;
  std::vector<float> x(m * n), y(m * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11);
  dispatch::poison_workspace();  // there is none yet
  const tuned op{centred, {.database = ":memory:", .mode = mode::off}};
  for (int call = 0; call < 3; ++call) {
    op(view(x.data(), {m, n}), view(y.data(), {m, n}));
    for (std::size_t i = 0; i < y.size(); i += n)
      CHECK(y[i + 1] == x[i + 1] - (x[i] + x[i + 1] + x[i + 2]));
    dispatch::poison_workspace();
  }
}
