#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/remainder.hpp>
#include <tilewright/impl/dependence/cover/store_cover.hpp>
#include <tilewright/impl/schedule/analysis/readable_region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::readable {

using namespace dependence::cover;

inline ir::buffer_region region_of(const ir::buffer& x, const const_box& box) {
  ir::buffer_region out{x, {}};
  for (std::size_t d = 0; d < box.size(); ++d) {
    const dtype type = x->shape[d].type();
    if (box[d].bounded())
      out.box.push_back(
          {ir::integer(type, box[d].lo), ir::integer(type, box[d].hi - box[d].lo + 1)});
    else
      out.box.push_back({ir::integer(type, 0), x->shape[d]});
  }
  return out;
}

/// The same of a footprint while the variables around it stand still, where their sums say where it begins and ends.
inline ir::buffer_region region_of(const ir::buffer& x, const footprint& box) {
  ir::buffer_region out = region_of(x, within(box));
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (!box[d].lo || !box[d].hi) continue;
    const arith::linear count = difference(*box[d].hi, *box[d].lo);
    if (!count.is_constant() || box[d].lo->is_constant()) continue;
    const dtype type = x->shape[d].type();
    out.box[d] = {ir::cast(type, arith::from_linear(*box[d].lo)),
                  ir::integer(type, count.constant + 1)};
  }
  return out;
}

/// What the region is of the buffer that the block matches to that of the region; the region itself
/// where the block does not.
inline ir::buffer_region behind_views(const ir::block_node& block, ir::buffer_region r) {
  for (const ir::match_buffer& m : block.match_buffers) {
    if (m.buffer != r.buffer) continue;
    std::vector<ir::expr> at;
    for (const ir::range& side : r.box) at.push_back(side.min);
    ir::buffer_region out = m.source;
    const std::vector<ir::expr> begin = seen_through(m, at);
    const std::size_t first = out.box.size() - r.box.size();
    for (std::size_t d = 0; d < out.box.size(); ++d)
      out.box[d] = {begin[d], d < first ? out.box[d].extent : r.box[d - first].extent};
    return out;
  }
  return r;
}

}  // namespace detail::readable

TILEWRIGHT_INLINE bool region_filled(const path& block, const ir::buffer_region& region) {
  namespace d = detail::readable;
  std::vector<const ir::block_realize_node*> line;  // the block and those around it
  for (std::size_t i = block.slots.size(); i-- > 0;)
    if (const ir::block_realize_node* r = ir::as_realize(*block.slots[i])) line.push_back(r);
  std::vector<ir::buffer_region> needed{region};
  for (std::size_t i = 1; i < line.size(); ++i) {
    const block_scope scope(*line[i]->block);
    const auto at = scope.position(line[i - 1]->block->id);
    std::vector<ir::buffer_region> rest;
    for (const ir::buffer_region& r : needed) {
      d::remainder left = d::left_unwritten(scope, at, r, sums::partial);
      if (!left.produced) {
        rest.push_back(d::region_of(r.buffer, touched({scope[at], r}, {0, {}})));
        continue;
      }
      for (const d::const_box& box : left.rest) rest.push_back(d::region_of(r.buffer, box));
    }
    if (rest.empty() || scope.allocates(rest.front().buffer)) return rest.empty();
    needed = std::move(rest);
    for (ir::buffer_region& r : needed) r = d::behind_views(*line[i]->block, std::move(r));
  }
  return true;
}

TILEWRIGHT_INLINE bool region_declared(const path& block, const ir::buffer_region& region) {
  const ir::block_realize_node* holder = block.scope();
  if (!holder || ir::as_realize(*block.slots.front()) == holder) return true;
  const block_scope scope(*holder->block);
  const ir::block_node& around = *holder->block;
  const auto is_view = [&](const ir::match_buffer& m) { return m.buffer == region.buffer; };
  if (scope.allocates(region.buffer) || support::any(around.match_buffers, is_view)) return true;
  const child_block& child = scope[scope.find(ir::as_realize(block.target())->block->id)];
  const footprint box = touched({child, region}, {0, {}});
  const arith::analyzer known = knowing(child.loops);
  const auto inside = [&](const span& part, const ir::range& of) {
    const arith::bounds all = constant_range(of);
    if (all.bounded() && all.lo <= part.within.lo && part.within.hi <= all.hi) return true;
    return part.lo && part.hi && known.prove_le(of.min, arith::from_linear(*part.lo)) &&
           known.prove_lt(arith::from_linear(*part.hi), of.min + of.extent);
  };
  const auto holds = [&](const ir::buffer_region& r) {
    if (r.buffer != region.buffer) return false;
    for (std::size_t d = 0; d < box.size(); ++d) {
      const bool whole = ir::is_int(r.box[d].min, 0) &&
                         arith::same_value(r.box[d].extent, region.buffer->shape[d]);
      if (!whole && !inside(box[d], r.box[d])) return false;
    }
    return true;
  };
  return support::any(around.reads, holds) || support::any(around.writes, holds) ||
         (!reads_buffer(around, region.buffer) && !writes_buffer(around, region.buffer));
}

TILEWRIGHT_INLINE std::string_view why_unreadable(const path& block,
                                                  const ir::buffer_region& region) {
  if (!region_filled(block, region)) return "that nobody has written";
  if (!region_declared(block, region)) return "that the block around it does not declare";
  return "";
}

}  // namespace tilewright::primitive
