// Region cover, declared in scope.hpp.
#pragma once

#include <string_view>

#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/conditional_stores.hpp>
#include <tilewright/impl/dependence/cover/constant_boxes.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/guard_cut.hpp>
#include <tilewright/impl/dependence/cover/remainder.hpp>
#include <tilewright/impl/dependence/cover/store_cover.hpp>
#include <tilewright/impl/dependence/iteration_sharing.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {
namespace cover {

using arith::bounds;

/// Whether the sums of `inner` lie inside those of `outer` in every iteration of `loops`; the
/// constant cuts of `outer` are not looked at. No access is beyond the shape of its buffer, also
/// where that is symbolic.
inline bool sums_inside(const footprint& outer, const footprint& inner,
                        const std::vector<ir::expr>& shape, const loop_nest& loops) {
  const auto not_above = [&](const std::optional<arith::linear>& low, const arith::linear& high) {
    return low && footprints::never_above(*low, high, loops);
  };
  for (std::size_t d = 0; d < outer.size(); ++d) {
    const span& o = outer[d];
    const span& i = inner[d];
    if (o.lo && !o.lo->is_constant()) {
      const auto by_cut = [&] { return range_of(*o.lo, loops).hi <= i.within.lo; };
      if (!(i.lo && not_above(o.lo, *i.lo)) && !by_cut()) return false;
    }
    if (o.hi && !o.hi->is_constant()) {
      const auto by_cut = [&] { return range_of(*o.hi, loops).lo >= i.within.hi; };
      const auto by_shape = [&] {
        return !ir::is_int(shape[d]) &&
               footprints::reaches(*o.hi, arith::to_linear(shape[d]), loops);
      };
      if (!(i.hi && not_above(i.hi, *o.hi)) && !by_cut() && !by_shape()) return false;
    }
  }
  return true;
}

TILEWRIGHT_INLINE remainder left_unwritten(const block_scope& scope, std::size_t reader,
                                           const ir::buffer_region& region, sums needed,
                                           const ir::var* loop) {
  const child_block& r = scope[reader];
  remainder out;
  for (std::size_t w = 0; w < reader; ++w) {
    const child_block& writer = scope[w];
    const int at = loop ? loop_index(writer.loops, *loop) : -1;
    if (loop && at < 0) continue;
    for (const ir::buffer_region& of_writer : writer.block().writes) {
      if (of_writer.buffer != region.buffer ||
          !may_overlap(writer.block(), of_writer, r.block(), region))
        continue;
      // threads share global memory, but nothing makes them wait for each other there
      const std::string_view scope_of_buffer = region.buffer->scope;
      // nor is what other iterations of the loop write written in this one
      const bool others =
          loop && ir::shared_across(scope_of_buffer, *writer.loops[static_cast<std::size_t>(at)]);
      const std::string_view reach =
          ir::storage_rank(scope_of_buffer) == 0 || others ? std::string_view{} : scope_of_buffer;
      const standing_loops standing{scope.common_loops(w, reader), reach};
      footprint needs = touched({r, region}, standing);
      cut_by_guard(needs, {r, region}, standing);
      if (!out.produced) {
        out.produced = true;
        out.rest.push_back(within(needs));
        for (const bounds& b : out.rest.front())
          if (b.lo > b.hi) return {true, {}, {}};  // nothing is read
      }
      const std::optional<footprint> gives =
          needed == sums::partial || reduction_done(writer, standing)
              ? written({writer, of_writer}, standing)
              : std::nullopt;
      if (!gives || !sums_inside(*gives, needs, region.buffer->shape, r.loops)) {
        out.unknown.push_back(constant_box(writer.block(), of_writer));
        continue;
      }
      out.rest = without(out.rest, within(*gives));
    }
  }
  return out;
}

/// Whether the parts of `region` that earlier blocks of the scope write are written completely.
inline bool is_covered(const block_scope& scope, std::size_t reader,
                       const ir::buffer_region& region, sums needed) {
  const remainder left = left_unwritten(scope, reader, region, needed);
  if (!left.produced || left.rest.empty()) return true;
  if (scope.allocates(region.buffer)) return false;
  // What nobody in the scope writes comes from outside.
  for (const const_box& box : left.rest)
    for (const const_box& other : left.unknown)
      if (!disjoint(box, other)) return false;
  return true;
}

/// Position of the loop around the child, of which each iteration runs it alone; -1 when there is none.
inline int alone_below(const child_block& c, const ir::var& loop) {
  const int at = loop_index(c.loops, loop);
  return at >= 0 && c.runs_alone(static_cast<std::size_t>(at)) ? at : -1;
}

/// Whether the block inside certainly writes all of the region while its loops run; what its guard
/// cuts are no elements.
inline bool fills(const child_block& c, const ir::buffer_region& w,
                  const ir::buffer_region& region) {
  const ir::stmt all = ir::make_realize(c.realize->values, ir::boolean(true), c.realize->block);
  const child_block whole{ir::as_realize(all), c.loops};
  const std::optional<footprint> box = written({whole, w}, {0, {}});
  if (!box) return false;
  for (std::size_t i = 0; i < box->size(); ++i) {
    const ir::range& dim = region.box[i];
    const auto is = [](const std::optional<arith::linear>& side, const ir::expr& end,
                       std::int64_t offset) {
      return side && footprints::constant_sum(*side, arith::to_linear(end), -1) == offset;
    };
    const span& s = (*box)[i];
    const bounds constant = constant_range(dim);
    if (!s.lo && !s.hi && constant.bounded() && s.within.lo == constant.lo &&
        s.within.hi == constant.hi)
      continue;
    if (!is(s.lo, dim.min, 0) || !is(s.hi, dim.min + dim.extent, -1)) return false;
  }
  return true;
}

/// Whether one of the blocks inside of one with variables writes all of a region that it declares,
/// and others what they declare; a box around what several write has holes.
inline bool parts_write_declared(const ir::block_node& block, const block_scope& inner,
                                 const ir::buffer_region& region) {
  bool writes = false, filled = false;
  for (const child_block& c : inner.children())
    for (const ir::buffer_region& w : c.block().writes) {
      const ir::match_buffer* view = view_of(block, region.buffer, w.buffer);
      if (w.buffer != region.buffer && !view) continue;
      if (writes_unevenly(c, block) || skips_stores(c.block(), w.buffer) ||
          !writes_declared(c.block(), w))
        return false;
      writes = true;
      filled =
          filled || (view ? same_box(view->source, region) && fills(c, w, ir::full_region(w.buffer))
                          : fills(c, w, region));
    }
  return !writes || filled;
}

/// Whether what the block begins with writes all of the region: something is there then, whatever its steps leave out.
inline bool begins_with(const ir::block_node& block, const ir::buffer_region& region) {
  if (!block.init) return false;
  ir::block_node first = block;
  first.body = block.init;
  first.init = {};
  const block_scope inner(first);
  const bool writes = support::any(inner.children(), [&](const child_block& c) {
    return support::any(c.block().writes,
                        [&](const ir::buffer_region& w) { return w.buffer == region.buffer; });
  });
  return writes && parts_write_declared(first, inner, region);
}

/// Whether one of the blocks of the scope that `counts` holds for, given with its position and that
/// of the loop around it, writes in another iteration of the loop what that block reads of the region.
template <class Counts>
bool is_carried_from(const block_scope& scope, std::size_t child, const ir::buffer_region& read,
                     const ir::var& loop, const Counts& counts) {
  const child_block& user = scope[child];
  if (alone_below(user, loop) < 0) return false;
  std::optional<remainder> left;  // by what those before the reader write in its iteration
  for (std::size_t w = 0; w < scope.size(); ++w) {
    const child_block& writer = scope[w];
    for (const ir::buffer_region& out : writer.block().writes) {
      if (w == child || out.buffer != read.buffer) continue;
      const int at = alone_below(writer, loop);
      if (at < 0 || !counts(w, static_cast<std::size_t>(at))) break;
      if (w < child) {
        if (!left) left = left_unwritten(scope, child, read, sums::finished, &loop);
        const const_box all = constant_box(writer.block(), out);
        if (support::all(left->rest, [&](const const_box& box) { return disjoint(box, all); }))
          continue;
      }
      if (may_overlap(writer.block(), out, user.block(), read) &&
          !share_within_iterations(writer, out, user, read, static_cast<std::size_t>(at)))
        return true;
    }
  }
  return false;
}

}  // namespace cover

