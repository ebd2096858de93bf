// The forms of the arguments of a session, how fast candidates of each have been, and which are far behind.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/search/argument_forms.hpp>

namespace tilewright::search::detail {

/// A form is behind when a few of its candidates were measured and none came near the best of all: what is
/// left of the time belongs to the others. The workload's own form (null) is one like them.
class form_times {
 public:
  /// The forms outlive this.
  explicit form_times(const std::vector<argument_form>& forms) : forms_(forms) {}

  bool any() const { return !forms_.empty(); }
  const std::vector<argument_form>& all() const { return forms_; }
  /// The form that a schedule takes; null: the workload's own.
  const argument_form* of(const trace& t) const {
    if (forms_.empty()) return nullptr;
    const std::string name = chosen_algorithm(t).name;
    for (const argument_form& form : forms_)
      if (form.algorithm == name) return &form;
    return nullptr;
  }

  void note(const argument_form* form, double seconds) {
    entry& e = times_[form];
    ++e.count;
    e.best = std::min(e.best, seconds);
  }
  /// Candidates of a form that is behind are not measured any more; of one that had many and is still slower than the
  /// best by more than two times of one candidate differ, none are either.
  bool gets_no_more(const argument_form* form, double best) const {
    const auto found = times_.find(form);
    return is_behind(form, best) || (found != times_.end() && found->second.count >= many &&
                                     found->second.best > near * best);
  }
  bool is_behind(const argument_form* form, double best) const {
    const auto found = times_.find(form);
    return found != times_.end() && found->second.count >= few && found->second.best > far * best;
  }
  /// A form may win as long as its candidates are not far behind; of few times each may have been disturbed.
  bool may_win(const argument_form* form, double seconds, double best) const {
    const auto found = times_.find(form);
    const bool is_known = found != times_.end() && found->second.count >= few;
    return seconds < (is_known ? far : disturbed) * best;
  }

 private:
  static constexpr int few = 6, many = 16;          // candidates
  static constexpr double far = 1.25, near = 1.08;  // times the best
  static constexpr double disturbed = 4;
  struct entry {
    int count = 0;
    double best = std::numeric_limits<double>::infinity();  // s
  };
  const std::vector<argument_form>& forms_;
  std::map<const argument_form*, entry> times_;
};

}  // namespace tilewright::search::detail
