#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/dispatch/tune_together.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float_environment.hpp>

namespace tilewright::dispatch {

TILEWRIGHT_INLINE tuning_request::tuning_request(std::shared_ptr<dispatcher> op,
                                                 const call_argument* arguments)
    : op_(std::move(op)) {
  for (const parameter_signature& p : op_->signature().params) {
    const call_argument& a = arguments[arguments_.size()];
    arguments_.push_back(
        {a.data, {a.extents, a.extents + p.extent_count()}, {a.strides, a.strides + p.rank()}});
  }
}

TILEWRIGHT_INLINE void tuning_request::with_arguments(
    const std::function<void(const call_argument*)>& use) const {
  if (!op_) throw argument_error("a tuning_request needs a kernel: op.at(arguments)");
  if (arguments_.empty()) return op_->with_extents(extents_, order_, use);
  std::vector<call_argument> list;
  for (const argument& a : arguments_) list.push_back({a.data, a.extents.data(), a.strides.data()});
  use(list.data());
}

namespace detail {

/// A slice of one task under its lease; nothing where another process has that.
inline search::tuning_result leased_slice(const tuning_task& t, const search::session_options& o) {
  constexpr double leased = 120;  // s
  if (!t.records->lease(t.what.key, leased)) {
    search::tuning_result out;
    out.remarks.push_back("another process is tuning this kernel now");
    return out;
  }
  const struct lease_guard {
    search::database& db;
    const search::record_key& key;
    ~lease_guard() { db.release(key); }
  } guard{*t.records, t.what.key};
  t.records->add_workload(t.what.key.workload, ir::print(t.what.function));
  return tune(t.what, o, *t.records);
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<search::task_result> tune_together(
    const std::vector<tuning_request>& requests, const together_options& options) {
  const support::default_float_environment ours;
  std::vector<tuning_task> tasks;
  std::vector<double> weights;
  std::vector<std::vector<double>> before;
  search::task_options all;
  const int turns = 2 * static_cast<int>(std::max<std::size_t>(requests.size(), 1));
  all.slice = std::clamp(options.trials / turns, 1, all.slice);
  all.slice_seconds = std::min(all.slice_seconds, options.seconds / turns);
  for (const tuning_request& r : requests) {
    if (!(r.weight() > 0) || std::isinf(r.weight()))
      throw argument_error("tune_together: weights have to be above 0, and finite");
    r.with_arguments([&](const call_argument* a) { tasks.push_back(r.op()->tuning(a)); });
    weights.push_back(r.weight());
    const search::record_key& key = tasks.back().what.key;
    before.push_back(slices_of(
        tasks.back().records->all([&](const search::record& known) { return known.key == key; }),
        all.slice));
  }
  all.order = options.order;
  all.seconds = options.seconds;
  all.trials = options.trials;
  all.session.seed = options.seed;
  all.cancelled = options.cancelled;
  if (options.events)
    all.events = [&](std::size_t i, const search::tuning_result& r) {
      options.events(tasks[i].what.function.name, r);
    };
  const auto slice = [&](std::size_t i, const search::session_options& given) {
    search::session_options o = tasks[i].session;
    o.seconds = given.seconds;
    o.trials = given.trials;
    o.seed += given.seed - options.seed;  // slices do not draw the same
    o.cancelled = given.cancelled;
    return detail::leased_slice(tasks[i], o);
  };
  std::vector<search::task_result> out = search::run_tasks(weights, all, slice, before);
  for (const tuning_request& r : requests)
    r.with_arguments([&](const call_argument* a) { r.op()->reload(a); });
  return out;
}

}  // namespace tilewright::dispatch
