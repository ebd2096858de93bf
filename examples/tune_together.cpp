// Two kernels of one program tuned in one session, and a callback that sees its candidates.
// The product runs three times as often as the other one, and gets more of the time. Then a layer at several
// batch sizes, tuned as one task: one schedule is found, or two, and other batch sizes run what it becomes there.
#include <tilewright/tilewright.hpp>

#include <iostream>
#include <vector>

using namespace tw;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

constexpr auto gram = kernel<"gram">([](in<"X", float, "K", "N"> X, out<"G", float, "N", "N"> G) {
  using axes::i, axes::j, axes::k;
  return G(i, j) = sum<k>(X(k, i) * X(k, j));
});

constexpr auto layer = kernel<"layer">(
    [](in<"X", float, "B", "K"> X, in<"W", float, "K", "N"> W, out<"Y", float, "B", "N"> Y) {
      using axes::b, axes::n, axes::k;
      return Y(b, n) = max(sum<k>(X(b, k) * W(k, n)), 0.0f);
    });

/// Sums of the layer are in the order of the program, whatever is found.
bool tune_layer() {
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
  op(view(x.data(), {20, 64}), view(w.data(), {64, 96}), view(y.data(), {20, 96}));
  for (const float each : y)
    if (each != 2.0f * 64) return false;
  return found.at.size() == 3 && found.trials > 0;
}

/// Programs of more than 200 statements take long to compile: they are not tried.
search::verdict short_ones(const search::candidate& c) {
  return c.scheduled.trace().size() > 200 ? search::verdict::veto : search::verdict::go_on;
}

}  // namespace

int main() {
  constexpr std::int64_t n = 64;
  std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n), g(n * n);
  tuned multiply{product, {.database = ":memory:", .callbacks = {.before_build = short_ones}}};
  tuned square{gram, {.database = ":memory:"}};
  const auto view_of = [](std::vector<float>& v) { return view(v.data(), {n, n}); };

  auto A = view_of(a), B = view_of(b), C = view_of(c), G = view_of(g);
  const auto results = tune_together({multiply.at(A, B, C).weighted(3), square.at(C, G)},
                                     {.seconds = 10, .trials = 12});

  multiply(A, B, C);  // what was found runs
  square(C, G);
  for (const search::task_result& r : results)
    std::cout << r.trials << " trials in " << r.slices << " slices, best "
              << search::time_text(r.last.best) << '\n';
  for (const float x : g)
    if (x != 4.0f * n * n * n) return 1;
  if (!tune_layer()) return 1;
  return results.size() == 2 && results[0].trials > 0 && results[1].trials > 0 ? 0 : 1;
}
