#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {
namespace detail {

/// Operations of the sums of a program, whose blocks stand one behind the other.
inline double operations_of_sums(const ir::function& f) {
  const ir::block& root = ir::root_block(f);
  const ir::seq_node* seq = ir::as_seq(root->body);
  if (!seq) return search::operations_of(f);
  ir::block_node sums = *root;
  std::vector<ir::stmt> kept;
  for (const ir::stmt& s : seq->stmts)
    if (ir::any_stmt(s, [](const ir::stmt& x) {
          const ir::block_realize_node* r = ir::as_realize(x);
          return r && r->block->init;
        }))
      kept.push_back(s);
  sums.body = ir::make_seq(std::move(kept));
  ir::function out = f;
  out.body = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(sums)));
  return search::operations_of(out);
}

/// No call takes fewer, whichever algorithm of the kernel runs: of others than the first the sums alone count,
/// since what they transform is shared, or done once.
inline double least_operations(const ir::function& f) {
  const std::vector<ir::function> all = ir::alternatives(f);
  double out = search::operations_of(all.front());
  for (std::size_t k = 1; k < all.size(); ++k) out = std::min(out, operations_of_sums(all[k]));
  return out;
}

}  // namespace detail

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
      *core, detail::least_operations(task.function),
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
                                                        const search::database& records, int runs) {
  std::vector<kernel_report> out;
  for (const double seconds : program.measure(runs)) {
    const std::size_t k = out.size();
    const search::workload& task = program.task(k);
    const detail::known_schedule known = detail::known_schedule_of(task, records);
    out.push_back({seconds, bound_of(program, k), known.origin, detail::algorithm_of(task, known)});
  }
  return out;
}

}  // namespace tilewright::network
