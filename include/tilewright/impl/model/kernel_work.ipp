#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/impl/search/session/algorithm_operations.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {
TILEWRIGHT_INLINE kernel_work work_of(const executable& program, std::size_t k) {
  const launch& l = program.launches().at(k);
  kernel_work out;
  out.flops = search::operations_of(program.task(k).function);
  for (std::size_t p = 0; p < l.slots.size(); ++p) {
    const std::int64_t size = elements_of(l.extents[p]) * bytes(l.types[p]);
    (l.slots[p].where == launch::slot::fixed ? out.weight_bytes : out.other_bytes) += size;
  }
  return out;
}

TILEWRIGHT_INLINE double bound_of(const executable& program, std::size_t k) {
  const search::roofline* core = program.gpu() ? nullptr : search::measured_roofline();
  if (!core) return 0;
  const kernel_work w = work_of(program, k);
  const search::workload& task = program.task(k);
  // a gather reads a part of its constant that nobody knows
  const bool gathers = !program.launches()[k].checks.empty();
  return search::bound_seconds(
      *core, search::detail::least_operations(task.function),
      !program.streams_weights() || gathers ? 0 : static_cast<double>(w.weight_bytes),
      task.exec->threads);
}

TILEWRIGHT_INLINE const char* text_of(schedule_origin o) {
  switch (o) {
    case schedule_origin::tuned: return "tuned";
    case schedule_origin::measured: return "measured";
    case schedule_origin::nearest: return "nearest";
    default: return "untuned";
  }
}

namespace detail {

/// Where a kernel's schedule is from, and the record that has it.
struct known_schedule {
  schedule_origin origin = schedule_origin::untuned;
  std::optional<search::record> from = {};
};

/// In the order in which a call without tuning looks for one (impl/dispatch/specialization.ipp).
inline known_schedule known_schedule_of(const search::workload& task,
                                        const search::database& records) {
  const auto first = [](std::vector<search::record> all) {
    return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
  };
  if (auto r = records.chosen(task.key)) return {schedule_origin::tuned, std::move(r)};
  if (task.machine.gpu) return {};  // calls there take a chosen one or the default
  if (auto r = first(records.top(task.key, 1))) return {schedule_origin::measured, std::move(r)};
  if (auto r = search::nearest_record(records, task))
    return {schedule_origin::nearest, std::move(r)};
  if (auto r = first(search::detail::records_of_fewer_threads(task, records, 1)))
    return {schedule_origin::nearest, std::move(r)};
  return {};
}

/// The algorithm that a record of a kernel schedules; empty where it is the first, or was none of this version.
inline std::string algorithm_of(const search::workload& task, const known_schedule& known) {
  if (!known.from || !ir::has_alternatives(task.function)) return {};
  try {
    const std::string out = search::algorithm_of(trace::parse(known.from->trace));
    return out == task.function.name ? std::string() : out;
  } catch (const argument_error&) {
    return {};
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<kernel_report> reports_of(const executable& program,
                                                        const search::database& records,
                                                        const std::vector<double>& seconds) {
  std::vector<kernel_report> out;
  for (const double each : seconds) {
    const std::size_t k = out.size();
    const search::workload& task = program.task(k);
    const detail::known_schedule known = detail::known_schedule_of(task, records);
    out.push_back({each, bound_of(program, k), known.origin, detail::algorithm_of(task, known)});
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<kernel_report> reports_of(const executable& program,
                                                        const search::database& records, int runs) {
  return reports_of(program, records, program.measure(runs));
}

}  // namespace tilewright::network
