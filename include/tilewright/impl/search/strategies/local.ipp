#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

class local_searcher final : public drawing_strategy {
 public:
  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    const bool first = rounds_++ == 0;
    return collect(count, over, [&](support::random r) { return step(r, first); });
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (std::isfinite(seconds[i]))
        parents_.push_back({measured[i].scheduled.trace(), seconds[i]});
    support::stable_sort(parents_,
                         [](const parent& a, const parent& b) { return a.seconds < b.seconds; });
    if (parents_.size() > parents_kept) parents_.resize(parents_kept);
  }

 private:
  static constexpr std::size_t parents_kept = 24;
  struct parent {
    tilewright::trace trace;
    double seconds;
  };

  /// Draws the same numbers whether or not it succeeds.
  std::optional<candidate> step(support::random r, bool first) {
    if (parents_.size() < 4 || first || r.below(5) == 0) return fresh(r);
    // the better half is twice as likely, in steps
    const std::size_t a = r.below(parents_.size()), b = r.below(parents_.size());
    std::optional<trace> t = parents_[std::min(a, b)].trace;
    for (int changes = r.below(3) == 0 ? 2 : 1; t && changes > 0; --changes) t = mutate(*t, r);
    return t ? replayed(*t, r) : fresh(r);
  }

  std::vector<parent> parents_;
  int rounds_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> local_search() {
  return std::make_unique<detail::local_searcher>();
}

}  // namespace tilewright::search
