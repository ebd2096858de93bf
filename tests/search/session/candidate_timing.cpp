#include <tilewright/impl/search/session/candidate_timing.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
using search::detail::time_budget, search::detail::timing_of_candidate;

TEST_CASE(
    "a candidate has twenty times the default's time, or what is asked for, while the session "
    "lasts") {
  const time_budget long_one(1000);
  search::measuring_options measuring;
  CHECK(timing_of_candidate(measuring, long_one, 0.1, 0.05).options.deadline == 2);
  CHECK(timing_of_candidate(measuring, long_one, 1e-6, 1e-6).options.deadline == 1);
  CHECK_FALSE(timing_of_candidate(measuring, long_one, 0.1, 0.05).ends_with_session);
  CHECK(timing_of_candidate(measuring, long_one, 0.1, 0.05).options.best == 0.05);
  measuring.run_deadline = 7;
  CHECK(timing_of_candidate(measuring, long_one, 0.1, 0.05).options.deadline == 7);
  const auto late = timing_of_candidate(measuring, time_budget(0), 0.1, 0.05);
  CHECK(late.ends_with_session);
  CHECK(late.options.deadline == 0);
}

TEST_CASE("a call of which the budget has room for few is not repeated") {
  CHECK(timing_of_candidate({}, time_budget(1), 0.1, 0.1).options.most_repeats == 0);
  CHECK(timing_of_candidate({}, time_budget(1000), 0.1, 0.1).options.most_repeats != 0);
}
