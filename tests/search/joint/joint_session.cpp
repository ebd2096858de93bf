#include <tilewright/search/joint/joint_session.hpp>

#include <tilewright/impl/search/joint/joint_place.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

workload product_of(std::int64_t m) {
  return contiguous_workload(reify(kernels::matmul_relu, {{"M", m}, {"N", 48}, {"K", 32}}),
                             target::host(), backend::serial_executor());
}

/// Workloads with as many rows, as tasks.
struct several {
  std::vector<std::unique_ptr<workload>> all;
  std::vector<joint_task> tasks;
  explicit several(const std::vector<std::int64_t>& rows) {
    for (const std::int64_t m : rows) {
      all.push_back(std::make_unique<workload>(product_of(m)));
      tasks.push_back({all.back().get(), 1});
    }
  }
};

joint_options few(int trials) {
  joint_options o;
  o.session.seconds = 60;  // the trials end it, on a busy machine too
  o.session.trials = trials;
  return o;
}

std::string refusal_of(const std::vector<joint_task>& tasks, const joint_options& o) {
  database db(":memory:");
  try {
    tune_jointly(tasks, o, db);
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("several extents are tuned as one task, and each is stored") {
  several s({1, 24, 96});
  database db(":memory:");
  joint_options o = few(16);
  std::vector<double> told;
  o.session.events = [&](const progress& p) { told.push_back(p.best); };
  const joint_result r = tune_jointly(s.tasks, o, db);
  CHECK(r.trials == 16);
  REQUIRE(r.at.size() == 3);
  CHECK_FALSE(told.empty());
  double logs = 0;
  for (std::size_t i = 0; i < r.at.size(); ++i) {
    const joint_choice& c = r.at[i];
    CAPTURE(i);
    CHECK(c.best > 0);
    CHECK(c.best <= c.baseline);
    CHECK_FALSE(c.checked.empty());
    logs += std::log(c.best);
    const auto stored = db.chosen(s.all[i]->key);
    REQUIRE(stored);
    CHECK(trace_by_name(stored->trace, s.all[i]->function) == c.trace);
    CHECK(stored->checked == c.checked);
    CHECK(db.code(s.all[i]->key, stored->trace, stored->from.revision).has_value());
    CHECK(db.all([&](const record& x) { return x.key == s.all[i]->key; }).size() == 1);
  }
  CHECK(r.best == doctest::Approx(std::exp(logs / 3)));
  // what was never seen begins with a schedule of those
  const workload unseen = product_of(40);
  const auto near_one = nearest_record(db, unseen);
  REQUIRE(near_one);
  CHECK(replay(by_name(trace::parse(near_one->trace), unseen.function), unseen.function, 1));
}

TEST_CASE("one trace is found for all, or as many as are asked for") {
  several s({3, 64});
  for (const int most : {1, 2}) {
    database db(":memory:");
    joint_options o = few(24);
    o.traces = most;
    const joint_result r = tune_jointly(s.tasks, o, db);
    std::vector<std::string> without_decisions;
    for (const joint_choice& c : r.at)
      if (c.improved)
        without_decisions.push_back(trace::parse(c.trace).without_decisions().print());
    if (most == 1 && without_decisions.size() == 2)
      CHECK(without_decisions[0] == without_decisions[1]);
    CHECK(r.best <= r.baseline);
  }
}

TEST_CASE("a schedule that was stored before stays where it is faster") {
  several s({24, 48});
  database db(":memory:");
  session_options alone;
  alone.seconds = 60;
  alone.trials = 24;
  const tuning_result before = tune(*s.all[0], alone, db);
  const joint_result r = tune_jointly(s.tasks, few(1), db);
  REQUIRE(db.chosen(s.all[0]->key));
  CHECK(r.at[0].best <= r.at[0].baseline);
  if (before.improved && r.at[0].improved)
    CHECK(trace_by_name(db.chosen(s.all[0]->key)->trace, s.all[0]->function) == r.at[0].trace);
}

TEST_CASE("results are compared at every extent") {
  const workload w = product_of(24);
  const joint_task task{&w, 1};
  search::detail::joint_place place(task, 1);
  CHECK(place.difference(place.standard).empty());
  workload other = w;
  ir::function wrong = w.function;  // of other values
  const ir::function doubled =
      reify(kernel<"matmul_relu">([](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B,
                                     out<"C", float, "M", "N"> C) {
              using axes::i, axes::j, axes::k;
              return C(i, j) = max(sum<k>(A(i, k) * B(k, j) * 2.0f), 0.0f);
            }),
            {{"M", 24}, {"N", 48}, {"K", 32}});
  const built b = build(doubled, w.machine);
  REQUIRE(b);
  CHECK(place.difference(b).find("C[") == 0);
}

TEST_CASE("a joint session that is cancelled before it has timed anything chooses nothing") {
  several s({8, 16});
  database db(":memory:");
  const std::atomic<bool> cancelled{true};
  joint_options o = few(8);
  o.session.cancelled = &cancelled;
  const joint_result r = tune_jointly(s.tasks, o, db);
  CHECK(r.at.empty());
  CHECK(r.end == session_end::cancelled);
  CHECK(db.all().empty());
}

TEST_CASE("joint sessions refuse what they cannot do") {
  several s({8, 16});
  CHECK(refusal_of({}, few(1)).find("nothing to tune (requirement 1)") != std::string::npos);
  s.tasks[1].weight = 0;
  CHECK(refusal_of(s.tasks, few(1)).find("above 0, and finite (requirement 1)") !=
        std::string::npos);
  s.tasks[1].weight = 1;
  const workload gathered =
      contiguous_workload(reify(kernels::gather, {{"N", 8}, {"C", 4}, {"M", 3}}), target::host(),
                          backend::serial_executor());
  CHECK(refusal_of({s.tasks[0], {&gathered, 1}}, few(1)).find("matmul_relu and gather differ") !=
        std::string::npos);
  joint_options elsewhere = few(1);
  elsewhere.session.measuring.run_in = isolation::worker;
  CHECK(refusal_of(s.tasks, elsewhere).find("(requirement 3)") != std::string::npos);
}
