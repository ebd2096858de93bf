#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <tilewright/impl/cost/standardization.hpp>
#include <tilewright/impl/search/strategies/batch_improvement.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/impl/search/strategies/sample_maker.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/strategies/bayesian.hpp>
#include <tilewright/search/trace_coordinates.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

using cost::detail::standardization;

/// y = slope * x + intercept by least squares, the slope not below 0: a model that ranks the wrong
/// way round is of no use.
struct scaling {
  double slope = 0, intercept = 0;

  static scaling of(const std::vector<double>& x, const std::vector<double>& y) {
    const standardization sx = standardization::of(x), sy = standardization::of(y);
    double product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) product += sx(x[i]) * sy(y[i]);
    scaling out;
    // a slope that few points support is drawn towards 0
    out.slope =
        std::max(product / static_cast<double>(x.size() + 4), 0.0) * sy.deviation / sx.deviation;
    out.intercept = sy.mean - out.slope * sx.mean;
    return out;
  }
  double operator()(double x) const { return slope * x + intercept; }
};

inline double square_distance(const cost::mixed_point& a, const cost::mixed_point& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.ordered.size(); ++i)
    out += (a.ordered[i] - b.ordered[i]) * (a.ordered[i] - b.ordered[i]);
  for (std::size_t i = 0; i < a.categories.size(); ++i)
    out += a.categories[i] != b.categories[i] ? 1 : 0;
  return out;
}

class bayesian_searcher final : public drawing_strategy {
 public:
  bayesian_searcher(std::shared_ptr<cost::model> model, const bayesian_options& options)
      : model_(std::move(model)),
        options_(options),
        process_(options.process),
        feasible_(options.process) {}

