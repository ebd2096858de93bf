#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/cover/carried_reads.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/iteration_sharing.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

TILEWRIGHT_INLINE block_scope::block_scope(const ir::block_node& root) : root_(&root) {
  children_.reserve(8);
  stack_.reserve(32);
  collect(root.body, false);
  if (!loaded_around_.empty()) widen();
}

/// Finds the blocks directly below, with their loops. Beside loops, whatever a block stands in decides
/// whether and how often it runs: expressions there that read memory are kept in `around_` on the way
/// down, since the block depends on what they read as if it read it itself.
/// @param conditional something else than loops decides whether the block runs
TILEWRIGHT_INLINE void block_scope::collect(const ir::stmt& s, bool conditional) {
  const std::size_t outside = around_.size();
  const auto within = [&](const ir::expr& e) {
    if (ir::reads_memory(e)) around_.push_back(e);
  };
  schedulable_ = schedulable_ && (ir::as_loop(s) || ir::as_seq(s) || ir::as_realize(s));
  switch (s->kind) {
    case ir::stmt_kind::loop:
      within(ir::as_loop(s)->min);
      within(ir::as_loop(s)->extent);
      stack_.push_back(ir::as_loop(s));
      collect(ir::as_loop(s)->body, conditional);
      stack_.pop_back();
      break;
    case ir::stmt_kind::seq:
      for (const ir::stmt& child : ir::as_seq(s)->stmts) collect(child, conditional);
      break;
    case ir::stmt_kind::block_realize: add_child(*ir::as_realize(s), conditional); break;
    case ir::stmt_kind::if_else:
      within(ir::as_if(s)->condition);
      collect(ir::as_if(s)->then_body, true);
      if (ir::as_if(s)->else_body) collect(ir::as_if(s)->else_body, true);
      break;
    case ir::stmt_kind::let:
      within(ir::as_let(s)->value);
      collect(ir::as_let(s)->body, true);
      break;
    case ir::stmt_kind::while_loop:
      within(ir::as_while(s)->condition);
      collect(ir::as_while(s)->body, true);
      break;
    case ir::stmt_kind::allocate: collect(ir::as_allocate(s)->body, conditional); break;
    case ir::stmt_kind::attribute: collect(ir::as_attribute(s)->body, conditional); break;
    case ir::stmt_kind::store:
    case ir::stmt_kind::evaluate: break;
  }
  around_.resize(outside);
}

TILEWRIGHT_INLINE void block_scope::add_child(const ir::block_realize_node& realize,
                                              bool conditional) {
  const auto note = [&](const ir::expr& e) {
    if (!ir::reads_memory(e)) return;
    ir::for_each_expr(e, [&](const ir::expr& x) {
      if (x->buffer) loaded_around_.push_back({children_.size(), x->buffer});
    });
  };
  note(realize.predicate);
  for (const ir::expr& value : realize.values) note(value);
  for (const ir::expr& e : around_) note(e);
  children_.push_back({&realize, stack_, conditional});
}

/// A block whose loops, conditions or bindings load a buffer that some block of the scope writes gets that
/// buffer among its reads, whole: every question about order then sees the dependence.
TILEWRIGHT_INLINE void block_scope::widen() {
  const auto is_written = [&](const ir::buffer& b) {
    return support::any(
        children_, [&](const child_block& c) { return ir::writes_buffer(*c.realize->block, b); });
  };
  for (const auto& [child, buffer] : loaded_around_) {
    if (!is_written(buffer)) continue;
    ir::block_node wide = children_[child].block();
    wide.reads.push_back(ir::full_region(buffer));
    children_[child].widened = std::make_shared<const ir::block_node>(std::move(wide));
  }
}

TILEWRIGHT_INLINE int block_scope::find(std::uint64_t block_id) const noexcept {
  for (std::size_t i = 0; i < children_.size(); ++i)
    if (children_[i].block().id == block_id) return static_cast<int>(i);
  return -1;
}

TILEWRIGHT_INLINE bool block_scope::allocates(const ir::buffer& b) const noexcept {
  const std::vector<ir::buffer>& list = root_->alloc_buffers;
  return support::contains(list, b);
}

