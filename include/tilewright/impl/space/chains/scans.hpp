// Reductions over what stands before an element, as scans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/arith/one_before.hpp>
#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/prefix_scans.hpp>
#include <tilewright/ir/scan_notes.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// Goes on with scans in the place of reductions over what stands before their results, where the function has some.
inline void take_scans(schedule& s) {
  if (primitive::scan_prefixes(s.function()))
    s.work_on(s.function().name + std::string(primitive::scans_suffix));
}

/// A block each result of which is made of the one before, along one of its variables.
struct scan_loops {
  std::size_t along;                   // that variable
  std::optional<std::size_t> columns;  // results lie side by side along this one
  block_profile of;
};

/// The variable along which the block combines what it has stored one step before; nothing where it does more.
inline std::optional<std::size_t> scanned_variable(const ir::block_node& b) {
  const ir::store_node* store = ir::as_store(b.body);
  if (!store || b.init) return std::nullopt;
  std::optional<std::size_t> out;
  ir::for_each_expr(store->value, [&](const ir::expr& e) {
    if (e->op != ir::op::load || e->buffer != store->buffer) return;
    for (std::size_t i = 0; i < b.iters.size(); ++i)
      if (arith::is_one_before(b.iters[i].var, e->args, store->indices)) out = i;
  });
  return out;
}

inline std::optional<scan_loops> scan_of(const schedule& s, const std::string& name) {
  const std::optional<std::size_t> along = scanned_variable(*named_block(s, name).block);
  const std::optional<block_profile> p = along ? profile(s, name) : std::nullopt;
  if (!p || !p->write.affine) return std::nullopt;
  scan_loops out{*along, {}, *p};
  for (std::size_t i = 0; i < p->extent.size(); ++i) {
    if (i == *along || p->extent[i] < 2) continue;
    if (p->write.stride[i] == 1) out.columns = i;
  }
  return out;
}

/// The loops of one scan. Rows of results go in vectors, each of which adds to the row before. Steps along memory go in vectors, too,
/// whose lanes are combined (impl/backend/llvm/lanes/running_lanes.hpp), unless the order of terms is to stay.
inline void schedule_scan(schedule& s, const std::string& name, const scan_loops& scan,
                          const context& where, chooser& choices) {
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const dtype type = scan.of.write.buffer->type;
  std::int64_t lanes = where.cpu->lanes(type);
  if (scan.columns) {
    const std::int64_t columns = scan.of.extent[*scan.columns];
    while (lanes > 4 && lanes / 2 >= columns) lanes /= 2;
    // what is stored under a mask is loaded again late
    if (columns < lanes) return;
    s.vectorize(s.split(loops[*scan.columns], {infer, lanes})[1]);
    return;
  }
  const std::int64_t steps = scan.of.extent[scan.along], step = scan.of.write.stride[scan.along];
  while (lanes > steps) lanes /= 2;
  const bool in_order = is_float(type) && ir::keeps_term_order(s.function());
  if ((step != 1 && step != -1) || lanes < 4 || in_order) return;
  s.annotate(loops[scan.along], ir::running_note, choices.categorical(s, {lanes, 0}, {3, 1}));
}

/// Schedules all scans of the root block, with what makes their first results.
/// @returns the names of these blocks: nothing else of them is to be decided
inline std::vector<std::string> schedule_scans(schedule& s, const context& where,
                                               chooser& choices) {
  std::vector<std::string> out;
  for (const std::string& name : root_block_names(s)) {
    const std::optional<scan_loops> scan = scan_of(s, name);
    if (!scan) continue;
    const ir::buffer to = scan->of.write.buffer;
    schedule attempt = s;
    try {
      schedule_scan(attempt, name, *scan, where, choices);
      s = std::move(attempt);
    } catch (const schedule_error&) {
      // one after the other
    }
    out.push_back(name);
    for (const std::string& other : root_block_names(s)) {
      const ir::block_node& b = *named_block(s, other).block;
      if (other == name || b.init || b.writes.size() != 1 || b.writes[0].buffer != to) continue;
      vectorize_innermost(s, other, where, choices);
      out.push_back(other);
    }
  }
  return out;
}

}  // namespace tilewright::space::detail
