#pragma once

#include <set>
#include <string>
#include <utility>

#include <tilewright/search/enumeration.hpp>
#include <tilewright/search/strategies/exhaustive.hpp>

namespace tilewright::search {
namespace detail {

class exhaustive_searcher final : public strategy {
 public:
  exhaustive_searcher(std::size_t most, std::function<std::unique_ptr<strategy>()> otherwise)
      : most_(most), make_(std::move(otherwise)) {}

  void start(const search_task& task, std::uint64_t seed) override {
    size_ = count_members(task.function, task.sketches, task.finish, most_);
    if (size_.complete) {
      all_.emplace(task.function, task.sketches, task.finish);
      return;
    }
    otherwise_ = make_ ? make_() : make_strategy("evolutionary", seed);
    otherwise_->start(task, seed);
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    if (!all_) return otherwise_->propose(count, over);
    std::vector<candidate> out;
    while (out.size() < count) {
      std::optional<candidate> c = all_->next(over);
      if (!c) break;
      if (seen_.insert(c->identity).second) out.push_back(std::move(*c));
    }
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    if (!all_) return otherwise_->learn(measured, seconds);
    for (const candidate& c : measured) seen_.insert(c.identity);
  }
  /// What a primitive refuses is no failure here: it is not in the space.
  std::size_t refused() const override { return all_ ? 0 : otherwise_->refused(); }
  std::string last_refusal() const override {
    return all_ ? std::string() : otherwise_->last_refusal();
  }
  std::string remark() const override {
    if (!size_.complete)
      return "the space has more than " + std::to_string(size_.members) +
             " members, too many to try all";
    return "the space has " + std::to_string(size_.programs) +
           " programs, of which the default schedule is no trial: " +
           std::to_string(size_.members) + " members of " + std::to_string(size_.sketches) +
           " sketches";
  }

 private:
  std::size_t most_;
  std::function<std::unique_ptr<strategy>()> make_;
  std::unique_ptr<strategy> otherwise_;  // null where all are tried
  space_size size_;
  std::optional<enumeration> all_;
  std::set<support::hash128> seen_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> exhaustive(
    std::size_t most, std::function<std::unique_ptr<strategy>()> otherwise) {
  return std::make_unique<detail::exhaustive_searcher>(most, std::move(otherwise));
}

}  // namespace tilewright::search