TILEWRIGHT_INLINE std::size_t block_scope::common_loops(std::size_t a,
                                                        std::size_t b) const noexcept {
  const auto& x = children_[a].loops;
  const auto& y = children_[b].loops;
  std::size_t n = 0;
  while (n < x.size() && n < y.size() && x[n] == y[n]) ++n;
  return n;
}

TILEWRIGHT_INLINE bool holds_block(const ir::stmt& s, std::uint64_t block_id) {
  switch (s->kind) {
    case ir::stmt_kind::block_realize: return ir::as_realize(s)->block->id == block_id;
    case ir::stmt_kind::loop: return holds_block(ir::as_loop(s)->body, block_id);
    case ir::stmt_kind::seq: {
      const std::vector<ir::stmt>& list = ir::as_seq(s)->stmts;
      return support::any(list, [&](const ir::stmt& c) { return holds_block(c, block_id); });
    }
    case ir::stmt_kind::if_else: {
      const ir::if_node& n = *ir::as_if(s);
      return holds_block(n.then_body, block_id) ||
             (n.else_body && holds_block(n.else_body, block_id));
    }
    case ir::stmt_kind::let: return holds_block(ir::as_let(s)->body, block_id);
    case ir::stmt_kind::allocate: return holds_block(ir::as_allocate(s)->body, block_id);
    case ir::stmt_kind::while_loop: return holds_block(ir::as_while(s)->body, block_id);
    case ir::stmt_kind::attribute: return holds_block(ir::as_attribute(s)->body, block_id);
    case ir::stmt_kind::store:
    case ir::stmt_kind::evaluate: return false;
  }
  return false;
}

namespace scopes {

using arith::bounds;

/// Constant bounds of an expression over the iteration variables of a block.
inline bounds range_in_block(const ir::expr& e, const ir::block_node& block) {
  if (const int alone = iter_index(block, e); alone >= 0)
    return constant_range(block.iters[static_cast<std::size_t>(alone)].dom);
  const arith::linear sum = arith::to_linear(e);
  bounds out{sum.constant, sum.constant};
  for (const auto& [term, factor] : sum.terms) {
    bounds part;
    const int i = iter_index(block, term);
    if (i >= 0) {
      part = constant_range(block.iters[static_cast<std::size_t>(i)].dom);
    } else if (!ir::is_var(term)) {
      part = knowing(block.iters).const_bounds(term);
    }
    out = arith::add(out, arith::scale(part, factor));
  }
  return out;
}

inline bool stores_use_reduce(const ir::stmt& s, const ir::var_set& reduce) {
  return ir::any_stmt(s, [&](const ir::stmt& x) {
    const ir::store_node* store = ir::as_store(x);
    return store &&
           support::any(store->indices, [&](const ir::expr& i) { return ir::uses_any(i, reduce); });
  });
}

/// One dimension of a region over the whole domain of the block's iteration variables, cut to the
/// buffer.
inline bounds constant_side(const ir::block_node& block, const ir::buffer_region& region,
                            std::size_t dimension) {
  const ir::range& dim = region.box[dimension];
  bounds b = range_in_block(dim.min, block);
  if (ir::is_int(dim.extent))
    b = arith::add(b, {0, ir::as_int(dim.extent) - 1});
  else
    b.hi = arith::add(range_in_block(dim.min + dim.extent, block), {-1, -1}).hi;
  return meet(b, bounds_of_shape(region, dimension));
}

/// Whether no other block writes what this one does; only children that `counts` accepts are asked.
template <class Counts>
bool dominant_among(const block_scope& scope, std::size_t child, Counts counts) {
  const ir::block_node& b = scope[child].block();
  for (std::size_t other = 0; other < scope.size(); ++other) {
    const ir::block_node& o = scope[other].block();
    if (other != child && counts(other) && meet_anywhere(b, b.writes, o, o.writes)) return false;
  }
  return true;
}

inline bool is_below(const child_block& child, const ir::var& loop) {
  return loop_index(child.loops, loop) >= 0;
}

/// @name What the block alone says of the two properties
/// The number of a reason, as complete_reason and reduction_reason have them; 0 where only its bindings and
/// the other blocks of the scope can tell.
/// @{
inline int shape_of_complete(const ir::block_node& b) {
  for (const ir::iter_var& v : b.iters)
    if (v.kind != ir::iter_kind::spatial) return 1;
  const auto is_read = [&](const ir::buffer_region& w) { return ir::reads_buffer(b, w.buffer); };
  return support::any(b.writes, is_read) ? 3 : 0;
}

inline int shape_of_reduction(const ir::block_node& b) {
  if (!b.init) return 1;
  ir::var_set reduce;
  for (const ir::iter_var& v : b.iters) {
    if (v.kind == ir::iter_kind::reduce)
      reduce.insert(v.var);
    else if (v.kind != ir::iter_kind::spatial)
      return 3;
  }
  if (!reduce.empty() && (stores_use_reduce(b.body, reduce) || stores_use_reduce(b.init, reduce)))
    return 5;
  return reads_other_results(b) ? 7 : 0;
}
/// @}

}  // namespace scopes

