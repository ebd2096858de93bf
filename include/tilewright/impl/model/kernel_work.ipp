#pragma once

#include <utility>

#include <tilewright/model/kernel_work.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/roofline.hpp>

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

}  // namespace tilewright::network