TILEWRIGHT_INLINE bool region_covered(const block_scope& scope, std::size_t child, sums needed) {
  const std::vector<ir::buffer_region>& reads = scope[child].block().reads;
  return support::all(reads, [&](const ir::buffer_region& r) {
    return cover::is_covered(scope, child, r, needed);
  });
}

TILEWRIGHT_INLINE bool region_covered(const block_scope& scope, std::size_t child,
                                      const ir::buffer& x) {
  const std::vector<ir::buffer_region>& reads = scope[child].block().reads;
  return support::all(reads, [&](const ir::buffer_region& r) {
    return r.buffer != x || cover::is_covered(scope, child, r, sums::finished);
  });
}

TILEWRIGHT_INLINE bool is_carried(const block_scope& scope, std::size_t child,
                                  const ir::buffer_region& read, const ir::var& loop) {
  return cover::is_carried_from(scope, child, read, loop,
                                [](std::size_t, std::size_t) { return true; });
}

TILEWRIGHT_INLINE bool is_lacking(const block_scope& scope, std::size_t child,
                                  const ir::buffer_region& read, const ir::var& loop) {
  // one that does the same in all iterations does it in this one, too
  return cover::is_carried_from(scope, child, read, loop, [&](std::size_t writer, std::size_t at) {
    return writer < child && !repeats_itself(scope[writer], at);
  });
}

