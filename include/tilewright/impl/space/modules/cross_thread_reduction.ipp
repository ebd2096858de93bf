#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/impl/space/modules/nest.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space {
namespace detail::across_threads {

/// How a reduction is shared.
enum class form { in_columns, in_blocks, as_it_is, in_warps };

/// Where a reduction can be computed with its consumer: below this one of the consumer's loops.
struct destination {
  std::string consumer;
  std::size_t loop = 0;
};

/// Whether the reader adds up several results of the block, which keep blocks of threads of their own then.
inline bool adds_up(const ir::block_node& reader, const ir::block_node& block) {
  const auto reduces = [&](const ir::range& dim) {
    return support::any(reader.iters, [&](const ir::iter_var& i) {
      return i.kind == ir::iter_kind::reduce && ir::uses_var(dim.min, i.var);
    });
  };
  return support::any(reader.reads, [&](const ir::buffer_region& r) {
    return r.buffer == block.writes[0].buffer && support::any(r.box, reduces);
  });
}

/// The deepest loop of the first consumer that answers a spatial outer loop of the block and that
/// all consumers share; below its rows where threads have a row each.
inline std::optional<destination> find_destination(const schedule& s, const std::string& name,
                                                   bool tuples) {
  const std::vector<std::string> consumers = consumer_names(s, name);
  if (consumers.empty() || is_output(s, name) ||
      (named_block(s, name).block->writes.size() != 1 && !tuples) ||
      shares_operands(s, consumers[0]) ||
      adds_up(*named_block(s, consumers[0]).block, *named_block(s, name).block))
    return std::nullopt;
  const std::vector<nest_loop> own = nest_of(s, name), there = nest_of(s, consumers[0]);
  std::size_t shared = there.size();
  for (const std::string& other : consumers) {
    const std::vector<nest_loop> loops = nest_of(s, other);
    std::size_t common = 0;
    while (common < std::min(shared, loops.size()) && loops[common].node == there[common].node)
      ++common;
    shared = common;
  }
  std::size_t depth = 0;
  while (depth < std::min(own.size(), shared) &&
         own[depth].kind == primitive::loop_iter_kind::spatial)
    ++depth;
  if (depth == 0) return std::nullopt;
  while (depth < shared && there[depth].bound_to("threadIdx.y")) ++depth;
  return destination{consumers[0], depth - 1};
}

/// How many threads a row is worth without measuring. Where others read the row again, it stays in their
/// registers, twice 16 bytes each; otherwise there are as many as occupy the device.
inline std::int64_t preferred_threads(const schedule& s, const std::string& name, bool again,
                                      const context& where) {
  double rows = 1, terms = 1;
  for (const ir::iter_var& iter : named_block(s, name).block->iters)
    if (ir::is_int(iter.dom.extent))
      (iter.kind == ir::iter_kind::reduce ? terms : rows) *=
          static_cast<double>(iter.dom.extent->integer);
  constexpr double each = 4, twice = 2, busy = 1024;
  if (again || !where.gpu) return static_cast<std::int64_t>(terms / (twice * each));
  return static_cast<std::int64_t>(
      std::min(terms / each, busy * where.gpu->multiprocessors / rows));
}

/// The number that is drawn, in the first sketch the largest up to `preferred`, at least a warp.
inline factor draw_threads(schedule& s, const cross_thread_reduction& rule, std::int64_t preferred,
                           chooser& choices) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t n : rule.thread_extents)
    if (n <= rule.max_threads_per_block) fitting.push_back(n);
  if (fitting.empty()) return rule.max_threads_per_block;
  std::size_t first = 0;
  for (std::size_t i = 0; i < fitting.size(); ++i)
    if (fitting[i] > fitting[first] && fitting[i] <= preferred) first = i;
  std::rotate(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(first),
              fitting.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return choices.categorical(s, fitting, std::vector<double>(fitting.size(), 1.0));
}

/// The factor with which the loop was split off, read from the trace; its extent when it never was.
inline factor size_of(const schedule& s, const ir::loop_node& loop) {
  for (const trace::step& step : s.trace().steps()) {
    if (step.what->kind->name != "split") continue;
    for (std::size_t i = 0; i < step.what->outputs.size(); ++i) {
      const symbol& made = s.state().symbols[step.what->outputs[i].number];
      if (made.loop && made.loop.same(loop.var))
        for (const argument& a : step.what->args)
          if (const auto* factors = std::get_if<std::vector<factor>>(&a)) return (*factors)[i];
    }
  }
  return loop.extent->integer;
}

/// Whether the loop can be cut into groups of rows, with a warp for each row of a group.
inline bool has_rows(const nest_loop& l) {
  return l.plain() && l.kind == primitive::loop_iter_kind::spatial && !l.branches() &&
         ir::is_int(l.node->extent) && l.node->extent->integer > 1;
}

/// The last of the spatial loops that are the block's own; nothing where there is none.
inline std::optional<std::size_t> own_rows(const std::vector<nest_loop>& nest) {
  std::size_t last = nest.size();
  while (last > 0 && nest[last - 1].kind == primitive::loop_iter_kind::reduce) --last;
  if (last == 0) return std::nullopt;
  return last - 1;
}