TILEWRIGHT_INLINE std::vector<arith::bounds> constant_box(const ir::block_node& block,
                                                          const ir::buffer_region& region) {
  std::vector<arith::bounds> out;
  out.reserve(region.box.size());
  for (std::size_t d = 0; d < region.box.size(); ++d)
    out.push_back(scopes::constant_side(block, region, d));
  return out;
}

TILEWRIGHT_INLINE bool may_overlap(const ir::block_node& a, const ir::buffer_region& of_a,
                                   const ir::block_node& b, const ir::buffer_region& of_b) {
  if (of_a.buffer != of_b.buffer) return false;
  for (std::size_t d = 0; d < of_a.box.size(); ++d)  // side by side: the first often tells
    if (disjoint(scopes::constant_side(a, of_a, d), scopes::constant_side(b, of_b, d)))
      return false;
  return true;
}

TILEWRIGHT_INLINE bool meet_anywhere(const ir::block_node& a,
                                     const std::vector<ir::buffer_region>& of_a,
                                     const ir::block_node& b,
                                     const std::vector<ir::buffer_region>& of_b) {
  return support::any(of_a, [&](const ir::buffer_region& x) {
    return support::any(of_b, [&](const ir::buffer_region& y) { return may_overlap(a, x, b, y); });
  });
}

