// When a session is over, and what ended it.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/search/progress.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/session_end.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search::detail {

/// The limits that a caller has set, beside the time, and how far a session is from each.
class session_limits {
 public:
  /// The three outlive the limits; progress is looked at whenever these are asked.
  session_limits(const session_options& o, const time_budget& budget, const progress& so_far)
      : o_(o), budget_(budget), so_far_(so_far) {}

  bool cancelled() const { return o_.cancelled && o_.cancelled->load(std::memory_order_relaxed); }
  bool over() const { return cancelled() || budget_.left_for_search() <= 0 || is_met(); }
  bool exhausted() const { return empty_rounds_ >= empty_rounds_allowed; }
  /// Like `over`, but the first candidate is measured although its search took all the time, unless
  /// a call takes long.
  bool stops() const {
    const bool soon = 2 * so_far_.best < budget_.left() + 0.1 * o_.seconds;
    return over() && (so_far_.trials > 0 || !soon || is_met() || cancelled());
  }

  session_end end() const {
    if (cancelled()) return session_end::cancelled;
    if (stopped_) return session_end::stopped;
    if (so_far_.best <= o_.target) return session_end::target;
    if (so_far_.trials >= o_.trials) return session_end::trials;
    if (so_far_.since_best >= o_.patience) return session_end::patience;
    if (nothing_to_gain()) return session_end::gain;
    return exhausted() && budget_.left_for_search() > 0 ? session_end::space : session_end::seconds;
  }
  /// Why nothing was measured, where nothing was.
  std::string absence(std::size_t sketches, const strategy& by) const {
    if (stopped_) return "a callback stopped the session";
    if (so_far_.best <= o_.target) return "the default schedule meets the target";
    if (is_met()) return "the budget has no room for one";
    if (!exhausted()) return "the time was up before the first one";
    const std::string last = by.last_refusal();
    return "none but the default schedule was found in " + std::to_string(sketches) +
           " sketches; " + std::to_string(by.refused()) + " traces were refused" +
           (last.empty() ? "" : ", the last one: " + last);
  }

  /// @name What happens in a session
  /// @{
  void stop() { stopped_ = true; }
  void note_round(bool is_empty) { empty_rounds_ = is_empty ? empty_rounds_ + 1 : 0; }
  /// @param seconds the best time after 0, 1, 2, ... trials
  void note_best(double seconds) { bests_.push_back(seconds); }
  /// @}

 private:
  static constexpr int empty_rounds_allowed = 3;

  /// Another rule than the time ends the session, or there was none from the beginning.
  bool is_met() const {
    return !(o_.seconds > 0) || stopped_ || so_far_.trials >= o_.trials ||
           so_far_.best <= o_.target || so_far_.since_best >= o_.patience || nothing_to_gain();
  }
  bool nothing_to_gain() const { return o_.gain > 0 && expected_gain(bests_) <= o_.gain; }

  const session_options& o_;
  const time_budget& budget_;
  const progress& so_far_;
  int empty_rounds_ = 0;
  bool stopped_ = false;       // by a callback
  std::vector<double> bests_;  // s, after 0, 1, 2, ... trials
};

}  // namespace tilewright::search::detail