/// Whether rows of the reduction, there or where it stands, can have a warp each.
inline bool may_have_warps(const schedule& s, const std::string& name,
                           const std::optional<destination>& to) {
  const std::vector<nest_loop> nest = nest_of(s, to ? to->consumer : name);
  if (!to) {
    const std::optional<std::size_t> rows = own_rows(nest);
    return rows && has_rows(nest[*rows]);
  }
  const auto has_threads = [](const nest_loop& l) { return l.bound_to("threadIdx"); };
  return to->loop + 1 < nest.size() && has_rows(nest[to->loop]) && support::none(nest, has_threads);
}

/// @returns the loop over the rows of a group, which has threads
inline loop_rv group_rows(schedule& s, loop_rv rows, const cross_thread_reduction& rule,
                          chooser& choices) {
  const expr_rv count =
      choices.categorical(s, rule.rows, std::vector<double>(rule.rows.size(), 1.0));
  const auto [group, row] = s.split(rows, {infer, count});
  (void)group;
  s.bind(row, "threadIdx.y");
  return row;
}

/// How many elements a thread takes at once, of those by which the loop can be divided; nothing where it is one.
inline std::optional<factor> draw_lanes(schedule& s, loop_rv loop, dtype type, int vector_bytes,
                                        chooser& choices) {
  const ir::expr extent = s.get(loop).extent;
  std::vector<std::int64_t> fitting;
  for (std::int64_t n = vector_bytes / bytes(type); n > 0 && ir::is_int(extent); n /= 2)
    if (extent->integer % n == 0) fitting.push_back(n);
  if (fitting.size() < 2) return std::nullopt;
  return choices.categorical(s, fitting, std::vector<double>(fitting.size(), 1.0));
}

/// The type of what the block reads first.
inline dtype read_type(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  return (b.reads.empty() ? b.writes : b.reads)[0].buffer->type;
}

/// Splits the loop over threads, a vector's lanes inside of them where there are some, and binds it.
/// @returns what is left of it outside
inline loop_rv spread(schedule& s, loop_rv loop, const factor& threads,
                      const std::optional<factor>& lanes, bool vectorized) {
  if (!lanes) {
    const auto [outer, inner] = s.split(loop, {infer, threads});
    s.bind(inner, "threadIdx.x");
    return outer;
  }
  const auto [outer, inner, lane] = s.split(loop, {infer, threads, *lanes});
  s.bind(inner, "threadIdx.x");
  if (vectorized)
    s.vectorize(lane);
  else
    s.unroll(lane);
  return outer;
}

/// Computes the block with its consumer, whose innermost loop is bound to threads where none is.
/// @returns their number
inline factor move(schedule& s, const std::string& name, const destination& to,
                   const cross_thread_reduction& rule, bool warps, std::int64_t preferred,
                   chooser& choices) {
  std::optional<factor> count;
  for (const nest_loop& l : nest_of(s, to.consumer))
    if (l.bound_to("threadIdx.x")) count = size_of(s, *l.node);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(to.consumer));
  loop_rv target = loops[to.loop];
  if (warps) target = group_rows(s, target, rule, choices);
  if (!count) {
    count = warps ? factor(rule.warp_size) : draw_threads(s, rule, preferred, choices);
    const bool spatial = nest_of(s, to.consumer).back().kind == primitive::loop_iter_kind::spatial;
    const std::optional<factor> lanes =
        spatial && to.loop + 1 < loops.size()
            ? draw_lanes(s, loops.back(), read_type(s, to.consumer), rule.vector_bytes, choices)
            : std::nullopt;
    if (to.loop + 1 == loops.size() && rule.lone_rows)
      spread(s, s.add_unit_loop(s.get_block(to.consumer)), *count, std::nullopt, false);
    else if (const loop_rv outer = spread(s, loops.back(), *count, lanes, true);
             to.loop + 1 == loops.size())
      target = outer;
  }
  const block_rv block = s.get_block(name);
  s.compute_at(block, target, true);
  const std::size_t values = named_block(s, name).block->writes.size();
  for (std::size_t i = 0; i < values; ++i) s.set_scope(block, static_cast<int>(i), "shared");
  return *count;
}

/// The reduction loops in one, inside of the block's own spatial loops.
inline loop_rv fused_reduction(schedule& s, const std::string& name) {
  const std::vector<nest_loop> nest = nest_of(s, name);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  std::size_t own = nest.size();
  while (own > 0 && !nest[own - 1].branches()) --own;
  std::vector<loop_rv> order, reduced;
  bool sorted = true;
  for (std::size_t i = own; i < nest.size(); ++i) {
    const bool reduces = nest[i].kind == primitive::loop_iter_kind::reduce;
    sorted = sorted && (reduces || reduced.empty());
    (reduces ? reduced : order).push_back(loops[i]);
  }
  order.insert(order.end(), reduced.begin(), reduced.end());
  if (!sorted) s.reorder(order);
  return reduced.size() > 1 ? s.fuse(reduced) : reduced.at(0);
}

