#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/search/session.hpp>

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
  const search::roofline* core = search::measured_roofline();
  if (!core) return 0;
  const kernel_work w = work_of(program, k);
  const search::workload& task = program.task(k);
  // a gather reads a part of its constant that nobody knows
  const bool gathers = !program.launches()[k].checks.empty();
  return search::bound_seconds(
      *core, w.flops,
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

/// In the order in which a call without tuning looks for one (impl/dispatch/specialization.ipp).
inline schedule_origin origin_of(const search::workload& task, const search::database& records) {
  if (records.chosen(task.key)) return schedule_origin::tuned;
  if (!records.top(task.key, 1).empty()) return schedule_origin::measured;
  const bool is_known_nearby = search::nearest_record(records, task) ||
                               !search::detail::records_of_fewer_threads(task, records, 1).empty();
  return is_known_nearby ? schedule_origin::nearest : schedule_origin::untuned;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<kernel_report> reports_of(const executable& program,
                                                        const search::database& records, int runs) {
  std::vector<kernel_report> out;
  for (const double seconds : program.measure(runs)) {
    const std::size_t k = out.size();
    out.push_back({seconds, bound_of(program, k), detail::origin_of(program.task(k), records)});
  }
  return out;
}

}  // namespace tilewright::network
