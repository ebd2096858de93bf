// Two parts of the search replaced by one's own: the strategy that proposes candidates, and the
// cost model that ranks them before they are compiled.
#include <tilewright/search/mutator.hpp>
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <iostream>
#include <memory>
#include <set>
#include <vector>

using namespace tw;

namespace {

constexpr auto matmul = kernel<"matmul">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

/// A hill climber: changes the fastest trace that it knows; without one, it draws.
class climber final : public search::strategy {
 public:
  void start(const search::search_task& task, std::uint64_t seed) override {
    task_ = task;
    draws_ = support::random(seed);
  }
  std::vector<search::candidate> propose(std::size_t count,
                                         const std::function<bool()>& over) override {
    std::vector<search::candidate> out;
    for (std::size_t tries = 0; tries < 10 * count && out.size() < count && !over(); ++tries) {
      const trace& sketch = task_.sketches[draws_.below(task_.sketches.size())];
      const auto changed = search::mutate_by(search::mutators(), best_, task_.function, draws_);
      const auto next =
          search::replay(changed && tries % 2 ? *changed : sketch, task_.function, draws_.next());
      if (next && met_.insert(next->identity).second) out.push_back(*next);
      if (!next) ++refused_;
    }
    return out;
  }
  void learn(std::span<const search::candidate> measured,
             std::span<const double> seconds) override {
    for (std::size_t i = 0; i < measured.size(); ++i) {
      met_.insert(measured[i].identity);
      if (seconds[i] >= fastest_) continue;
      fastest_ = seconds[i];
      best_ = measured[i].scheduled.trace();
    }
  }
  std::size_t refused() const override { return refused_; }

 private:
  search::search_task task_;
  support::random draws_{0};
  trace best_;
  double fastest_ = INFINITY;
  std::set<support::hash128> met_;
  std::size_t refused_ = 0;
};

/// Believes in vectors and in staged operands, and in nothing else.
std::vector<double> belief(const std::vector<search::candidate>& all) {
  std::vector<double> out;
  for (const search::candidate& c : all) {
    double score = 0;
    for (const trace::step& s : c.scheduled.trace().steps())
      score += s.what->kind->name == "vectorize" ? 2 : s.what->kind->name == "cache_read" ? 1 : 0;
    out.push_back(score);
  }
  return out;
}

}  // namespace

int main() {
  constexpr std::size_t n = 128;
  std::vector<float> a(n * n, 0.5f), b(n * n, 2.0f), c(n * n);
  const auto square = [](auto& data) { return view(data.data(), {n, n}); };
  tuned_options options{.seconds = 1, .trials = 40, .database = ":memory:"};
  options.method = [](std::uint64_t) { return std::make_unique<climber>(); };
  options.model = {.score = belief, .learn = {}, .oversample = 4};
  tuned op{matmul, options};
  op(square(a), square(b), square(c));
  std::cout << op.report(square(a), square(b), square(c));
  return c[0] == static_cast<float>(n) ? 0 : 1;
}
