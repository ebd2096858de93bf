#include <tilewright/search/task_scheduler.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

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

TEST_CASE("two products in one session, stopped and resumed") {
  database db(":memory:");
  std::vector<workload> all(2);
  for (std::size_t i = 0; i < 2; ++i) {
    workload& w = all[i];
    w.function = reify(kernels::matmul_relu, {{"M", i == 0 ? 32 : 48}, {"N", 64}, {"K", 32}});
    w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
    w.family = "product";
    w.cpu = &target::host();
    w.exec = &backend::serial_executor();
    w.space = space::default_cpu();
  }
  task_options o;
  o.trials = 16;
  o.slice = 8;
  const std::vector<task> tasks{{&all[0], 1}, {&all[1], 2}};
  const auto first = run_tasks(tasks, o, db);
  CHECK(first[0].trials + first[1].trials == 16);
  const auto second = run_tasks(tasks, o, db);
  CHECK(second[0].slices + second[1].slices >= 2);
  CHECK(db.chosen(all[0].key).has_value());
  CHECK(db.chosen(all[1].key).has_value());
}
