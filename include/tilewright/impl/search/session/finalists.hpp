// The fastest candidates that a session has verified, with their code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/measurement/final_timing.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/measurement/builder.hpp>

namespace tilewright::search::detail {

struct finalist {
  std::string trace;
  built code;
  double seconds;
  const argument_form* form = nullptr;  // of the arguments that it takes; null: the workload's
};

/// No more than so many of them; the slowest makes room for the next. Of those that take the workload's own
/// arguments the fastest stays, so that what takes another form has to beat it in the last round.
class finalists {
 public:
  explicit finalists(int most) : most_(static_cast<std::size_t>(std::max(most, 1))) {}

  std::size_t most() const { return most_; }
  std::size_t size() const { return list_.size(); }

  void add(finalist f) {
    list_.push_back(std::move(f));
    if (list_.size() <= most_) return;
    const auto faster = [](const finalist& x, const finalist& y) { return x.seconds < y.seconds; };
    const std::size_t own = fastest_of_own();
    auto slowest = list_.end();
    for (auto at = list_.begin(); at != list_.end(); ++at)
      if (static_cast<std::size_t>(at - list_.begin()) != own &&
          (slowest == list_.end() || faster(*slowest, *at)))
        slowest = at;
    if (slowest != list_.end() && most_ > 1)
      list_.erase(slowest);
    else
      list_.erase(std::max_element(list_.begin(), list_.end(), faster));
  }

  /// The time of the fastest that takes the workload's own arguments; infinity: there is none. // s
  double own_seconds() const {
    const std::size_t own = fastest_of_own();
    return own < list_.size() ? list_[own].seconds : std::numeric_limits<double>::infinity();
  }

  /// The default schedule and they, for the last round. The code stays theirs.
  std::vector<contestant> beside(contestant baseline) const {
    std::vector<contestant> out{std::move(baseline)};
    for (const finalist& f : list_) out.push_back({&f.code, f.seconds, f.trace, f.form});
    return out;
  }

 private:
  /// Its number; that of all of them where there is none.
  std::size_t fastest_of_own() const {
    std::size_t out = list_.size();
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (!list_[i].form && (out == list_.size() || list_[i].seconds < list_[out].seconds)) out = i;
    return out;
  }

  std::size_t most_;
  std::vector<finalist> list_;
};

}  // namespace tilewright::search::detail
