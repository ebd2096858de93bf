// Vectors at the edges of clamped reads.
//
//   for x in vectorized(16):                   for x in vectorized(16):
//     B[x0*16 + x] =                             B[x0*16 + x] =
//       A[min(max(x0*16 + x - 2, 0), 99)]  ->      if_then_else(0 <= x0*16 + x - 2 and x0*16 + x - 2 <= 99,
//                                                               A[x0*16 + x - 2],
//                                                               select(x0*16 + x - 2 < 0, A[0], A[99]))
//
// Mirrored places, min(p % 198, 198 - p % 198) of a row of 100 elements, are those of A[x], A[-x] or A[198 - x], and
// periodic ones, p % 100, those of A[x], A[x + 100] or A[x - 100].
// Lanes at clamped places would be gathered one by one. Here all lanes read side by side, those beyond
// the edges are left out and get one of two elements, and the code of vectors that touch no edge
// (peel_tails) is a plain load.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::pass::detail {

/// An index that is kept within literal bounds, one of which may be missing.
struct clamped_index {
  ir::expr place, first, last;
};

inline std::optional<clamped_index> as_clamped(const ir::expr& index) {
  clamped_index out;
  ir::expr e = index;
  while ((e->op == ir::op::min && !out.last) || (e->op == ir::op::max && !out.first)) {
    const std::size_t bound = ir::is_int(e->args[0]) ? 0 : 1;
    if (!ir::is_int(e->args[bound])) break;
    (e->op == ir::op::min ? out.last : out.first) = e->args[bound];
    e = e->args[1 - bound];
  }
  if (!out.first && !out.last) return std::nullopt;
  if (out.first && out.last && ir::as_int(out.first) > ir::as_int(out.last)) return std::nullopt;
  out.place = std::move(e);
  return out;
}

/// An index that is mirrored at element 0 and at element `last`, neither of which is repeated.
struct mirrored_index {
  ir::expr place;
  std::int64_t last;
};

/// min(p % n, n - p % n), in either order.
inline std::optional<mirrored_index> as_mirrored(const ir::expr& index) {
  if (index->op != ir::op::min) return std::nullopt;
  arith::linear there = arith::to_linear(index->args[0]), back = arith::to_linear(index->args[1]);
  if (there.terms.size() != 1 || back.terms.size() != 1) return std::nullopt;
  if (there.terms[0].second == -1) std::swap(there, back);
  const ir::expr& turn = there.terms[0].first;
  const bool fits = there.terms[0].second == 1 && back.terms[0].second == -1 &&
                    there.constant == 0 && turn->op == ir::op::floormod &&
                    equal(turn, back.terms[0].first) && ir::is_int(turn->args[1], back.constant);
  if (!fits || back.constant < 2 || back.constant % 2 != 0) return std::nullopt;
  return mirrored_index{turn->args[0], back.constant / 2};
}

/// An index that goes round a row whose elements repeat.
struct periodic_index {
  ir::expr place;
  std::int64_t period;
};

inline std::optional<periodic_index> as_periodic(const ir::expr& index) {
  if (index->op != ir::op::floormod || !ir::is_int(index->args[1]) ||
      ir::as_int(index->args[1]) < 1)
    return std::nullopt;
  return periodic_index{index->args[0], ir::as_int(index->args[1])};
}

