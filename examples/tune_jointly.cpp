// A layer at several batch sizes, tuned as one task: one schedule is found that is good at all of them, and other
// batch sizes run what it becomes there. Its sums are in the order of the program.
#include <tilewright/tilewright.hpp>

#include <iostream>
#include <vector>

using namespace tw;

namespace {

constexpr auto layer = kernel<"layer">(
    [](in<"X", float, "B", "K"> X, in<"W", float, "K", "N"> W, out<"Y", float, "B", "N"> Y) {
      using axes::b, axes::n, axes::k;
      return Y(b, n) = max(sum<k>(X(b, k) * W(k, n)), 0.0f);
    });

}  // namespace

int main() {
  tuned op{layer, {.database = ":memory:", .mode = mode::off, .reductions = reductions::in_order}};
  const auto batch = [&](std::int64_t rows) {
    return op.at_extents({{"B", rows}, {"K", 64}, {"N", 96}});
  };

  const auto found = tune_jointly({batch(1), batch(8).weighted(2), batch(32)},
                                  {.seconds = 10, .trials = 12, .traces = 2});

  for (const search::joint_choice& c : found.at)
    std::cout << search::time_text(c.best) << ", default schedule " << search::time_text(c.baseline)
              << '\n';
  std::vector<float> x(20 * 64, 1), w(64 * 96, 2), y(20 * 96);
  op(view(x.data(), {20, 64}), view(w.data(), {64, 96}),
     view(y.data(), {20, 96}));  // was not named
  for (const float each : y)
    if (each != 2.0f * 64) return 1;
  return found.at.size() == 3 && found.trials == 12 ? 0 : 1;
}
