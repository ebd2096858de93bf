// The bench of a session, whose work is charged to the stage of the session that it belongs to.
#pragma once

#include <functional>
#include <vector>

#include <tilewright/impl/search/measurement/final_timing.hpp>
#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/impl/support/stage_clock.hpp>

namespace tilewright::search::detail {

/// A call, and whether its outputs are known to be as expected.
struct checked_call {
  measurement what;
  bool compared = false;
};

/// As the bench, which outlives this.
class timed_bench {
 public:
  explicit timed_bench(test_bench& bench) : bench_(bench) {}

  built make(const ir::function& scheduled) const {
    const support::stage at("compile");
    return bench_.make(scheduled);
  }
  /// One call on fresh outputs. // deadline: s
  measurement run(const built& b, double deadline) {
    const support::stage at("run");
    return bench_.run(b, deadline);
  }
  checked_call run_to_check(const built& b, const argument_form* form) {
    const support::stage at("run");
    checked_call out;
    out.what = bench_.run(b, test_bench::patience, form, &out.compared);
    return out;
  }
  measurement measure(const built& b, const measure_options& options,
                      const argument_form* form = nullptr) {
    const support::stage at("run");
    return bench_.measure(b, options, form);
  }
  /// Times of the last round of a session.
  std::vector<measurement> in_turn(const std::vector<contestant>& all, const time_budget& budget,
                                   const std::function<bool()>& cancelled) {
    const support::stage at("run");
    return timed_in_turn(bench_, all, budget, cancelled);
  }

 private:
  test_bench& bench_;
};

}  // namespace tilewright::search::detail
