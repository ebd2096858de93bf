// A block that stores one element, with its indices in terms of the loops around it: how its accesses
// move along a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass::detail::unmarked {

using namespace tilewright::ir;

/// Elements by which an access moves when `v` takes a step; nothing when that is no constant.
inline std::optional<std::int64_t> step_along(const buffer& b, const std::vector<expr>& indices,
                                              const var& v) {
  std::int64_t step = 0, stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    std::int64_t along = 0;
    for (const auto& [term, coefficient] : arith::to_linear(indices[d]).terms) {
      if (term.same(v))
        along = coefficient;
      else if (uses_var(term, v))
        return std::nullopt;
    }
    if (reads_memory(indices[d])) return std::nullopt;
    if (!b->strides.empty()) stride = is_int(b->strides[d]) ? b->strides[d]->integer : 0;
    if (along != 0 && stride == 0) return std::nullopt;  // not known before the call
    step += along * stride;
    if (b->strides.empty()) stride = is_int(b->shape[d]) ? stride * b->shape[d]->integer : 0;
  }
  return step;
}

/// Whether a call computes all lanes of a vector together.
inline bool has_lanes(const expr& call) {
  return !find_external(call->name) &&
         (is_float(call.type()) || ir::detail::is_script_intrinsic(call->name));
}

/// A block with its indices in terms of the loops around it.
class placed_block {
 public:
  /// @param loops what stands for loop variables in the block's iteration variables
  /// @param domains of the variables in these
  explicit placed_block(const block_realize_node& realize, const var_map& loops = {},
                        const arith::loop_domains& domains = {})
      : realize_(realize), store_(as_store(realize.block->body)) {
    domains_.bind(domains);
    for (std::size_t i = 0; i < realize.values.size(); ++i) {
      const iter_var& iter = realize.block->iters[i];
      values_.push_back(loops.empty() ? realize.values[i] : substitute(realize.values[i], loops));
      at_[iter.var] = values_.back();
      domains_.bind(iter.var, iter.dom);
    }
  }

  /// It does nothing but store.
  bool stores() const {
    const block_node& b = *realize_.block;
    return store_ && (!b.init || as_store(b.init)) && b.match_buffers.empty() &&
           b.alloc_buffers.empty();
  }
  /// It does nothing but store one element of several.
  bool stores_one() const { return stores() && !store_->indices.empty(); }
  bool drives(const var& v, iter_kind kind) const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (realize_.block->iters[i].kind == kind && uses_var(values_[i], v)) return true;
    return false;
  }
  /// Instances write side by side along `v`, which drives spatial variables alone.
  bool writes_along(const var& v) const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (uses_var(values_[i], v) && realize_.block->iters[i].kind != iter_kind::spatial)
        return false;
    return step(store_->buffer, store_->indices, v) == 1;
  }
  /// Iterations of `v` write other elements than each other, whatever the loops inside of it do.
  bool writes_apart(const var& v, std::int64_t extent, const std::vector<var>& inside) const {
    return support::any(store_->indices, [&](const expr& index) {
      bool apart = false, mixed = false;
      for (const auto& [term, coefficient] : arith::to_linear(placed(index)).terms) {
        if (term.same(v))
          apart = coefficient == 1;
        else
          mixed = mixed || uses_var(term, v) ||
                  (coefficient % extent != 0 &&
                   support::any(inside, [&, t = term](const var& w) { return uses_var(t, w); }));
      }
      return apart && !mixed;
    });
  }
  /// An iteration of `outer` goes as far as `extent` iterations of `v` do, wherever either is used.
  bool steps_over(const var& outer, const var& v, std::int64_t extent) const {
    bool moved = false;
    for (const expr& value : values_) {
      const arith::linear sum = arith::to_linear(value);
      const std::int64_t step = sum.coefficient(v);
      if (sum.coefficient(outer) != step * extent) return false;
      moved = moved || step != 0;
      if (support::any(sum.terms, [&](const auto& t) {
            return !t.first.same(v) && !t.first.same(outer) &&
                   (uses_var(t.first, v) || uses_var(t.first, outer));
          }))
        return false;
    }
    return moved;
  }
  /// Why vectors along `v` cannot be loaded; empty when they can.
  /// @param most_step elements from lane to lane
  std::string obstacle(const var& v, std::int64_t most_step = target::most_lane_step) const {
    std::string out;
    for_each_expr(store_->value, [&](const expr& e) {
      if (!out.empty()) return;
      if (e->op == op::call && !has_lanes(e)) out = "it calls " + e->name;
      if (e->op == op::data || e->op == op::let) out = "it hands out memory";
      if (e->op != op::load) return;
      if (e->buffer == store_->buffer) {
        if (!same_indices(e->args, store_->indices))
          out = "it reads other elements of " + e->buffer->name + ", which it writes";
        return;
      }
      const std::optional<std::int64_t> by = step(e->buffer, e->args, v);
      if (!by)
        out = e->buffer->name + " is read at places that do not follow loop " + v->name;
      else if (*by < 0 || *by > most_step)
        out = e->buffer->name + " is read every " + std::to_string(*by) + " elements along loop " +
              v->name;
    });
    return out;
  }

  const store_node& store() const { return *store_; }

 private:
  static bool divides(const expr& index) {
    bool out = false;
    for_each_expr(
        index, [&](const expr& e) { out = out || e->op == op::floordiv || e->op == op::floormod; });
    return out;
  }

  /// An index in terms of loops. What iteration variables alone decide is decided first: v // 64 is 0
  /// where v is one of 64, whatever loops drive it.
  expr placed(const expr& index) const {
    const expr out = substitute(divides(index) ? domains_.simplify(index) : index, at_);
    return divides(out) ? domains_.simplify(out) : out;
  }

  std::optional<std::int64_t> step(const buffer& b, const std::vector<expr>& indices,
                                   const var& v) const {
    std::vector<expr> at;
    for (const expr& e : indices) at.push_back(placed(e));
    return step_along(b, at, v);
  }

  const block_realize_node& realize_;
  const store_node* store_;
  std::vector<expr> values_;  // of the iteration variables
  var_map at_;
  arith::analyzer domains_;
};

}  // namespace tilewright::pass::detail::unmarked
