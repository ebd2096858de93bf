// The fastest candidates that a session has verified, with their code.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// No more than so many of them; the slowest makes room for the next.
class finalists {
 public:
  explicit finalists(int most) : most_(static_cast<std::size_t>(std::max(most, 1))) {}

  std::size_t most() const { return most_; }
  std::size_t size() const { return list_.size(); }

  void add(finalist f) {
    list_.push_back(std::move(f));
    if (list_.size() > most_)
      list_.erase(std::max_element(
          list_.begin(), list_.end(),
          [](const finalist& x, const finalist& y) { return x.seconds < y.seconds; }));
  }

  /// The default schedule and they, for the last round. The code stays theirs.
  std::vector<contestant> beside(contestant baseline) const {
    std::vector<contestant> out{std::move(baseline)};
    for (const finalist& f : list_) out.push_back({&f.code, f.seconds, f.trace, f.form});
    return out;
  }

 private:
  std::size_t most_;
  std::vector<finalist> list_;
};

}  // namespace tilewright::search::detail
