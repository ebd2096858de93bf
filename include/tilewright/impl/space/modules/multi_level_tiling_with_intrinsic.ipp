#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tilewright/impl/space/modules/tiler.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {
namespace detail::intrinsic_loops {

struct wanted {
  ir::iter_kind kind;
  std::int64_t extent;
};

/// The loops of the description, as kinds and extents; empty when they are not plain.
inline std::vector<wanted> loops_of(const ir::function& description) {
  const auto blocks = primitive::child_blocks(ir::root_block(description)->body);
  std::vector<wanted> out;
  if (blocks.size() != 1) return out;
  for (const ir::iter_var& i : blocks[0]->block->iters) {
    if (!ir::is_int(i.dom.extent)) return {};
    out.push_back({i.kind, i.dom.extent->integer});
  }
  return out;
}

/// Assignments of the description's loops to iteration variables of the block, those that take
/// inner ones first.
inline void assignments(const std::vector<ir::iter_var>& iters, const std::vector<wanted>& loops,
                        std::vector<std::size_t>& taken,
                        std::vector<std::vector<std::size_t>>& out) {
  if (taken.size() == loops.size()) {
    out.emplace_back(taken.rbegin(), taken.rend());
    return;
  }
  const wanted& next = loops[loops.size() - 1 - taken.size()];
  for (std::size_t i = iters.size(); i-- > 0;) {
    const ir::expr& extent = iters[i].dom.extent;
    if (iters[i].kind != next.kind || !ir::is_int(extent) || extent->integer % next.extent != 0 ||
        support::contains(taken, i))
      continue;
    taken.push_back(i);
    assignments(iters, loops, taken, out);
    taken.pop_back();
  }
}

/// Makes the block of the intrinsic's loops.
inline block_rv split_off(schedule& s, const std::string& name, const std::vector<wanted>& loops,
                          const std::vector<std::size_t>& taken) {
  const block_rv block = s.get_block(name);
  std::vector<loop_rv> outer = s.get_loops(block), inner;
  for (std::size_t w = 0; w < loops.size(); ++w) {
    const auto [rest, tile] = s.split(outer[taken[w]], {infer, loops[w].extent});
    outer[taken[w]] = rest;
    inner.push_back(tile);
  }
  std::vector<loop_rv> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  s.reorder(order);
  return s.blockize(inner[0]);
}

/// True when the block can become the intrinsic, once its operands and its result are in the scopes
/// that the description names.
inline bool can_tensorize(schedule s, block_rv block, const intrin::intrinsic& what) {
  try {
    const ir::block described = ir::root_block(what.description);
    const auto scope_of = [](const ir::buffer_region& r) { return r.buffer->scope; };
    const std::size_t reads = s.get(block).block->reads.size();
    std::size_t accumulator =
        0;  // the description reads what it updates, a block with init doesn't
    for (std::size_t r = 0; r < described->reads.size(); ++r) {
      const bool own = described->reads[r].buffer == described->writes[0].buffer;
      accumulator += own ? 1 : 0;
      const std::size_t at = r - accumulator;
      if (own || at >= reads || scope_of(described->reads[r]) == "global") continue;
      s.cache_read(block, static_cast<int>(at), scope_of(described->reads[r]), {block});
    }
    if (scope_of(described->writes[0]) != "global")
      s.cache_write(block, 0, scope_of(described->writes[0]));
    if (s.get(block).block->init) s.decompose_reduction(block, s.get_loops(block).at(0));
    s.tensorize(block, what.name);
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

/// Splits off the loops of one assignment where the intrinsic then fits.
inline std::optional<block_rv> matched(schedule& s, const std::string& name,
                                       const std::vector<wanted>& loops,
                                       const std::vector<std::size_t>& taken,
                                       const intrin::intrinsic& what) {
  try {
    schedule attempt = s;
    const block_rv block = split_off(attempt, name, loops, taken);
    if (!can_tensorize(attempt, block, what)) return std::nullopt;
    attempt.annotate(block, "meta_schedule.auto_tensorize", what.name);
    s = std::move(attempt);
    return block;
  } catch (const schedule_error&) {
    return std::nullopt;
  }
}

}  // namespace detail::intrinsic_loops

TILEWRIGHT_INLINE void multi_level_tiling_with_intrinsic::operator()(schedule& s,
                                                                     const std::string& name,
                                                                     const context& /*where*/,
                                                                     chooser& choices) const {
  namespace loops = detail::intrinsic_loops;
  const std::shared_ptr<const intrin::intrinsic> what = intrin::find(intrinsic);
  if (!what)
    throw argument_error("multi_level_tiling_with_intrinsic: no intrinsic is called \"" +
                         intrinsic + "\"; intrin::add makes one known");
  if (!has_block(s, name) || is_tiled(s, name) || !is_trivially_bound(s, name)) return;
  if (named_block(s, name).block->writes.size() != 1) return;
  const std::vector<loops::wanted> inner = loops::loops_of(what->description);
  if (inner.empty()) return;
  std::vector<std::vector<std::size_t>> candidates;
  std::vector<std::size_t> taken;
  loops::assignments(named_block(s, name).block->iters, inner, taken, candidates);
  for (const std::vector<std::size_t>& candidate : candidates)
    if (const std::optional<block_rv> outer = loops::matched(s, name, inner, candidate, *what)) {
      const std::string around = s.get(*outer).block->name;
      return detail::tiler(s, around, tiling, choices).run();
    }
}

}  // namespace tilewright::space
