#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {
namespace detail::joining {

using values = std::vector<ir::expr>;

/// One value of the tuple.
struct component {
  ir::buffer to;
  values at;          // where an instance stores it
  ir::expr identity;  // a literal
  ir::expr element;   // what an instance combines into it
  commutative_reducer plain;
  int scaled_by = -1;  // the component whose growth scales this sum; -1: none, and `plain` combines
};

inline bool is_nest_of_its_own(const block_scope& scope, std::size_t child) {
  const child_block& c = scope[child];
  for (std::size_t other = 0; other < scope.size(); ++other)
    if (other != child && scope.common_loops(child, other) > 0) return false;
  const auto plain = [](const ir::loop_node* l) {
    return l->loop == ir::loop_kind::serial && l->annotations.empty() && ir::is_int(l->min, 0);
  };
  return !c.conditional && !c.loops.empty() && support::all(c.loops, plain) &&
         is_trivial_binding(c) && ir::is_true(c.realize->predicate);
}

/// What a block computes that is a reduction of one value and a nest of its own.
inline std::optional<component> single_of(const block_scope& scope, std::size_t child) {
  const child_block& c = scope[child];
  if (!c.block().init || !is_nest_of_its_own(scope, child) || !is_reduction(scope, child))
    return std::nullopt;
  reduction_form form;
  if (!find_reduction_form(c.block(), form).empty() || form.stores.size() != 1 ||
      !c.block().annotations.empty())
    return std::nullopt;
  const ir::store_node& store = *form.stores[0];
  std::optional<matched_reducer> found =
      match_reducer(form.identity, {ir::load(store.buffer, store.indices)}, form.updates);
  if (!found || ir::loads_from(found->right[0], store.buffer)) return std::nullopt;
  return component{store.buffer, store.indices, form.identity[0], found->right[0], found->found};
}

/// The second block's iteration variables in terms of the first one's; nothing for other domains.
inline std::optional<ir::var_map> matched_domains(const child_block& first,
                                                  const child_block& second) {
  const std::vector<ir::iter_var>&to = first.block().iters, &from = second.block().iters;
  if (to.size() != from.size()) return std::nullopt;
  ir::var_map out;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].kind != from[i].kind || !ir::equal(to[i].dom.min, from[i].dom.min) ||
        !ir::equal(to[i].dom.extent, from[i].dom.extent))
      return std::nullopt;
    out.emplace(from[i].var, to[i].var);
  }
  return out;
}

inline bool same_list(const values& a, const values& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!ir::equal(a[i], b[i])) return false;
  return true;
}

/// `e` without its factor exp(x - peak); nothing where it has not one such factor, or `peak` elsewhere.
inline std::optional<ir::expr> without_scale(const ir::expr& e, const ir::expr& x,
                                             const ir::expr& peak) {
  if (e->op == ir::op::call && e->name == "exp" && e->args[0]->op == ir::op::sub) {
    const values& terms = e->args[0]->args;
    if (ir::equal(terms[0], x) && ir::equal(terms[1], peak)) return ir::literal(e.type(), 1);
    return std::nullopt;
  }
  if (e->op != ir::op::mul && e->op != ir::op::div) return std::nullopt;
  const bool left = ir::loads_from(e->args[0], peak->buffer),
             right = ir::loads_from(e->args[1], peak->buffer);
  if (left == right || (right && e->op == ir::op::div)) return std::nullopt;
  const std::optional<ir::expr> inner = without_scale(e->args[left ? 0 : 1], x, peak);
  if (!inner) return std::nullopt;
  return left ? ir::with_args(e, {*inner, e->args[1]}) : ir::with_args(e, {e->args[0], *inner});
}

/// A quotient of floats, or the value of a function that takes longer than some additions.
inline bool takes_long(const ir::expr& e) {
  if (!is_float(e.type())) return false;
  if (e->op == ir::op::div) return true;
  constexpr std::array<std::string_view, 8> short_ones{"abs",   "fabs", "maximum", "minimum",
                                                       "floor", "ceil", "trunc",   "likely"};
  return e->op == ir::op::call &&
         support::none(short_ones, [&](std::string_view name) { return e->name == name; });
}

/// Loads of an element that differs from iteration to iteration, and values that do and take long to compute.
inline values own_values(const ir::expr& e, const ir::block_node& block) {
  values out;
  ir::for_each_expr(e, [&](const ir::expr& x) {
    const auto used = [&](const ir::iter_var& i) {
      return ir::is_int(i.dom.extent, 1) || ir::uses_var(x, i.var);
    };
    if ((x->op == ir::op::load || takes_long(x)) && support::all(block.iters, used))
      out.push_back(x);
  });
  return out;
}