TILEWRIGHT_INLINE std::vector<dependence_edge> dependences(const block_scope& scope) {
  std::vector<dependence_edge> out;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& a = scope[i].block();
    for (std::size_t j = i + 1; j < scope.size(); ++j) {
      const ir::block_node& b = scope[j].block();
      if (meet_anywhere(a, a.writes, b, b.reads))
        out.push_back({i, j, dependence_kind::read_after_write});
      if (meet_anywhere(a, a.writes, b, b.writes))
        out.push_back({i, j, dependence_kind::write_after_write});
      if (meet_anywhere(a, a.reads, b, b.writes))
        out.push_back({i, j, dependence_kind::write_after_read});
    }
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<std::size_t> producers(const block_scope& scope, std::size_t child) {
  std::vector<std::size_t> out;
  const ir::block_node& b = scope[child].block();
  for (const auto* list : {&b.reads, &b.writes})
    for (const ir::buffer_region& r : *list)
      for (std::size_t i = 0; i < child; ++i) {
        const ir::block_node& a = scope[i].block();
        if (!support::contains(out, i) && meet_anywhere(a, a.writes, b, {r})) out.push_back(i);
      }
  return out;
}

TILEWRIGHT_INLINE std::vector<std::size_t> consumers(const block_scope& scope, std::size_t child) {
  std::vector<std::size_t> out;
  const ir::block_node& b = scope[child].block();
  for (std::size_t i = child + 1; i < scope.size(); ++i) {
    const ir::block_node& c = scope[i].block();
    if (meet_anywhere(b, b.writes, c, c.reads) || meet_anywhere(b, b.writes, c, c.writes))
      out.push_back(i);
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<std::size_t> readers(const block_scope& scope, std::size_t child) {
  std::vector<std::size_t> out;
  const ir::block_node& b = scope[child].block();
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& c = scope[i].block();
    if (i != child && meet_anywhere(b, b.writes, c, c.reads)) out.push_back(i);
  }
  return out;
}

TILEWRIGHT_INLINE bool is_output(const block_scope& scope, std::size_t child) {
  for (const ir::buffer_region& w : scope[child].block().writes)
    if (!scope.allocates(w.buffer)) return true;
  return false;
}

TILEWRIGHT_INLINE bool is_dominant(const block_scope& scope, std::size_t child) {
  return scopes::dominant_among(scope, child, [](std::size_t) { return true; });
}

// Cheap questions come first. Whether instances write apart, the dearest one, is asked only of a block that
// nothing else is wrong with; so a block with two faults is told of the other.
TILEWRIGHT_INLINE int complete_violation(const block_scope& scope, std::size_t child) {
  const int shape = scopes::shape_of_complete(scope[child].block());
  if (shape == 1) return 1;
  if (!is_dominant(scope, child)) return 2;
  if (shape == 0 && !writes_once(scope[child])) return 4;
  return shape;
}

TILEWRIGHT_INLINE int reduction_violation(const block_scope& scope, std::size_t child, guards may) {
  const int shape = scopes::shape_of_reduction(scope[child].block());
  if (shape == 1) return 1;
  if (!reduces_affinely(scope[child]) &&
      !(may == guards::terms && reduces_without_guard(scope[child])))
    return 2;
  if (shape == 3) return 3;
  if (!is_dominant(scope, child)) return 4;
  if (shape == 0 && !writes_once(scope[child])) return 6;
  return shape;
}

TILEWRIGHT_INLINE std::string_view complete_reason(int violation) {
  switch (violation) {
    case 1: return "it has iteration variables that are not spatial (1)";
    case 2: return "another block writes what it writes (2)";
    case 3: return "it reads a buffer that it writes (3)";
    case 4: return "several of its instances write the same elements (4)";
    default: return "";
  }
}

TILEWRIGHT_INLINE std::string_view reduction_reason(int violation) {
  switch (violation) {
    case 1: return "it has no init (1)";
    case 2: return "its bindings are not affine, or instances repeat within the reduction (2)";
    case 3: return "it has iteration variables that are neither spatial nor reduce (3)";
    case 4: return "another block writes what it writes (4)";
    case 5: return "a reduce variable occurs in an index of its stores (5)";
    case 6: return "instances that differ in spatial variables write the same elements (6)";
    case 7: return "it reads other elements of its result than it updates (7)";
    default: return "";
  }
}

TILEWRIGHT_INLINE bool is_stage_pipeline(const block_scope& scope) {
  for (std::size_t i = 0; i < scope.size(); ++i)
    for (const ir::buffer_region& r : scope[i].realize->block->reads) {
      for (std::size_t later = i + 1; later < scope.size(); ++later)
        if (ir::writes_buffer(scope[later].block(), r.buffer)) return false;
      if (!region_covered(scope, i, r.buffer)) return false;
    }
  return true;
}

namespace scopes {

template <class Around>
ir::var any_used(const ir::block_node& block, const Around& is_around) {
  ir::var found;
  for (const ir::stmt& s : {block.init, block.body})
    if (s)
      ir::for_each_expr(s, [&](const ir::expr& e) {
        if (ir::is_var(e) && is_around(e)) found = e;
      });
  return found;
}

/// Appends the variables of the block that the loop drives, and those of blocks inside of it: most have
/// none, and what they compute follows their own variables alone.
inline void collect_driven(const child_block& child, const ir::var& loop,
                           std::vector<driven_iter>& out) {
  const ir::block_node& b = child.block();
  for (std::size_t i = 0; i < child.realize->values.size(); ++i)
    if (ir::uses_var(child.realize->values[i], loop)) out.push_back({&b, b.iters[i].kind});
  if (ir::as_store(b.body) || !any_used(b, [&](const ir::expr& v) { return v.same(loop); })) return;
  const block_scope inside(b);
  for (const child_block& c : inside.children()) collect_driven(c, loop, out);
}

}  // namespace scopes

TILEWRIGHT_INLINE std::vector<driven_iter> driven_iters(const block_scope& scope,
                                                        const ir::var& loop) {
  std::vector<driven_iter> out;
  for (const child_block& child : scope.children())
    if (scopes::is_below(child, loop)) scopes::collect_driven(child, loop, out);
  return out;
}

TILEWRIGHT_INLINE loop_iter_kind iter_kind_of(const block_scope& scope, const ir::var& loop) {
  bool spatial = false, reduce = false;
  for (const driven_iter& v : driven_iters(scope, loop)) {
    if (v.kind != ir::iter_kind::spatial && v.kind != ir::iter_kind::reduce)
      return loop_iter_kind::mixed;
    (v.kind == ir::iter_kind::spatial ? spatial : reduce) = true;
  }
  if (spatial && reduce) return loop_iter_kind::mixed;
  return reduce ? loop_iter_kind::reduce : loop_iter_kind::spatial;
}

TILEWRIGHT_INLINE ir::var used_inside(const ir::block_node& block, const ir::var_set& around) {
  return scopes::any_used(block, [&](const ir::var& v) { return around.count(v) != 0; });
}

TILEWRIGHT_INLINE ir::var used_inside(const child_block& child) {
  return scopes::any_used(child.block(),
                          [&](const ir::var& v) { return loop_index(child.loops, v) >= 0; });
}

namespace scopes {

/// Of what it writes an instance reads only the elements that it writes itself, as no other instance does
/// that differs in a spatial variable: `Y[i] = Y[i] + X[i]`, or `Y[i] = Y[i] + X[i, k]` without an init, a
/// reduction that continues one. With an init the declared reads say nothing of what is written.
inline bool updates_own_elements(const ir::block_node& b) {
  const rising_numbers rising(b);
  for (const ir::iter_var& iter : b.iters) {
    if (iter.kind == ir::iter_kind::reduce && !b.init) continue;
    if (iter.kind != ir::iter_kind::spatial ||
        !support::all(b.writes,
                      [&](const ir::buffer_region& w) { return is_index(iter, w, rising); }))
      return false;
  }
  return !read_of_others(b);
}

/// Each instance writes elements of its own, without an init, and reads only what instances of the same iteration of the loop
/// have written, as `Y[i + 1, c] = Y[i, c] + X[i, c]` does for a loop that drives c.
inline bool goes_on_within(const child_block& child, std::size_t loop) {
  const ir::block_node& b = child.block();
  const rising_numbers rising(b);
  const auto is_own = [&](const ir::iter_var& i) {
    return i.kind == ir::iter_kind::spatial &&
           support::all(b.writes,
                        [&](const ir::buffer_region& w) { return is_index(i, w, rising); });
  };
  return !b.init && support::all(b.iters, is_own) &&
         support::all(b.writes, [&](const ir::buffer_region& w) {
           return support::all(b.reads, [&](const ir::buffer_region& r) {
             return r.buffer != w.buffer || share_within_iterations(child, w, child, r, loop);
           });
         });
}

}  // namespace scopes

TILEWRIGHT_INLINE int compact_dataflow_violation(const block_scope& scope, const ir::var& loop,
                                                 ir::private_buffers& own, bool atomics) {
  using namespace scopes;
  const auto below = [&](std::size_t i) { return is_below(scope[i], loop); };
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (!below(i)) continue;
    const ir::block_node& b = scope[i].block();
    if (!dominant_among(scope, i, below)) return static_cast<int>(i);
    if (atomics && ir::adds_atomically(b)) continue;
    const auto at = static_cast<std::size_t>(loop_index(scope[i].loops, loop));
    if (!scope[i].runs_alone(at)) continue;
    const bool reduces = shape_of_reduction(b) == 0;
    const auto in_place = [&] {
      return (updates_own_elements(b) || (reduces && reduces_without_guard(scope[i])) ||
              goes_on_within(scope[i], at)) &&
             iterations_apart(scope[i], at);
    };
    if (shape_of_complete(b) != 0 && !(reduces && reduces_affinely(scope[i])) && !in_place())
      return static_cast<int>(i);
    if (!support::all(b.writes, [&](const ir::buffer_region& w) {
          return writes_apart(scope[i], at, w, own) != apartness::none;
        }))
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace tilewright::dependence
