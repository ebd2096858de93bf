#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <tilewright/search/strategies/portfolio.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {
namespace detail {

/// Several strategies; a class that derives from it says who proposes.
class strategy_list : public strategy {
 public:
  strategy_list(const char* name, std::vector<std::unique_ptr<strategy>> members)
      : members_(std::move(members)) {
    if (members_.empty())
      throw argument_error(std::string(name) + ": it has no member (requirement 1)");
    for (const auto& m : members_)
      if (!m) throw argument_error(std::string(name) + ": a member is null (requirement 1)");
  }

  void start(const search_task& task, std::uint64_t seed) override {
    support::random seeds(seed);
    for (const auto& m : members_) m->start(task, seeds.next());
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    std::vector<candidate> out;
    asked_ = next();
    for (std::size_t i = 0; i < members_.size() && out.size() < count; ++i) {
      if (i > 0 && over && over()) break;
      const std::size_t m = (asked_ + i) % members_.size();
      for (candidate& c : members_[m]->propose(count - out.size(), over))
        if (seen_.insert(c.identity).second) out.push_back(std::move(c));
    }
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    for (const candidate& c : measured) seen_.insert(c.identity);
    for (const auto& m : members_) m->learn(measured, seconds);
    const double before = best_;
    for (const double s : seconds)
      if (s > 0) best_ = std::min(best_, s);
    learned(measured.size(), before);
  }

  std::size_t refused() const override {
    std::size_t out = 0;
    for (const auto& m : members_) out += m->refused();
    return out;
  }
  std::string last_refusal() const override { return members_[asked_]->last_refusal(); }

 protected:
  /// Who proposes now.
  virtual std::size_t next() = 0;
  /// @param before the best time before these were learned
  virtual void learned(std::size_t count, double before) = 0;

  std::vector<std::unique_ptr<strategy>> members_;
  std::set<support::hash128> seen_;
  std::size_t asked_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

class stage_list final : public strategy_list {
 public:
  stage_list(std::vector<std::unique_ptr<strategy>> members, std::size_t patience, double gain)
      : strategy_list("stages", std::move(members)), patience_(patience), gain_(gain) {}

 private:
  std::size_t next() override {
    if (since_ >= patience_) {
      now_ = (now_ + 1) % members_.size();
      since_ = 0;
    }
    return now_;
  }
  void learned(std::size_t count, double before) override {
    since_ = best_ < before * (1 - gain_) ? 0 : since_ + count;
  }

  std::size_t patience_;
  double gain_;
  std::size_t now_ = 0, since_ = 0;
};

class strategy_portfolio final : public strategy_list {
 public:
  strategy_portfolio(std::vector<std::unique_ptr<strategy>> members, double curiosity)
      : strategy_list("portfolio", std::move(members)), curiosity_(curiosity) {
    rewards_.assign(members_.size(), 0);
    turns_.assign(members_.size(), 0);
  }

 private:
  std::size_t next() override {
    double whole = 0;
    for (const double t : turns_) whole += t;
    std::size_t out = 0;
    double highest = -1;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (turns_[m] == 0) return m;
      const double bound =
          rewards_[m] / turns_[m] + curiosity_ * std::sqrt(std::log(whole + 1) / turns_[m]);
      if (bound > highest) {
        highest = bound;
        out = m;
      }
    }
    return out;
  }

  /// A reward is how much faster the best program became: 1 for twice as fast or more.
  void learned(std::size_t, double before) override {
    constexpr double memory = 0.9;  // what worked at the beginning need not work at the end
    for (std::size_t m = 0; m < members_.size(); ++m) {
      rewards_[m] *= memory;
      turns_[m] *= memory;
    }
    ++turns_[asked_];
    if (std::isfinite(before)) rewards_[asked_] += std::clamp(std::log2(before / best_), 0.0, 1.0);
  }

  double curiosity_;
  std::vector<double> rewards_, turns_;  // of late, by member
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> stages(std::vector<std::unique_ptr<strategy>> members,
                                                   std::size_t patience, double gain) {
  return std::make_unique<detail::stage_list>(std::move(members), patience, gain);
}

TILEWRIGHT_INLINE std::unique_ptr<strategy> portfolio(
    std::vector<std::unique_ptr<strategy>> members, double curiosity) {
  return std::make_unique<detail::strategy_portfolio>(std::move(members), curiosity);
}

}  // namespace tilewright::search