inline bool touches(const std::vector<ir::buffer_region>& list, const ir::buffer& b) {
  return support::any(list, [&](const ir::buffer_region& r) { return r.buffer == b; });
}

inline bool meet(const std::vector<ir::buffer_region>& a, const std::vector<ir::buffer_region>& b) {
  return support::any(a, [&](const ir::buffer_region& r) { return touches(b, r.buffer); });
}

/// A group of reductions in the making.
class group {
 public:
  group(const ir::function& f, std::uint64_t first) : f_(f), first_(first) {}

  std::size_t size() const { return parts_.size(); }
  bool rescales() const {
    return support::any(parts_, [](const component& p) { return p.scaled_by >= 0; });
  }

  /// Takes another reduction into the group, whose block goes; or changes nothing.
  void take(std::uint64_t second) {
    const group before = *this;
    try {
      if (inline_between(second) && add(second)) return;
    } catch (const schedule_error&) {  // a block that cannot be inlined
    }
    *this = before;
  }

  /// With the block of the group in place of the first one.
  ir::function joined() const {
    const path at = find_block(f_, first_);
    ir::block_node block = *ir::as_realize(at.target())->block;
    std::vector<ir::stmt> inits, stores;
    values identity, combined, left, right;
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      const component& p = parts_[c];
      inits.push_back(ir::make_store(p.to, p.at, p.identity));
      identity.push_back(p.identity);
      left.push_back(ir::reducer_operand(p.to->type, c));
      right.push_back(ir::reducer_operand(p.to->type, parts_.size() + c));
    }
    const values updates = combine(accumulated(), elements());
    values temporaries;
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      temporaries.push_back(ir::make_var("v_" + parts_[c].to->name, parts_[c].to->type));
      stores.push_back(ir::make_store(parts_[c].to, parts_[c].at, temporaries[c]));
    }
    block.body = ir::make_seq(std::move(stores));
    for (std::size_t c = parts_.size(); c-- > 0;)
      block.body = ir::make_let(temporaries[c], updates[c], block.body);
    block.init = ir::make_seq(std::move(inits));
    block.reads.clear();
    for (const ir::buffer_region& r : reads_)
      if (!is_result(r.buffer)) block.reads.push_back(r);
    block.writes.clear();
    for (const component& p : parts_) block.writes.push_back({p.to, ir::point_box(p.at)});
    block.annotations[ir::reducer_note] =
        ir::print(ir::comm_reducer{identity, combine(left, right)});
    return replace_block(f_, at, ir::make_block(std::move(block)));
  }

 private:
  static block_scope scope_of(const ir::function& f) { return block_scope(*ir::root_block(f)); }

  /// Blocks after the first one that compute elements for the second one give way to what they compute.
  /// @returns whether none is left between them that the second one needs
  bool inline_between(std::uint64_t second) {
    for (;;) {
      const block_scope scope = scope_of(f_);
      const std::size_t from = scope.position(first_), to = scope.position(second);
      std::optional<std::uint64_t> between;
      for (const std::size_t p : producers(scope, to))
        if (p > from && p < to) between = scope[p].block().id;
      if (!between) return true;
      if (scope[scope.position(*between)].block().init) return false;
      f_ = compute_inline(f_, *between);
    }
  }

  bool add(std::uint64_t second) {
    const block_scope scope = scope_of(f_);
    const std::size_t from = scope.position(first_), to = scope.position(second);
    if (parts_.empty()) {
      const std::optional<component> own = single_of(scope, from);
      if (!own) return false;
      parts_.push_back(*own);
      reads_ = scope[from].block().reads;
    }
    const std::optional<component> other = single_of(scope, to);
    const std::optional<ir::var_map> vars = matched_domains(scope[from], scope[to]);
    if (!other || !vars || !may_move(scope, from, to)) return false;
    component p = *other;
    p.at = ir::substitute(p.at, *vars);
    p.element = ir::substitute(p.element, *vars);
    if (!same_list(p.at, parts_[0].at) || !same_list(p.to->shape, parts_[0].to->shape))
      return false;
    if (!shares_value(scope[from].block(), p.element) || !place(p)) return false;
    for (const ir::buffer_region& r : scope[to].block().reads) add_read(ir::substitute(r, *vars));
    parts_.push_back(std::move(p));
    f_ = replace(f_, find_block(f_, second), ir::stmt{});
    return true;
  }

  /// Nothing between the two uses what the second one writes, or writes what it reads.
  static bool may_move(const block_scope& scope, std::size_t from, std::size_t to) {
    const ir::block_node& moved = scope[to].block();
    for (std::size_t b = from + 1; b < to; ++b) {
      const ir::block_node& other = scope[b].block();
      if (meet(other.writes, moved.reads) || meet(other.writes, moved.writes) ||
          meet(other.reads, moved.writes))
        return false;
    }
    // the first one goes on while the second one has begun
    return !meet(scope[from].block().reads, moved.writes);
  }

  bool is_result(const ir::buffer& b) const {
    return support::any(parts_, [&](const component& p) { return p.to == b; });
  }

  /// Whether a reduction of the group has a value that `element` has, too.
  bool shares_value(const ir::block_node& first, const ir::expr& element) const {
    for (const ir::expr& a : own_values(element, first))
      for (const component& p : parts_)
        for (const ir::expr& b : own_values(p.element, first))
          if (ir::equal(a, b)) return true;
    return false;
  }

  /// Finds out how another value depends on those of the group.
  bool place(component& p) {
    std::vector<std::size_t> used;
    for (std::size_t c = 0; c < parts_.size(); ++c)
      if (ir::loads_from(p.element, parts_[c].to)) used.push_back(c);
    if (used.empty()) return true;
    component& peak = parts_[used[0]];
    if (used.size() > 1 || peak.plain.name != "max" || peak.scaled_by >= 0 ||
        p.plain.name != "sum" || !is_float(p.to->type) || peak.to->type != p.to->type)
      return false;
    const std::optional<ir::expr> factors =
        without_scale(p.element, peak.element, ir::load(peak.to, peak.at));
    if (!factors) return false;
    p.element = *factors;
    p.scaled_by = static_cast<int>(used[0]);
    // two of minus infinity have no difference
    if (std::isinf(peak.identity->real))
      peak.identity = ir::real(peak.to->type, -largest_finite(peak.to->type));
    return true;
  }

  static double largest_finite(dtype type) {
    return type == dtype::f64    ? 0x1.fffffffffffffp1023
           : type == dtype::f32  ? 0x1.fffffep127
           : type == dtype::bf16 ? 0x1.fep127
                                 : 65504.0;
  }

  values accumulated() const {
    values out;
    for (const component& p : parts_) out.push_back(ir::load(p.to, p.at));
    return out;
  }
  values elements() const {
    values out;
    for (const component& p : parts_) out.push_back(p.element);
    return out;
  }

  values combine(const values& l, const values& r) const {
    values out;
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      const component& p = parts_[c];
      if (p.scaled_by < 0) {
        out.push_back(p.plain.combine({l[c]}, {r[c]})[0]);
        continue;
      }
      const auto b = static_cast<std::size_t>(p.scaled_by);
      const ir::expr peak = ir::max(l[b], r[b]);
      const auto scaled = [&](const ir::expr& sum, const ir::expr& at) {
        return sum * ir::call(p.to->type, "exp", {at - peak});
      };
      out.push_back(scaled(l[c], l[b]) + scaled(r[c], r[b]));
    }
    return out;
  }

  void add_read(ir::buffer_region r) {
    const auto same = [&](const ir::buffer_region& old) {
      if (old.buffer != r.buffer || old.box.size() != r.box.size()) return false;
      for (std::size_t d = 0; d < r.box.size(); ++d)
        if (!ir::equal(old.box[d].min, r.box[d].min) ||
            !ir::equal(old.box[d].extent, r.box[d].extent))
          return false;
      return true;
    };
    if (support::none(reads_, same)) reads_.push_back(std::move(r));
  }

  ir::function f_;
  std::uint64_t first_;
  std::vector<component> parts_;
  std::vector<ir::buffer_region> reads_;
};