  void start(const search_task& task, std::uint64_t seed) override {
    drawing_strategy::start(task, seed);
    shown_ = sample_maker(model_.get(), task.function);
    coordinates_.emplace(task_.sketches);
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    if (valid_.size() < std::max<std::size_t>(options_.first, 2)) return first_picks(count, over);
    pool_.clear();
    of_scores() ? fit_scores(over) : fit();
    fit_feasibility();
    gather(over);
    for (int round = 0; round < options_.rounds && !(over && over()); ++round) refine(over);
    return picks(count);
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      point p{measured[i], coordinates_->of(measured[i].scheduled.trace()), 0};
      if (std::isfinite(seconds[i]) && seconds[i] > 0) {
        p.value = -std::log(seconds[i]);
        valid_.push_back(std::move(p));
      } else {
        failed_.push_back(std::move(p.at));
      }
    }
    if (model_) model_->update(shown_(measured, seconds));
  }

 private:
  /// A measured program; `value` is the logarithm of its throughput.
  struct point {
    candidate program;
    cost::mixed_point at;
    double value;
  };
  /// A program that may be proposed; `mean` is what the model says of it, on the scale of values.
  struct option {
    candidate program;
    cost::mixed_point at;
    double mean = 0;
    double log_validity = 0;  // of the probability that it is valid
    double gain = 0;          // logarithm of the expected improvement times the validity
    bool taken = false;
  };

  std::vector<double> model_scores(const std::vector<const candidate*>& list) {
    if (!model_ || list.empty()) return std::vector<double>(list.size(), 0.0);
    return model_->predict(shown_(list));
  }

  /// Before there are values: what the model ranks first among draws, else the draws themselves.
  std::vector<candidate> first_picks(std::size_t count, const std::function<bool()>& over) {
    if (!model_) return collect(count, over, [&](support::random r) { return fresh(r); });
    std::vector<option> pool;
    std::set<support::hash128> met;
    for (std::size_t i = 0; i < options_.drawn && !(over && over()); ++i) {
      std::optional<candidate> c = fresh(random_.split());
      if (!c)
        ++refused_;
      else if (seen_.count(c->identity) == 0 && met.insert(c->identity).second)
        pool.push_back({std::move(*c), {}});
    }
    std::vector<const candidate*> list;
    for (const option& o : pool) list.push_back(&o.program);
    const std::vector<double> scores = model_scores(list);
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i].gain = scores[i];
    support::stable_sort(pool, [](const option& a, const option& b) { return a.gain > b.gain; });
    std::vector<candidate> out;
    for (std::size_t i = 0; i < pool.size() && out.size() < count; ++i) take(pool[i], out);
    return out;
  }

  /// The points of the process: all of them, or the fastest quarter and the latest of the others.
  std::vector<std::size_t> chosen_points() const {
    std::vector<std::size_t> all(valid_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (all.size() <= options_.most_points) return all;
    support::stable_sort(
        all, [&](std::size_t a, std::size_t b) { return valid_[a].value > valid_[b].value; });
    const auto fast = static_cast<std::ptrdiff_t>(options_.most_points / 4);
    std::vector<std::size_t> rest(all.begin() + fast, all.end());
    std::sort(rest.begin(), rest.end());
    all.resize(options_.most_points / 4);
    all.insert(all.end(),
               rest.end() - static_cast<std::ptrdiff_t>(options_.most_points - all.size()),
               rest.end());
    return all;
  }

  void fit() {
    const std::vector<std::size_t> points = chosen_points();
    std::vector<const candidate*> programs;
    std::vector<double> y;
    std::vector<cost::mixed_point> x;
    for (const std::size_t i : points) {
      programs.push_back(&valid_[i].program);
      y.push_back(valid_[i].value);
      x.push_back(valid_[i].at);
    }
    units_ = standardization::of(y);
    for (double& v : y) v = units_(v);
    const std::vector<double> scores = model_scores(programs);
    mean_ = model_ ? scaling::of(scores, y) : scaling{};
    std::vector<double> rest(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) rest[i] = y[i] - mean_(scores[i]);
    process_.fit(x, rest);
    // the best posterior mean: a fast time may have been luck
    const std::vector<cost::belief> beliefs = process_.predict(x);
    best_ = -std::numeric_limits<double>::infinity();
    worst_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < y.size(); ++i) {
      best_ = std::max(best_, beliefs[i].mean + mean_(scores[i]));
      worst_ = std::min(worst_, y[i]);
    }
  }

  bool of_scores() const { return model_ && options_.process_of == fitted_to::scores; }

  /// The process learns what the model says of measured programs and of some drawn ones, which are the
  /// first of the pool.
  void fit_scores(const std::function<bool()>& over) {
    for (std::size_t i = 0; i < options_.scored && !(over && over()); ++i)
      offer(fresh(random_.split()));
    std::vector<const candidate*> programs;
    std::vector<cost::mixed_point> x;
    for (const std::size_t i : chosen_points()) {
      programs.push_back(&valid_[i].program);
      x.push_back(valid_[i].at);
    }
    for (const option& o : pool_) {
      programs.push_back(&o.program);
      x.push_back(o.at);
    }
    std::vector<double> y = model_scores(programs);
    units_ = standardization::of(y);
    for (double& v : y) v = units_(v);
    mean_ = {};
    process_.fit(x, y);
    best_ = -std::numeric_limits<double>::infinity();
    for (const cost::belief& b : process_.predict(x)) best_ = std::max(best_, b.mean);
    worst_ = *std::min_element(y.begin(), y.end());
  }

  /// Learns which programs fail, from the latest ones of both sorts.
  void fit_feasibility() {
    if (failed_.empty()) return;
    std::vector<cost::mixed_point> x;
    std::vector<double> y;
    const std::size_t most = options_.most_points / 2;
    for (std::size_t i = valid_.size() - std::min(valid_.size(), most); i < valid_.size(); ++i) {
      x.push_back(valid_[i].at);
      y.push_back(1);
    }
    for (std::size_t i = failed_.size() - std::min(failed_.size(), most); i < failed_.size(); ++i) {
      x.push_back(failed_[i]);
      y.push_back(-1);
    }
    feasible_.fit(x, y);
  }

  /// Logarithms of the probability that each point is a valid program.
  std::vector<double> log_validity(std::span<const cost::mixed_point> x) const {
    std::vector<double> out(x.size(), 0.0);
    if (failed_.empty()) return out;
    const std::vector<cost::belief> beliefs = feasible_.predict(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      out[i] = std::log(std::max(
          0.5 * std::erfc(-beliefs[i].mean / std::max(beliefs[i].deviation * std::sqrt(2.0), 0.1)),
          1e-3));
    return out;
  }

  /// Draws, and changes of the fastest measured programs.
  void gather(const std::function<bool()>& over) {
    for (std::size_t i = 0; i < options_.drawn && !(over && over()); ++i)
      offer(fresh(random_.split()));
    std::vector<const point*> fast;
    for (const point& p : valid_) fast.push_back(&p);
    support::stable_sort(fast, [](const point* a, const point* b) { return a->value > b->value; });
    fast.resize(std::min(fast.size(), options_.parents));
    for (std::size_t i = 0; i < options_.changed && !(over && over()); ++i)
      offer(changed(fast[i % fast.size()]->program));
    assess(0);
  }

  /// Changes of what promises most.
  void refine(const std::function<bool()>& over) {
    std::vector<std::size_t> order(pool_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    support::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return pool_[a].gain > pool_[b].gain; });
    order.resize(std::min(order.size(), options_.leaders));
    const std::size_t before = pool_.size();
    std::vector<candidate> leaders;
    for (const std::size_t i : order) leaders.push_back(pool_[i].program);
    for (const candidate& c : leaders)
      if (!(over && over())) offer(changed(c));
    assess(before);
  }

  std::optional<candidate> changed(const candidate& from) {
    support::random r = random_.split();
    const std::optional<trace> t = mutate_by(mutators(), from.scheduled.trace(), task_.function, r);
    return t ? replayed(*t, r) : std::nullopt;
  }

  void offer(std::optional<candidate> c) {
    if (!c) {
      ++refused_;
      return;
    }
    if (seen_.count(c->identity) != 0) return;
    for (const option& o : pool_)
      if (o.program.identity == c->identity) return;
    cost::mixed_point at = coordinates_->of(c->scheduled.trace());
    pool_.push_back({std::move(*c), std::move(at)});
  }

  /// Means, validity and gains of the pool from `first` on.
  void assess(std::size_t first) {
    std::vector<const candidate*> programs;
    std::vector<cost::mixed_point> x;
    for (std::size_t i = first; i < pool_.size(); ++i) {
      programs.push_back(&pool_[i].program);
      x.push_back(pool_[i].at);
    }
    const std::vector<double> scores =
        of_scores() ? std::vector<double>(programs.size(), 0.0) : model_scores(programs);
    const std::vector<cost::belief> beliefs = process_.predict(x);
    const std::vector<double> valid = log_validity(x);
    for (std::size_t i = first; i < pool_.size(); ++i) {
      pool_[i].mean = mean_(scores[i - first]);
      pool_[i].log_validity = valid[i - first];
      pool_[i].gain = gain(pool_[i], beliefs[i - first]);
    }
  }

  double gain(const option& o, const cost::belief& b) const {
    return log_expected_improvement(o.mean + b.mean, b.deviation, best_ + options_.margin) +
           o.log_validity;
  }

  void take(const option& o, std::vector<candidate>& out) {
    if (seen_.insert(o.program.identity).second) out.push_back(o.program);
  }

  std::vector<candidate> picks(std::size_t count) {
    if (options_.fantasy == fantasy::joint) return joint_picks(count);
    std::vector<candidate> out;
    cost::gaussian_process::pool beliefs = pool_beliefs();
    std::vector<std::size_t> picked;
    while (out.size() < count && picked.size() < pool_.size()) {
      const std::size_t i = by_chance() ? any_left() : best_left(beliefs.beliefs(), picked);
      picked.push_back(i);
      pick(i, out);
      if (options_.fantasy == fantasy::believer) beliefs.pretend(i, beliefs.beliefs()[i].mean);
      if (options_.fantasy == fantasy::liar) beliefs.pretend(i, worst_ - pool_[i].mean);
    }
    return out;
  }

  std::vector<candidate> joint_picks(std::size_t count) {
    std::vector<candidate> out;
    cost::gaussian_process::pool beliefs = pool_beliefs();
    std::vector<double> means;
    for (std::size_t i = 0; i < pool_.size(); ++i)
      means.push_back(pool_[i].mean + beliefs.beliefs()[i].mean);
    batch_improvement batch(std::move(means), best_ + options_.margin, options_.samples,
                            random_.split());
    for (std::size_t n = 0; out.size() < count && n < pool_.size(); ++n) {
      const std::size_t i = by_chance() ? any_left() : best_of(batch, beliefs.beliefs());
      pick(i, out);
      batch.add(i, beliefs.settle(i));
    }
    return out;
  }

  std::size_t best_of(const batch_improvement& batch,
                      const std::vector<cost::belief>& beliefs) const {
    std::size_t out = pool_.size();
    double highest = 0;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i].taken) continue;
      const double g = batch.log_gain(i, beliefs[i].deviation) + pool_[i].log_validity;
      if (out != pool_.size() && !(g > highest)) continue;
      out = i;
      highest = g;
    }
    return out;
  }

  cost::gaussian_process::pool pool_beliefs() const {
    std::vector<cost::mixed_point> x;
    for (const option& o : pool_) x.push_back(o.at);
    return process_.over(x);
  }

  bool by_chance() {
    return random_.below(1000000) < static_cast<std::uint64_t>(options_.random_share * 1e6);
  }

  void pick(std::size_t i, std::vector<candidate>& out) {
    pool_[i].taken = true;
    take(pool_[i], out);
  }

  std::size_t any_left() {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (!pool_[i].taken) left.push_back(i);
    return left[random_.below(left.size())];
  }

  std::size_t best_left(const std::vector<cost::belief>& beliefs,
                        const std::vector<std::size_t>& picked) const {
    std::size_t out = pool_.size();
    double highest = 0;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i].taken) continue;
      double g = gain(pool_[i], beliefs[i]);
      if (options_.fantasy == fantasy::penalization)
        for (const std::size_t p : picked) g += log_penalty(pool_[i], pool_[p], beliefs[p]);
      if (out == pool_.size() || g > highest) {
        out = i;
        highest = g;
      }
    }
    return out;
  }

  /// Local penalization (Gonzalez et al., AISTATS 2016): the probability that a point lies outside
  /// of the ball around a pick in which, by a Lipschitz constant of 1 deviation per unit, no better
  /// value can be.
  double log_penalty(const option& o, const option& pick, const cost::belief& b) const {
    const double distance = std::sqrt(square_distance(o.at, pick.at));
    const double z =
        (distance - best_ + pick.mean + b.mean) / (std::sqrt(2.0) * std::max(b.deviation, 1e-6));
    return std::log(std::max(0.5 * std::erfc(-z), 1e-300));
  }

  std::shared_ptr<cost::model> model_;
  bayesian_options options_;
  cost::gaussian_process process_;   // of values without the model's part
  cost::gaussian_process feasible_;  // of 1 for a valid program and -1 for a failed one
  sample_maker shown_;
  std::optional<trace_coordinates> coordinates_;
  std::vector<point> valid_;
  std::vector<cost::mixed_point> failed_;
  std::vector<option> pool_;
  standardization units_;
  scaling mean_;
  double best_ = 0, worst_ = 0;  // standardized
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> bayesian(std::shared_ptr<cost::model> model,
                                                     const bayesian_options& options) {
  return std::make_unique<detail::bayesian_searcher>(std::move(model), options);
}

/// EI = sigma (phi(u) + u Phi(u)). Far below `best` the two terms cancel; there the asymptotic
/// series phi(u) / u^2 (1 - 3 / u^2 + 15 / u^4) takes their place, with a relative error below
/// 105 / u^6.
TILEWRIGHT_INLINE double log_expected_improvement(double mean, double deviation, double best) {
  constexpr double log_root = 0.91893853320467274;  // log(sqrt(2 pi))
  if (!(deviation > 0))
    return mean > best ? std::log(mean - best) : -std::numeric_limits<double>::infinity();
  const double u = (mean - best) / deviation;
  if (u > -8) {
    const double density = std::exp(-0.5 * u * u - log_root);
    const double below = 0.5 * std::erfc(-u * 0.70710678118654752);
    return std::log(deviation) + std::log(density + u * below);
  }
  const double w = 1 / (u * u);
  return std::log(deviation) - 0.5 * u * u - log_root + std::log(w) + std::log1p(w * (-3 + 15 * w));
}

}  // namespace tilewright::search
