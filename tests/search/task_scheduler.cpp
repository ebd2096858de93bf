#include <tilewright/search/task_scheduler.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Task i takes 1 / (1 + rate * slices) seconds after that many slices.
struct pretended {
  std::vector<double> rate;
  std::vector<int> slices;
  std::vector<std::size_t> order;

  explicit pretended(std::vector<double> r) : rate(std::move(r)), slices(rate.size(), 0) {}
  slice_function function() {
    return [this](std::size_t i, const session_options& o) {
      order.push_back(i);
      tuning_result out;
      out.best = 1 / (1 + rate[i] * ++slices[i]);
      out.trials = o.trials;
      return out;
    };
  }
};

task_options budget(int trials, task_order order) {
  task_options o;
  o.trials = trials;
  o.slice = 10;
  o.order = order;
  o.patience = 100;
  return o;
}

}  // namespace

TEST_CASE("round robin takes tasks in turn") {
  pretended p({1, 1, 1});
  const auto results = run_tasks({1, 1, 1}, budget(65, task_order::round_robin), p.function());
  CHECK(p.order == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0});
  CHECK(results[0].trials == 25);  // the last slice is cut
  CHECK(results[0].slices == 3);
  CHECK(results[2].trials == 20);
}

TEST_CASE("by gradient, what weighs more and still falls gets more slices") {
  pretended p({0.5, 0.5, 0.5});
  run_tasks({1, 10, 1}, budget(300, task_order::gradient), p.function());
  CHECK(p.order[0] == 0);
  CHECK(p.order[1] == 1);
  CHECK(p.order[2] == 2);
  CHECK(p.slices[1] > 2 * p.slices[0]);
  CHECK(p.slices[0] > 0);
}

TEST_CASE("the gradient in numbers") {
  support::random r(1);
  // 0.2 * (8 - 2) / 3 + 0.8 * 2 / 4 = 0.8 against 0.8 * 3 / 4 = 0.6
  const std::vector<task_history> tasks{{1, {8, 4, 3, 2}, false}, {1, {3, 3, 3, 3}, false}};
  CHECK(next_task(tasks, task_order::gradient, 0, r) == 0);
  const std::vector<task_history> heavy{{1, {8, 4, 3, 2}, false}, {2, {3, 3, 3, 3}, false}};
  CHECK(next_task(heavy, task_order::gradient, 0, r) == 1);
  const std::vector<task_history> done{{1, {8}, true}, {2, {3}, true}};
  CHECK(next_task(done, task_order::gradient, 0, r) == 2);
  CHECK(next_task(done, task_order::round_robin, 0, r) == 2);
}

TEST_CASE("tasks finish without progress, at their own limit, or when they cannot be built") {
  pretended p({0, 1, 1});
  task_options o = budget(1000, task_order::round_robin);
  o.patience = 2;
  o.trials_per_task = 45;
  const auto results = run_tasks({1, 1, 1}, o, [&](std::size_t i, const session_options& s) {
    if (i == 2) throw build_error("no compiler");
    return p.function()(i, s);
  });
  CHECK(results[0].slices == 3);
  CHECK(results[1].trials == 45);
  CHECK(results[2].slices == 0);
  CHECK(results[2].last.remarks == std::vector<std::string>{"no compiler"});
}

TEST_CASE("a run that is cancelled returns what it has") {
  std::atomic<bool> stop{false};
  pretended p({1, 1});
  task_options o = budget(1000, task_order::gradient);
  o.cancelled = &stop;
  o.events = [&](std::size_t, const tuning_result&) { stop = p.order.size() >= 3; };
  const auto results = run_tasks({1, 1}, o, p.function());
  CHECK(p.order.size() == 3);
  CHECK(results[0].slices + results[1].slices == 3);
}

TEST_CASE("a run that resumes chooses by what earlier runs have measured") {
  const auto timed = [](double seconds) {
    record r;
    r.seconds = {seconds * 2, seconds};
    return r;
  };
  const std::vector<record> records{timed(8), timed(9), timed(4), timed(5), timed(3)};
  CHECK(slices_of(records, 2) == std::vector<double>{8, 4, 3});
  CHECK(slices_of({}, 2).empty());
  pretended p({0.5, 0.5, 0.5});
  std::vector<std::uint64_t> seeds;
  task_options o = budget(30, task_order::gradient);
  o.session.seed = 100;
  const auto results = run_tasks({1, 1, 1}, o,
                                 [&](std::size_t i, const session_options& s) {
                                   seeds.push_back(s.seed);
                                   return p.function()(i, s);
                                 },
                                 {{1, 1, 1}, {}, {9, 9}});
  // what was never measured first, then the largest 0.8 * best / slices: 0.8 * 9 / 2
  REQUIRE(p.order.size() == 3);
  CHECK(p.order[0] == 1);
  CHECK(p.order[1] == 2);
  CHECK(seeds[0] == 100);
  CHECK(seeds[1] == 102);
  CHECK(results[0].slices == 0);
}

TEST_CASE("a slice gets its share of the time, and never more than is left") {
  pretended p({1, 1});
  for (const bool short_run : {true, false}) {
    task_options o = budget(short_run ? 1000000 : 40, task_order::round_robin);
    o.seconds = short_run ? 0.05 : 1e6;
    o.slice_seconds = short_run ? 1e6 : 0.5;
    o.patience = 1000000;
    run_tasks({1, 1}, o, [&](std::size_t i, const session_options& s) {
      CHECK(s.seconds <= (short_run ? 0.05 : 0.5));
      CHECK(s.seconds >= 0);
      return p.function()(i, s);
    });
  }
}

TEST_CASE("two products in one session, stopped and resumed") {
  database db(":memory:");
  std::vector<workload> all(2);
  for (std::size_t i = 0; i < 2; ++i) {
    workload& w = all[i];
    w.function = reify(kernels::matmul_relu, {{"M", i == 0 ? 32 : 48}, {"N", 64}, {"K", 32}});
    w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
    w.family = "product";
    w.machine = &target::host();
    w.exec = &backend::serial_executor();
    w.space = space::default_cpu();
  }
  task_options o;
  o.trials = 16;
  o.slice = 8;
  const std::vector<task> tasks{{&all[0], 1}, {&all[1], 2}};
  const auto first = run_tasks(tasks, o, db);
  CHECK(first[0].trials + first[1].trials == 16);
  const auto measured = [&](std::size_t i) {
    return db.all([&](const record& r) { return r.key == all[i].key; });
  };
  const std::size_t before[] = {measured(0).size(), measured(1).size()};
  const auto second = run_tasks(tasks, o, db);
  CHECK(second[0].trials + second[1].trials == 16);
  for (std::size_t i = 0; i < 2; ++i) {
    std::set<std::string> old, fresh;
    const std::vector<record> records = measured(i);
    for (std::size_t n = 0; n < before[i]; ++n) old.insert(records[n].trace);
    for (std::size_t n = before[i]; n < records.size(); ++n)
      if (old.count(records[n].trace) == 0) fresh.insert(records[n].trace);
    // a candidate that fails leaves no record
    CHECK(fresh.size() <= static_cast<std::size_t>(second[i].trials));
    CHECK(2 * fresh.size() >= static_cast<std::size_t>(second[i].trials));
  }
  CHECK(db.chosen(all[0].key).has_value());
  CHECK(db.chosen(all[1].key).has_value());
}