/// Gives loads whose last index is clamped, mirrored or periodic, and moves with the lanes of a vectorized loop by one element
/// a lane, a condition of being inside.
class clamped_lanes : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop) return ir::mutator::mutate(s);
    const bool lanes = loop->loop == ir::loop_kind::vectorized;
    const ir::var around = lanes ? std::exchange(lane_, loop->var) : lane_;
    loops_.push_back(loop);
    const ir::stmt out = ir::mutator::mutate(s);
    loops_.pop_back();
    lane_ = around;
    return out;
  }

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr out = ir::mutator::mutate(e);
    if (!lane_ || out->op != ir::op::load || out->args.empty()) return out;
    if (const std::optional<mirrored_index> index = as_mirrored(out->args.back()))
      return turned(out, *index);
    if (const std::optional<periodic_index> index = as_periodic(out->args.back()))
      return gone_round(out, *index);
    const std::optional<clamped_index> index = as_clamped(out->args.back());
    if (!index || !moves_with_lanes(index->place, out->args) || !is_within(out->buffer, *index))
      return out;
    return decided(out, *index);
  }

 private:
  bool moves_with_lanes(const ir::expr& place, const std::vector<ir::expr>& indices) const {
    for (std::size_t d = 0; d + 1 < indices.size(); ++d)
      if (ir::uses_var(indices[d], lane_)) return false;
    if (!arith::is_index(place.type())) return false;
    const arith::linear sum = arith::to_linear(place);
    for (const auto& [term, factor] : sum.terms)
      if (!term.same(lane_) && ir::uses_var(term, lane_)) return false;
    return sum.coefficient(lane_) == 1;
  }

  /// Whether the bounds are places of the buffer: both are read now, whichever lanes were beyond them.
  static bool is_within(const ir::buffer& b, const clamped_index& index) {
    const ir::expr& extent = b->shape.back();
    const auto exists = [&](const ir::expr& bound) {
      return !bound || (ir::as_int(bound) >= 0 && ir::as_int(bound) < ir::as_int(extent));
    };
    return ir::is_int(extent) && exists(index.first) && exists(index.last);
  }

  static ir::expr at_last(const ir::expr& load, const ir::expr& last) {
    std::vector<ir::expr> indices = load->args;
    indices.back() = last;
    return ir::load(load->buffer, std::move(indices));
  }

  static ir::expr decided(const ir::expr& load, const clamped_index& index) {
    const auto at = [&](const ir::expr& last) { return at_last(load, last); };
    std::vector<ir::expr> inside;
    if (index.first) inside.push_back(ir::le(index.first, index.place));
    if (index.last) inside.push_back(ir::le(index.place, index.last));
    const ir::expr beyond = index.first && index.last ? ir::select(ir::lt(index.place, index.first),
                                                                   at(index.first), at(index.last))
                                                      : at(index.first ? index.first : index.last);
    return ir::if_then_else(ir::conjunction(inside), at(index.place), beyond);
  }

  /// The least and the largest value of a sum of loops of literal bounds.
  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const ir::expr& place) const {
    const arith::linear sum = arith::to_linear(place);
    std::int64_t low = sum.constant, high = sum.constant;
    for (const auto& each : sum.terms) {
      const std::int64_t factor = each.second;
      const auto found =
          support::find(loops_, [&](const ir::loop_node* l) { return each.first.same(l->var); });
      if (found == loops_.end() || !ir::is_int((*found)->min) || !ir::is_int((*found)->extent))
        return std::nullopt;
      const std::int64_t first = factor * (*found)->min->integer,
                         last = first + factor * ((*found)->extent->integer - 1);
      low += std::min(first, last);
      high += std::max(first, last);
    }
    return std::pair(low, high);
  }

  /// What a place with whole periods taken off may be, so that the middle of its values is within the first period.
  struct near_place {
    ir::expr place;
    std::int64_t low, high;
  };
  std::optional<near_place> brought_near(const ir::expr& place, std::int64_t period) const {
    const auto range = range_of(place);
    if (!range) return std::nullopt;
    const std::int64_t middle = range->first + (range->second - range->first) / 2,
                       off = middle - ((middle % period) + period) % period;
    return near_place{place - ir::integer(place.type(), off), range->first - off,
                      range->second - off};
  }

  /// A load at `near.place` where that is one of the elements up to `last`, and `before` or `behind` them elsewhere.
  static ir::expr within(const ir::expr& load, const near_place& near, std::int64_t last,
                         const ir::expr& before, const ir::expr& behind) {
    const ir::expr zero = ir::integer(near.place.type(), 0);
    const ir::expr beyond = near.low >= 0 ? behind
                            : near.high <= last
                                ? before
                                : ir::if_then_else(ir::lt(near.place, zero), before, behind);
    return ir::if_then_else(
        ir::logical_and(ir::le(zero, near.place),
                        ir::le(near.place, ir::integer(near.place.type(), last))),
        at_last(load, near.place), beyond);
  }

  /// A mirrored load that is read side by side where it is, and backwards beyond the edges; what may lie farther
  /// away than the other edge stays as it is there.
  ir::expr turned(const ir::expr& load, const mirrored_index& index) const {
    const ir::expr& extent = load->buffer->shape.back();
    const std::int64_t period = 2 * index.last;
    const auto near = brought_near(index.place, period);
    if (!near || !moves_with_lanes(index.place, load->args) || !ir::is_int(extent) ||
        index.last >= ir::as_int(extent))
      return load;
    const auto number = [&](std::int64_t n) { return ir::integer(index.place.type(), n); };
    if (near->low < -index.last || near->high > period)
      return within(load, *near, index.last, load, load);
    return within(load, *near, index.last, at_last(load, number(0) - near->place),
                  at_last(load, number(period) - near->place));
  }

  /// A periodic load that is read side by side, also where it begins anew; what may lie a period beyond the row stays
  /// as it is there.
  ir::expr gone_round(const ir::expr& load, const periodic_index& index) const {
    const ir::expr& extent = load->buffer->shape.back();
    const auto near = brought_near(index.place, index.period);
    if (!near || !moves_with_lanes(index.place, load->args) || !ir::is_int(extent) ||
        index.period > ir::as_int(extent))
      return load;
    const ir::expr period = ir::integer(index.place.type(), index.period);
    if (near->low < -index.period || near->high >= 2 * index.period)
      return within(load, *near, index.period - 1, load, load);
    return within(load, *near, index.period - 1, at_last(load, near->place + period),
                  at_last(load, near->place - period));
  }

  ir::var lane_;
  std::vector<const ir::loop_node*> loops_;
};

}  // namespace tilewright::pass::detail
