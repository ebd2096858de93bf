// Vectors at the edges of clamped reads.
//
//   for x in vectorized(16):                   for x in vectorized(16):
//     B[x0*16 + x] =                             B[x0*16 + x] =
//       A[min(max(x0*16 + x - 2, 0), 99)]  ->      if_then_else(0 <= x0*16 + x - 2 and x0*16 + x - 2 <= 99,
//                                                               A[x0*16 + x - 2],
//                                                               select(x0*16 + x - 2 < 0, A[0], A[99]))
//
// Lanes at clamped places would be gathered one by one. Here all lanes read side by side, those beyond
// the edges are left out and get one of two elements, and the code of vectors that touch no edge
// (peel_tails) is a plain load.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>

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

/// Gives loads whose last index is clamped, and moves with the lanes of a vectorized loop by one element
/// a lane, a condition of being inside.
class clamped_lanes : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop || loop->loop != ir::loop_kind::vectorized) return ir::mutator::mutate(s);
    const ir::var around = std::exchange(lane_, loop->var);
    const ir::stmt out = ir::mutator::mutate(s);
    lane_ = around;
    return out;
  }

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr out = ir::mutator::mutate(e);
    if (!lane_ || out->op != ir::op::load || out->args.empty()) return out;
    const std::optional<clamped_index> index = as_clamped(out->args.back());
    if (!index || !moves_with_lanes(*index, out->args) || !is_within(out->buffer, *index))
      return out;
    return decided(out, *index);
  }

 private:
  bool moves_with_lanes(const clamped_index& index, const std::vector<ir::expr>& indices) const {
    for (std::size_t d = 0; d + 1 < indices.size(); ++d)
      if (ir::uses_var(indices[d], lane_)) return false;
    if (!arith::is_index(index.place.type())) return false;
    const arith::linear sum = arith::to_linear(index.place);
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

  static ir::expr decided(const ir::expr& load, const clamped_index& index) {
    const auto at = [&](const ir::expr& last) {
      std::vector<ir::expr> indices = load->args;
      indices.back() = last;
      return ir::load(load->buffer, std::move(indices));
    };
    std::vector<ir::expr> inside;
    if (index.first) inside.push_back(ir::le(index.first, index.place));
    if (index.last) inside.push_back(ir::le(index.place, index.last));
    const ir::expr beyond = index.first && index.last ? ir::select(ir::lt(index.place, index.first),
                                                                   at(index.first), at(index.last))
                                                      : at(index.first ? index.first : index.last);
    return ir::if_then_else(ir::conjunction(inside), at(index.place), beyond);
  }

  ir::var lane_;
};

}  // namespace tilewright::pass::detail
