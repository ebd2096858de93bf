// Compares what schedules compute with the program, in exact arithmetic, in a share of a session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <tilewright/impl/search/session/form_times.hpp>
#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search::detail {

struct examination {
  bool differs = false;
  std::string text;  // where, or else what record::checked says
};

/// All examinations together take no more than a twentieth of the session, and no more than 5 s.
class examiner {
 public:
  /// The workload, the forms of its arguments and the budget outlive the examiner.
  /// @param seconds of the session
  examiner(const workload& w, const form_times& forms, const time_budget& budget,
           std::uint64_t seed, double seconds)
      : w_(w),
        forms_(forms),
        budget_(budget),
        seed_(seed),
        left_(std::min(share * seconds, most)) {}

  /// What exact arithmetic says about a schedule, where it can be asked.
  examination examine(const std::string& text) {
    if (forms_.any() && forms_.of(trace::parse(text)))
      return {false, "tested: it takes its arguments in another form than the program"};
    const support::stage now("verify");
    using result = exact_comparison::result;
    std::string at;
    const double before = budget_.elapsed();
    const exact_comparison c = prove(w_, text, seed_, left_, &at);
    left_ -= budget_.elapsed() - before;
    switch (c.is) {
      case result::different: return {true, "at " + at + ", " + c.text};
      case result::equal: return {false, "proved at " + at + ", in arithmetic modulo 2^61 - 1"};
      case result::unknown: break;
    }
    return {false, "tested: " + c.text};
  }

 private:
  static constexpr double share = 0.05, most = 5;  // s

  const workload& w_;
  const form_times& forms_;
  const time_budget& budget_;
  std::uint64_t seed_;
  double left_;  // s
};

}  // namespace tilewright::search::detail