/// The variable of the last spatial loop where a block reads element after element along it; null elsewhere.
inline ir::var side_by_side(const ir::block_node& block) {
  ir::var last;
  for (const ir::iter_var& i : block.iters)
    if (i.kind == ir::iter_kind::spatial) last = i.var;
  const auto follows = [&](const ir::buffer_region& r) {
    return !r.box.empty() && last && r.box.back().min.same(last) &&
           ir::is_int(r.box.back().extent, 1);
  };
  const bool all = !block.reads.empty() && support::all(block.reads, follows) &&
                   support::all(block.writes, follows);
  return all ? last : ir::var();
}

/// Whether a warp has results side by side to reduce, each by a column of threads.
inline bool may_have_columns(const schedule& s, const std::string& name, std::int64_t warp_size) {
  const ir::block_node& block = *named_block(s, name).block;
  const ir::var last = side_by_side(block);
  return last && !shares_operands(s, name) && support::any(block.iters, [&](const ir::iter_var& i) {
           return i.var.same(last) && ir::is_int(i.dom.extent) &&
                  i.dom.extent->integer >= warp_size;
         });
}

/// Binds the last spatial loop and the reduction, each in part.
inline void reduce_columns(schedule& s, const std::string& name, const cross_thread_reduction& rule,
                           chooser& choices) {
  const loop_rv reduced = fused_reduction(s, name);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const auto [group, lane] = s.split(loops[loops.size() - 2], {infer, rule.warp_size});
  (void)group;
  s.bind(lane, "threadIdx.x");
  std::vector<std::int64_t> fitting;
  for (const std::int64_t n : rule.columns)
    if (n * rule.warp_size <= rule.max_threads_per_block) fitting.push_back(n);
  const factor count =
      fitting.empty()
          ? factor(1)
          : factor(choices.categorical(s, fitting, std::vector<double>(fitting.size(), 1.0)));
  const auto [outer, inner] = s.split(reduced, {infer, count});
  (void)outer;
  s.bind(inner, "threadIdx.y");
}

}  // namespace detail::across_threads

TILEWRIGHT_INLINE bool needs_cross_thread_reduction(const schedule& s, const std::string& name,
                                                    std::int64_t max_threads_per_block) {
  if (!detail::in_root_scope(s, name) || is_tiled(s, name) || !is_trivially_bound(s, name) ||
      !named_block(s, name).block->init)
    return false;
  std::int64_t given = 1, reduced = 1;
  for (const detail::nest_loop& l : detail::nest_of(s, name)) {
    const bool reduces = l.kind == primitive::loop_iter_kind::reduce;
    if (!l.plain() || l.branches() || !ir::is_int(l.node->extent) ||
        (!reduces && l.kind != primitive::loop_iter_kind::spatial))
      return false;
    (reduces ? reduced : given) *= l.node->extent->integer;
  }
  if (shares_operands(s, name)) return given < reduced && given <= max_threads_per_block;
  return reduced > 1;
}

TILEWRIGHT_INLINE void cross_thread_reduction::operator()(schedule& s, const std::string& name,
                                                          const context& where,
                                                          chooser& choices) const {
  namespace across = detail::across_threads;
  if (!has_block(s, name) || !needs_cross_thread_reduction(s, name, max_threads_per_block)) return;
  const std::optional<across::destination> to = across::find_destination(s, name, tuples);
  const bool rows_offered = !rows.empty() && across::may_have_warps(s, name, to);
  const bool columns_offered =
      !columns.empty() && !to && across::may_have_columns(s, name, warp_size);
  using across::form;
  std::vector<form> forms;
  if (columns_offered) forms.push_back(form::in_columns);
  forms.insert(forms.end(), {form::in_blocks, form::as_it_is});
  if (rows_offered) forms.push_back(form::in_warps);
  const form how = forms[choices.pick(forms.size())];
  if (how == form::as_it_is) return;
  if (how == form::in_columns) return across::reduce_columns(s, name, *this, choices);
  const bool warps = how == form::in_warps;
  const std::int64_t preferred = across::preferred_threads(s, name, to.has_value(), where);
  std::optional<factor> threads;
  if (to) {
    try {
      schedule attempt = s;
      threads = across::move(attempt, name, *to, *this, warps, preferred, choices);
      s = std::move(attempt);
    } catch (const schedule_error&) {
      threads.reset();  // computed where it stands
    }
  }
  if (!threads && warps) {
    const auto own = across::own_rows(detail::nest_of(s, name));
    if (!own) return;
    across::group_rows(s, s.get_loops(s.get_block(name))[*own], *this, choices);
    threads = factor(warp_size);
  }
  if (!threads) threads = across::draw_threads(s, *this, preferred, choices);
  const loop_rv reduced = across::fused_reduction(s, name);
  const std::optional<factor> lanes =
      across::draw_lanes(s, reduced, across::read_type(s, name), vector_bytes, choices);
  across::spread(s, reduced, *threads, lanes, false);
}

}  // namespace tilewright::space
