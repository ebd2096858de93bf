#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <tilewright/search/strategies/adaptive.hpp>
#include <tilewright/search/trace_coordinates.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {
namespace detail {

/// Groups of points around their middles, by Lloyd's steps from far apart starts (k-means++).
struct clusters {
  std::vector<std::vector<double>> middles;
  double loss = 0;  // sum of the squared distances to the nearest middle

  static double square(const std::vector<double>& a, const std::vector<double>& b) {
    double out = 0;
    for (std::size_t i = 0; i < a.size(); ++i) out += (a[i] - b[i]) * (a[i] - b[i]);
    return out;
  }

  std::size_t nearest(const std::vector<double>& p) const {
    std::size_t out = 0;
    for (std::size_t m = 1; m < middles.size(); ++m)
      if (square(p, middles[m]) < square(p, middles[out])) out = m;
    return out;
  }

  static clusters of(const std::vector<std::vector<double>>& points, std::size_t k, int sweeps,
                     support::random& r) {
    clusters out;
    out.middles.push_back(points[r.below(points.size())]);
    while (out.middles.size() < k) {  // the point that lies farthest from all middles
      std::size_t farthest = 0;
      double most = -1;
      for (std::size_t i = 0; i < points.size(); ++i)
        if (const double d = square(points[i], out.middles[out.nearest(points[i])]); d > most) {
          most = d;
          farthest = i;
        }
      out.middles.push_back(points[farthest]);
    }
    for (int s = 0; s < sweeps; ++s) out.centre(points);
    for (const auto& p : points) out.loss += square(p, out.middles[out.nearest(p)]);
    return out;
  }

 private:
  void centre(const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> sums(middles.size(),
                                          std::vector<double>(points[0].size(), 0.0));
    std::vector<double> counts(middles.size(), 0.0);
    for (const auto& p : points) {
      const std::size_t m = nearest(p);
      ++counts[m];
      for (std::size_t i = 0; i < p.size(); ++i) sums[m][i] += p[i];
    }
    for (std::size_t m = 0; m < middles.size(); ++m)
      for (std::size_t i = 0; i < sums[m].size() && counts[m] > 0; ++i)
        middles[m][i] = sums[m][i] / counts[m];
  }
};

class adaptive_sampler final : public strategy {
 public:
  adaptive_sampler(std::unique_ptr<strategy> inner, const adaptive_options& options)
      : inner_(std::move(inner)), options_(options) {
    if (!inner_) throw argument_error("adaptive: there is no strategy to thin out");
  }

  void start(const search_task& task, std::uint64_t seed) override {
    inner_->start(task, seed);
    random_ = support::random(seed).split();
    coordinates_.emplace(task.sketches);
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    const std::size_t wanted = std::max<std::size_t>(options_.oversample, 1) * count;
    if (waiting_.size() < wanted)
      for (candidate& c : inner_->propose(wanted - waiting_.size(), over)) {
        point_of(c);
        waiting_.push_back(std::move(c));
      }
    if (waiting_.size() <= count) return taken_all();
    const clusters best = chosen(count);
    std::vector<candidate> out;
    for (const auto& middle : best.middles) {
      std::size_t at = 0;
      for (std::size_t i = 1; i < points_.size(); ++i)
        if (clusters::square(points_[i], middle) < clusters::square(points_[at], middle)) at = i;
      out.push_back(std::move(waiting_[at]));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
      points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    // older ones were proposed when less was known
    const std::size_t kept = std::min(waiting_.size(), wanted / 2);
    waiting_.erase(waiting_.begin(), waiting_.end() - static_cast<std::ptrdiff_t>(kept));
    points_.erase(points_.begin(), points_.end() - static_cast<std::ptrdiff_t>(kept));
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    inner_->learn(measured, seconds);
    for (const candidate& c : measured)
      for (std::size_t i = waiting_.size(); i-- > 0;)
        if (waiting_[i].identity == c.identity) {
          waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
          points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(i));
        }
  }
  std::size_t refused() const override { return inner_->refused(); }
  std::string last_refusal() const override { return inner_->last_refusal(); }
  std::string remark() const override { return inner_->remark(); }

 private:
  void point_of(const candidate& c) {
    const cost::mixed_point p = coordinates_->of(c.scheduled.trace());
    std::vector<double> x = p.ordered;
    // another category is as far away as the other end of a coordinate
    for (const std::int64_t category : p.categories) x.push_back(static_cast<double>(category));
    points_.push_back(std::move(x));
  }

  std::vector<candidate> taken_all() {
    std::vector<candidate> out = std::move(waiting_);
    waiting_.clear();
    points_.clear();
    return out;
  }

  /// More groups until one more saves little: the knee of the loss.
  clusters chosen(std::size_t most) {
    const std::size_t least = std::max<std::size_t>(most / 2, 1);
    clusters out = clusters::of(points_, least, options_.sweeps, random_);
    const double whole = clusters::of(points_, 1, 1, random_).loss;
    for (std::size_t k = least + 1; k <= most; ++k) {
      clusters next = clusters::of(points_, k, options_.sweeps, random_);
      if (out.loss - next.loss < options_.knee * whole) break;
      out = std::move(next);
    }
    return out;
  }

  std::unique_ptr<strategy> inner_;
  adaptive_options options_;
  support::random random_{0};
  std::optional<trace_coordinates> coordinates_;
  std::vector<candidate> waiting_;
  std::vector<std::vector<double>> points_;  // [waiting_]
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> adaptive(std::unique_ptr<strategy> inner,
                                                     const adaptive_options& options) {
  return std::make_unique<detail::adaptive_sampler>(std::move(inner), options);
}

}  // namespace tilewright::search
