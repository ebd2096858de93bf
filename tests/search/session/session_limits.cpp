#include <tilewright/impl/search/session/session_limits.hpp>

#include <atomic>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// A session of an hour, in which nothing has happened but that the default was timed.
struct hour {
  session_options options;
  search::detail::time_budget budget{3600};
  progress so_far;
  search::detail::session_limits limits{options, budget, so_far};

  hour() {
    options.seconds = 3600;
    so_far.best = so_far.baseline = 1;
    limits.note_best(1);
  }
};

/// Finds nothing and says why.
struct idle : strategy {
  void start(const search_task&, std::uint64_t) override {}
  std::vector<candidate> propose(std::size_t, const std::function<bool()>&) override { return {}; }
  void learn(std::span<const candidate>, std::span<const double>) override {}
  std::size_t refused() const override { return 7; }
  std::string last_refusal() const override { return "split: no"; }
};

}  // namespace

TEST_CASE("a session within its limits goes on, and would end by its time") {
  hour h;
  CHECK_FALSE(h.limits.over());
  CHECK_FALSE(h.limits.stops());
  CHECK_FALSE(h.limits.exhausted());
  CHECK(h.limits.end() == session_end::seconds);
}

TEST_CASE("each limit ends a session by its name") {
  SUBCASE("trials") {
    hour h;
    h.options.trials = h.so_far.trials = 16;
    CHECK(h.limits.over());
    CHECK(h.limits.end() == session_end::trials);
  }
  SUBCASE("target") {
    hour h;
    h.options.target = 1;
    CHECK(h.limits.over());
    CHECK(h.limits.end() == session_end::target);
    CHECK(h.limits.absence(1, idle()) == "the default schedule meets the target");
  }
  SUBCASE("patience") {
    hour h;
    h.options.patience = h.so_far.since_best = 8;
    CHECK(h.limits.end() == session_end::patience);
  }
  SUBCASE("gain") {
    hour h;
    h.options.gain = 0.01;
    for (int trial = 0; trial < 48; ++trial) h.limits.note_best(1);
    CHECK(h.limits.over());
    CHECK(h.limits.end() == session_end::gain);
  }
  SUBCASE("a callback") {
    hour h;
    h.limits.stop();
    CHECK(h.limits.end() == session_end::stopped);
    CHECK(h.limits.absence(1, idle()) == "a callback stopped the session");
  }
  SUBCASE("its caller") {
    hour h;
    const std::atomic<bool> cancelled{true};
    h.options.cancelled = &cancelled;
    h.limits.stop();  // who cancels decides
    CHECK(h.limits.over());
    CHECK(h.limits.stops());
    CHECK(h.limits.end() == session_end::cancelled);
  }
}

TEST_CASE("three rounds in a row without a candidate use up a space") {
  hour h;
  h.limits.note_round(true);
  h.limits.note_round(true);
  h.limits.note_round(false);
  h.limits.note_round(true);
  h.limits.note_round(true);
  CHECK_FALSE(h.limits.exhausted());
  h.limits.note_round(true);
  CHECK(h.limits.exhausted());
  CHECK(h.limits.end() == session_end::space);
  CHECK(h.limits.absence(2, idle()) ==
        "none but the default schedule was found in 2 sketches; 7 traces were refused, the last "
        "one: split: no");
}

TEST_CASE("the first candidate is measured although its search took all the time") {
  hour h;
  h.budget = search::detail::time_budget(0);  // no time is left
  h.so_far.best = 0.001;
  CHECK(h.limits.over());
  CHECK_FALSE(h.limits.stops());
  h.so_far.trials = 1;
  CHECK(h.limits.stops());
  h.so_far.trials = 0;
  h.so_far.best = 1000;  // a call takes long
  CHECK(h.limits.stops());
}