inline std::vector<std::uint64_t> reductions_of(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  std::vector<std::uint64_t> out;
  if (!scope.schedulable()) return out;
  for (std::size_t c = 0; c < scope.size(); ++c)
    if (single_of(scope, c)) out.push_back(scope[c].block().id);
  return out;
}

/// Joins others into one of them. @returns nothing when none can be
inline std::optional<joined_reductions> joined_once(const ir::function& f) {
  const std::vector<std::uint64_t> all = reductions_of(f);
  for (std::size_t first = 0; first < all.size(); ++first) {
    group g(f, all[first]);
    for (std::size_t other = first + 1; other < all.size(); ++other) g.take(all[other]);
    if (g.size() > 1) return joined_reductions{g.joined(), g.rescales()};
  }
  return std::nullopt;
}

}  // namespace detail::joining

TILEWRIGHT_INLINE std::optional<joined_reductions> join_reductions(const ir::function& f) {
  std::optional<joined_reductions> out = detail::joining::joined_once(f);
  // a group has an annotation, and is none of what is looked for
  while (out) {
    std::optional<joined_reductions> more = detail::joining::joined_once(out->function);
    if (!more) break;
    more->rescales = more->rescales || out->rescales;
    out = std::move(more);
  }
  return out;
}

}  // namespace tilewright::primitive
