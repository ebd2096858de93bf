#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/impl/space/modules/nest.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::across_threads {

/// Where a reduction can be computed with its consumer: below this one of the consumer's loops.
struct destination {
  std::string consumer;
  std::size_t loop = 0;
};

/// The deepest loop of the first consumer that answers a spatial outer loop of the block and that
/// all consumers share.
inline std::optional<destination> find_destination(const schedule& s, const std::string& name) {
  const std::vector<std::string> consumers = consumer_names(s, name);
  if (consumers.empty() || is_output(s, name) || named_block(s, name).block->writes.size() != 1 ||
      shares_operands(s, consumers[0]))
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
  return destination{consumers[0], depth - 1};
}

inline factor draw_threads(schedule& s, const cross_thread_reduction& rule, chooser& choices) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t n : rule.thread_extents)
    if (n <= rule.max_threads_per_block) fitting.push_back(n);
  if (fitting.empty()) return rule.max_threads_per_block;
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

/// Computes the block with its consumer, whose innermost loop is bound to threads where none is.
/// @returns their number
inline factor move(schedule& s, const std::string& name, const destination& to,
                   const cross_thread_reduction& rule, chooser& choices) {
  std::optional<factor> count;
  for (const nest_loop& l : nest_of(s, to.consumer))
    if (l.bound_to("threadIdx.x")) count = size_of(s, *l.node);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(to.consumer));
  loop_rv target = loops[to.loop];
  if (!count) {
    count = draw_threads(s, rule, choices);
    const auto [outer, inner] = s.split(loops.back(), {infer, *count});
    s.bind(inner, "threadIdx.x");
    if (to.loop + 1 == loops.size()) target = outer;
  }
  const block_rv block = s.get_block(name);
  s.compute_at(block, target, true);
  s.set_scope(block, 0, "shared");
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
                                                          const context& /*where*/,
                                                          chooser& choices) const {
  namespace across = detail::across_threads;
  if (!has_block(s, name) || !needs_cross_thread_reduction(s, name, max_threads_per_block)) return;
  if (choices.pick(2) == 1) return;
  std::optional<factor> threads;
  if (const std::optional<across::destination> to = across::find_destination(s, name)) {
    try {
      schedule attempt = s;
      threads = across::move(attempt, name, *to, *this, choices);
      s = std::move(attempt);
    } catch (const schedule_error&) {
      threads.reset();  // computed where it stands
    }
  }
  if (!threads) threads = across::draw_threads(s, *this, choices);
  const auto [serial, inner] = s.split(across::fused_reduction(s, name), {infer, *threads});
  s.bind(inner, "threadIdx.x");
}

}  // namespace tilewright::space