TILEWRIGHT_INLINE int carried_dependence(const block_scope& scope, const ir::var& loop) {
  for (std::size_t c = 0; c < scope.size(); ++c)
    for (const ir::buffer_region& r : scope[c].block().reads)
      if (is_carried(scope, c, r, loop)) return static_cast<int>(c);
  return -1;
}

TILEWRIGHT_INLINE bool reads_own_writes(const ir::block_node& block, const ir::buffer& x) {
  const block_scope inside(block);
  if (!inside.schedulable()) return false;
  for (std::size_t i = 0; i < inside.size(); ++i)
    for (const ir::buffer_region& r : inside[i].block().reads) {
      if (r.buffer != x && !cover::view_of(block, x, r.buffer)) continue;
      const cover::remainder left = cover::left_unwritten(inside, i, r, sums::finished);
      if (!left.produced || !left.rest.empty()) return false;
    }
  return inside.size() > 0;
}

TILEWRIGHT_INLINE bool writes_declared(const ir::block_node& block,
                                       const ir::buffer_region& region) {
  namespace d = cover;
  const auto is_point = [](const ir::range& r) { return ir::is_int(r.extent, 1); };
  if (ir::as_store(block.body) && support::all(region.box, is_point)) return true;
  const block_scope inner(block);
  if (inner.size() == 0)
    return d::stores_fill(block, block.body, region) ||
           (block.init && d::stores_fill(block, block.init, region));
  if (!block.iters.empty())
    return d::parts_write_declared(block, inner, region) || d::begins_with(block, region);
  std::vector<d::const_box> rest(1);
  for (const ir::range& r : region.box) {
    rest.front().push_back(constant_range(r));
    if (!rest.front().back().bounded()) return false;
  }
  for (const child_block& part : inner.children())
    for (const ir::buffer_region& w : part.block().writes) {
      if (w.buffer != region.buffer) continue;
      const std::optional<footprint> gives = written({part, w}, {0, {}});
      const bool known = gives && support::all(*gives, [](const span& s) {
                           return (!s.lo || s.lo->is_constant()) && (!s.hi || s.hi->is_constant());
                         });
      if (!known) continue;
      rest = d::without(rest, d::within(*gives));
    }
  return rest.empty();
}

}  // namespace tilewright::dependence
