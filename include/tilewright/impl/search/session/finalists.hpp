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
#include <tilewright/support/find.hpp>

namespace tilewright::search::detail {

struct finalist {
  std::string trace;
  built code;
  double seconds;
  const argument_form* form = nullptr;  // of the arguments that it takes; null: the workload's
  bool known = false;                   // it was known to be good before the session
};

/// No more than so many of them; the slowest makes room for the next. What was known before stays, and so does the
/// fastest of each form of the arguments, whatever their number: a form has to beat the others in the last round, and a single time that something
/// disturbed decides about none.
class finalists {
 public:
  explicit finalists(int most) : most_(static_cast<std::size_t>(std::max(most, 1))) {}

  std::size_t most() const { return most_; }
  std::size_t size() const { return list_.size(); }

  void add(finalist f) {
    list_.push_back(std::move(f));
    if (list_.size() <= most_) return;
    auto slowest = list_.end();
    for (auto at = list_.begin(); at != list_.end(); ++at)
      if (!at->known && !is_first_of_form(*at) &&
          (slowest == list_.end() || slowest->seconds < at->seconds))
        slowest = at;
    if (slowest != list_.end()) list_.erase(slowest);
  }

  /// The time of the fastest of a form; infinity: there is none. // s
  double seconds_of(const argument_form* form) const {
    double out = std::numeric_limits<double>::infinity();
    for (const finalist& f : list_)
      if (f.form == form) out = std::min(out, f.seconds);
    return out;
  }

  /// Without those whose forms came to be known as slow.
  template <class Behind>
  void leave_out(const Behind& is_behind) {
    std::erase_if(list_, [&](const finalist& f) { return is_behind(f.form); });
  }

  /// The default schedule and they, for the last round. The code stays theirs.
  std::vector<contestant> beside(contestant baseline) const {
    std::vector<contestant> out{std::move(baseline)};
    for (const finalist& f : list_) out.push_back({&f.code, f.seconds, f.trace, f.form});
    return out;
  }

 private:
  /// The one that was added first, of several that are as fast.
  bool is_first_of_form(const finalist& f) const {
    const auto first = support::find(list_, [&](const finalist& other) {
      return other.form == f.form && other.seconds == seconds_of(f.form);
    });
    return &*first == &f;
  }

  std::size_t most_;
  std::vector<finalist> list_;
};

}  // namespace tilewright::search::detail
