#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/impl/model/session/kernel_times.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE session_summary
tune_kernels(const std::vector<std::shared_ptr<const executable>>& programs, double seconds,
             std::uint64_t seed, search::database& db,
             const std::function<void(const std::string&, const search::tuning_result&)>& events,
             const std::atomic<bool>* cancelled, const target::cpu* target) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<search::task> tasks;
  std::vector<std::string> names;
  std::vector<search::caches> where;  // [tasks]
  for (const auto& program : programs) {
    std::vector<double> times(tasks.size(), 0);  // [tasks] that this program runs them
    for (std::size_t k = 0; k < program->launches().size(); ++k) {
      const search::workload& w = program->task(k);
      const auto same = [&](const search::task& t) { return t.what->key == w.key; };
      const auto there = support::find(tasks, same);
      if (there != tasks.end()) {
        times[static_cast<std::size_t>(there - tasks.begin())] += 1;
        continue;
      }
      tasks.push_back({&w, 1});
      times.push_back(1);
      where.push_back(program->launches()[k].where);
      names.push_back(program->launches()[k].what.name);
    }
    for (std::size_t t = 0; t < tasks.size(); ++t)
      tasks[t].weight = std::max(tasks[t].weight, times[t]);
  }
  search::task_options options;
  options.seconds = seconds;
  options.session.seed = seed;
  options.cancelled = cancelled;
  // every kernel comes once before any comes twice
  const double share = seconds / static_cast<double>(std::max<std::size_t>(tasks.size(), 1));
  options.slice_seconds = std::clamp(share / 2, 0.25, 5.0);
  if (events)
    options.events = [&](std::size_t k, const search::tuning_result& r) { events(names[k], r); };
  std::vector<search::workload> others;  // [tasks], for another CPU
  if (target) {
    for (const search::task& t : tasks) others.push_back(task_for(*t.what, *target));
    for (std::size_t t = 0; t < tasks.size(); ++t) tasks[t].what = &others[t];
  }
  std::vector<double> weights;
  std::vector<std::vector<double>> before;
  for (const search::task& t : tasks) {
    weights.push_back(t.weight);
    const std::vector<search::record> known =
        db.all([&](const search::record& r) { return r.key == t.what->key; });
    before.push_back(search::slices_of(known, options.slice));
  }
  const auto slice = [&](std::size_t t, search::session_options session) {
    session.measuring.where = where[t];
    return search::tune(*tasks[t].what, session, db);
  };
  session_summary out;
  out.tasks = tasks.size();
  for (const search::task_result& r : search::run_tasks(weights, options, slice, before))
    out.trials += r.trials;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

TILEWRIGHT_INLINE search::workload task_for(const search::workload& w, const target::cpu& target) {
  search::workload out = w;
  out.machine = &target;
  out.key.isa = target.isa_key();
  return out;
}

TILEWRIGHT_INLINE double known_seconds(const executable& program, const search::database& db) {
  return detail::seconds_of(program, db, detail::timed_on::its_threads);
}

}  // namespace tilewright::network
