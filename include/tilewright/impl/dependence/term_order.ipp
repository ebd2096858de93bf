#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/dependence/term_order.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>

namespace tilewright::dependence {
namespace detail::orders {

/// Loops of a nest that have several iterations, or may, by position.
using places = std::vector<std::size_t>;

inline bool is_one(const ir::loop_node& l) { return ir::is_int(l.extent, 1); }

inline places loops_of(const ir::expr& value, const loop_nest& nest) {
  places out;
  for (std::size_t l = 0; l < nest.size(); ++l)
    if (!is_one(*nest[l]) && ir::uses_var(value, nest[l]->var)) out.push_back(l);
  return out;
}

/// Whether the value is larger in each later iteration of those loops, of which the outermost one is the first
/// and whatever else stands in it stays.
inline bool rises(const ir::expr& value, const loop_nest& nest, const places& along) {
  const arith::linear sum = arith::to_linear(knowing(nest).simplify(value));
  std::int64_t inner = 0;  // by which the loops inside may change the sum
  for (std::size_t k = along.size(); k-- > 0;) {
    const ir::loop_node& loop = *nest[along[k]];
    const std::int64_t step = sum.coefficient(loop.var);
    if (step <= inner) return false;
    if (k == 0) break;
    if (!ir::is_int(loop.extent)) return false;
    const std::int64_t span = support::saturated_product(step, loop.extent->integer - 1);
    inner = support::saturated_sum(inner, span);
  }
  return support::all(sum.terms, [&](const auto& term) {
    return ir::is_var(term.first) || support::none(along, [&](std::size_t l) {
             return ir::uses_var(term.first, nest[l]->var);
           });
  });
}

/// A reduction with the loops around it, within the block that it stands in.
class reduction {
 public:
  reduction(const ir::block_realize_node& realize, const loop_nest& nest)
      : block_(*realize.block), nest_(nest) {
    for (std::size_t k = 0; k < block_.iters.size(); ++k) {
      const ir::iter_var& iter = block_.iters[k];
      bindings_.emplace(iter.var, ir::cast(iter.var.type(), realize.values[k]));
      if (iter.kind != ir::iter_kind::reduce)
        spatial_.push_back(realize.values[k]);
      else if (!ir::is_int(iter.dom.extent, 1))
        reduced_.push_back({iter, realize.values[k]});
    }
  }

  std::string disorder() const {
    const places all = reducing();
    for (const std::size_t l : all)
      if (std::string why = problem(l, all); !why.empty())
        return "block \"" + block_.name + "\": loop \"" + nest_[l]->var->name + "\" " + why;
    if (rise_apart() || rise_together(all)) return {};
    return "block \"" + block_.name + "\": its loops bring terms in another order than " + names();
  }

  /// Whether the value, which no other loops move, is larger in each later iteration of the loops that bring terms.
  bool rises_along(const ir::expr& value) const {
    const places all = reducing();
    const ir::expr here = ir::substitute(value, bindings_);
    for (std::size_t l = 0; l < nest_.size(); ++l) {
      const ir::loop_node& loop = *nest_[l];
      const bool stays = is_one(loop) && ir::is_int(loop.min);
      if (support::contains(all, l) ? !problem(l, all).empty()
                                    : !stays && ir::uses_var(here, loop.var))
        return false;
    }
    return rises(here, nest_, all);
  }

 private:
  struct bound {
    ir::iter_var iter;
    ir::expr value;
  };

  /// The loops that reduce variables are bound to.
  places reducing() const {
    places all;
    for (const auto& [iter, value] : reduced_)
      for (const std::size_t l : loops_of(value, nest_))
        if (!support::contains(all, l)) all.push_back(l);
    std::sort(all.begin(), all.end());
    return all;
  }

  std::string problem(std::size_t l, const places& all) const {
    const ir::loop_node& loop = *nest_[l];
    if (loop.loop != ir::loop_kind::serial && loop.loop != ir::loop_kind::unrolled)
      return "brings several terms at once";
    for (const ir::expr& value : spatial_)
      if (ir::uses_var(value, loop.var)) return "moves results and terms";
    for (const std::size_t other : all)
      if (bounds_use(*nest_[other], loop.var)) return "bounds another loop of the reduction";
    return {};
  }

  /// Each variable has loops of its own, inside of those of the variables before.
  bool rise_apart() const {
    std::optional<std::size_t> last;
    for (const auto& [iter, value] : reduced_) {
      const places own = loops_of(value, nest_);
      if (own.empty() || (last && own.front() <= *last) || !rises(value, nest_, own)) return false;
      last = own.back();
    }
    return true;
  }

  /// The variables are digits of one number, as those of fused loops are.
  bool rise_together(const places& all) const {
    ir::expr number;
    for (const auto& [iter, value] : reduced_) {
      const dtype type = reduced_.front().value.type();
      if (!ir::is_int(iter.dom.extent) || !ir::is_int(iter.dom.min, 0) || value.type() != type)
        return false;
      number = number ? number * ir::integer(type, iter.dom.extent->integer) + value : value;
    }
    return rises(number, nest_, all);
  }

  std::string names() const {
    std::string out;
    for (const bound& b : reduced_) out += (out.empty() ? "" : ", ") + b.iter.var->name;
    return out;
  }

  const ir::block_node& block_;
  const loop_nest& nest_;
  std::vector<bound> reduced_;
  std::vector<ir::expr> spatial_;
  ir::var_map bindings_;
};

class searcher : public ir::visitor {
 public:
  std::string found;
  using ir::visitor::visit;
  void visit(const ir::stmt& s) override {
    if (!found.empty()) return;
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      nest_.push_back(loop);
      visit(loop->body);
      nest_.pop_back();
    } else if (const ir::block_realize_node* realize = ir::as_realize(s)) {
      enter(*realize);
    } else {
      ir::visitor::visit(s);
    }
  }

 private:
  void enter(const ir::block_realize_node& realize) {
    const ir::block_node& b = *realize.block;
    if (ir::reduces_floats(b)) {
      if (depth_ > 1) {
        found = "block \"" + b.name + "\" stands inside of another one";
        return;
      }
      found = reduction(realize, nest_).disorder();
    }
    loop_nest outside = std::exchange(nest_, {});
    ++depth_;
    visit(b.body);
    --depth_;
    nest_ = std::move(outside);
  }

  loop_nest nest_;
  int depth_ = 0;  // blocks around
};

}  // namespace detail::orders

TILEWRIGHT_INLINE std::string term_disorder(const ir::function& f) {
  detail::orders::searcher all;
  all.visit(f.body);
  return std::move(all.found);
}

TILEWRIGHT_INLINE bool rises_with_terms(const ir::expr& value,
                                        const ir::block_realize_node& realize,
                                        const loop_nest& nest) {
  return detail::orders::reduction(realize, nest).rises_along(value);
}

}  // namespace tilewright::dependence
