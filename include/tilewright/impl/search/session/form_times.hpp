// How fast candidates of each form of the arguments have been, and which forms are far behind.
#pragma once

#include <algorithm>
#include <limits>
#include <map>

#include <tilewright/search/argument_forms.hpp>

namespace tilewright::search::detail {

/// A form is behind when a few of its candidates were measured and none came near the best of all: what is
/// left of the time belongs to the others. The workload's own form (null) is one like them.
class form_times {
 public:
  void note(const argument_form* form, double seconds) {
    entry& e = all_[form];
    ++e.count;
    e.best = std::min(e.best, seconds);
  }
  bool is_behind(const argument_form* form, double best) const {
    const auto found = all_.find(form);
    return found != all_.end() && found->second.count >= few && found->second.best > far * best;
  }
  /// A form may win as long as its candidates are not far behind; of few times each may have been disturbed.
  bool may_win(const argument_form* form, double seconds, double best) const {
    const auto found = all_.find(form);
    const bool is_known = found != all_.end() && found->second.count >= few;
    return seconds < (is_known ? far : disturbed) * best;
  }

 private:
  static constexpr int few = 6;        // candidates
  static constexpr double far = 1.25;  // times the best
  static constexpr double disturbed = 4;
  struct entry {
    int count = 0;
    double best = std::numeric_limits<double>::infinity();  // s
  };
  std::map<const argument_form*, entry> all_;
};

}  // namespace tilewright::search::detail
