// How transform_layout fills places that no element takes; see transform_layout.hpp.
#pragma once

#include <algorithm>
#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/buffers/transform_layout.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive::detail::layouts {

TILEWRIGHT_INLINE ir::expr task::at(const ir::expr& e, const std::vector<ir::expr>& indices) const {
  ir::var_map values;
  for (std::size_t i = 0; i < indices.size(); ++i) values.emplace(layout.axes[i], indices[i]);
  return ir::substitute(e, values);
}

TILEWRIGHT_INLINE ir::expr task::padded(const ir::expr& value,
                                        const std::vector<ir::expr>& indices) const {
  return ir::if_then_else(at(layout.padding, indices), at(pad_value, indices), value);
}

/// Stores of a block's own init and body; nested blocks are other blocks.
inline std::vector<const ir::store_node*> own_stores(const ir::block_node& b) {
  struct collector : ir::visitor {
    std::vector<const ir::store_node*> list;
    using ir::visitor::visit;
    void visit(const ir::stmt& s) override {
      if (const ir::store_node* store = ir::as_store(s)) list.push_back(store);
      if (!ir::as_realize(s)) ir::visitor::visit(s);
    }
  } found;
  if (b.init) found.visit(b.init);
  found.visit(b.body);
  return std::move(found.list);
}

TILEWRIGHT_INLINE std::vector<const ir::block_realize_node*> writers(const ir::function& f,
                                                                     const ir::buffer& b) {
  std::vector<const ir::block_realize_node*> blocks = all_blocks(f.body);
  if (const ir::block_realize_node* root = ir::as_realize(f.body))
    blocks.insert(blocks.begin(), root);
  std::erase_if(blocks, [&](const ir::block_realize_node* r) {
    const auto stores = own_stores(*r->block);
    return support::none(stores, [&](const ir::store_node* s) { return s->buffer == b; });
  });
  return blocks;
}

/// Axes as loops and as iteration variables of a block over the whole new buffer.
struct whole_buffer {
  std::vector<ir::iter_var> iters;
  std::vector<ir::expr> loops, extents, points;

  explicit whole_buffer(const task& t) {
    for (std::size_t k = 0; k < t.layout.axes.size(); ++k) {
      const ir::var& axis = t.layout.axes[k];
      const dtype type = axis.type();
      loops.push_back(ir::make_var(axis->name, type));
      iters.push_back({ir::make_var("v_" + axis->name, type),
                       {ir::integer(type, 0), t.layout.shape[k]},
                       ir::iter_kind::spatial});
      extents.push_back(t.layout.shape[k]);
      points.push_back(iters.back().var);
    }
  }

  ir::stmt nest(ir::stmt body) const { return nest_around(loops, extents, std::move(body)); }
};

/// The function with a block at its start that says what the padding of an input holds.
inline ir::function with_assumption(const ir::function& f, const task& t) {
  const whole_buffer w(t);
  ir::block_node b;
  b.name = "buffer_" + t.new_buffer->name + "_assumptions";
  b.iters = w.iters;
  b.reads = {{t.new_buffer, ir::point_box(w.points)}};
  const ir::expr holds = ir::eq(ir::load(t.new_buffer, w.points), t.at(t.pad_value, w.points));
  const ir::expr outside = ir::logical_not(t.at(t.layout.padding, w.points));
  b.body = ir::make_evaluate(ir::call(dtype::boolean, "assume", {ir::logical_or(outside, holds)}));
  ir::stmt nest =
      w.nest(ir::make_realize(w.loops, ir::boolean(true), ir::make_block(std::move(b))));
  ir::block_node root = *ir::root_block(f);
  root.body = ir::make_seq({std::move(nest), root.body});
  const ir::block_realize_node& old = *ir::as_realize(f.body);
  ir::function out = f;
  out.body = ir::make_realize(old.values, old.predicate, ir::make_block(std::move(root)));
  return out;
}

/// Whether the value of a store reads nothing of its buffer but the element that it replaces, so that
/// the order of the stores does not matter.
inline bool reads_own_element(const ir::store_node& store) {
  return !ir::any_expr(store.value, [&](const ir::expr& e) {
    return e->op == ir::op::load && e->buffer == store.buffer &&
           !std::equal(e->args.begin(), e->args.end(), store.indices.begin(),
                       [](const ir::expr& x, const ir::expr& y) { return x.same(y); });
  });
}

/// Whether the block runs as well at places that no element takes, where its stores choose the
/// padding: nothing else in it reads memory, and it has no views, of which there may be no part.
inline bool runs_in_padding(const ir::block_node& b) {
  const auto disturbs = [](const ir::stmt& x) {
    if (const ir::loop_node* loop = ir::as_loop(x)) return bounds_load(*loop);
    if (const ir::store_node* store = ir::as_store(x)) return !reads_own_element(*store);
    return ir::as_seq(x) == nullptr;
  };
  return b.match_buffers.empty() && !ir::any_stmt(b.init, disturbs) &&
         !ir::any_stmt(b.body, disturbs);
}

/// A nest that writes the buffer in row-major order and does nothing else.
struct traversal {
  path head;                       // to the outermost of the loops over the dimensions
  std::vector<std::size_t> iters;  // per dimension: which iteration variable of the block
  loop_nest inner;                 // further loops down to the block
};

/// Which iteration variable of the block is the index of each dimension; nothing when the stores
/// are of another form.
inline std::optional<std::vector<std::size_t>> index_iters(const ir::block_node& b,
                                                           const ir::buffer& buffer) {
  std::optional<std::vector<std::size_t>> out;
  for (const ir::store_node* s : own_stores(b)) {
    if (s->buffer != buffer) return std::nullopt;
    std::vector<std::size_t> used;
    for (const ir::expr& index : s->indices) {
      const int at = iter_index(b, index);
      const auto k = static_cast<std::size_t>(at);
      if (at < 0 || support::contains(used, k)) return std::nullopt;
      used.push_back(k);
    }
    if (out && *out != used) return std::nullopt;
    out = std::move(used);
  }
  return out;
}

inline bool runs_over(const ir::loop_node& loop, const ir::expr& extent) {
  return loop.loop == ir::loop_kind::serial && ir::is_int(loop.min, 0) &&
         arith::same_value(loop.extent, extent);
}

inline std::optional<traversal> row_major(const ir::function& f,
                                          const ir::block_realize_node& realize,
                                          const ir::buffer& buffer) {
  const ir::block_node& b = *realize.block;
  const auto iters = index_iters(b, buffer);
  if (!iters || iters->empty() || !child_blocks(b.body).empty() ||
      !ir::is_true(realize.predicate) || !runs_in_padding(b))
    return std::nullopt;
  path at = find_block(f, b.id);
  const loop_nest loops = at.loops();
  const std::size_t rank = iters->size();
  const auto first = support::find(
      loops, [&](const ir::loop_node* l) { return l->var.same(realize.values[iters->front()]); });
  if (static_cast<std::size_t>(loops.end() - first) < rank) return std::nullopt;
  for (std::size_t k = 0; k < rank; ++k) {
    const ir::loop_node& loop = **(first + static_cast<std::ptrdiff_t>(k));
    const ir::iter_var& iter = b.iters[(*iters)[k]];
    if (!loop.var.same(realize.values[(*iters)[k]]) || !runs_over(loop, buffer->shape[k]) ||
        iter.kind != ir::iter_kind::spatial || !ir::is_int(iter.dom.min, 0) ||
        !arith::same_value(iter.dom.extent, buffer->shape[k]))
      return std::nullopt;
    for (std::size_t i = 0; i < realize.values.size(); ++i)
      if (i != (*iters)[k] && ir::uses_var(realize.values[i], loop.var)) return std::nullopt;
    if (std::any_of(first, loops.end(),
                    [&](const ir::loop_node* l) { return bounds_use(*l, loop.var); }))
      return std::nullopt;
  }
  traversal out{at, *iters, {first + static_cast<std::ptrdiff_t>(rank), loops.end()}};
  for (auto l = loops.end(); l != first;) {
    --l;
    if ((*l)->body != out.head.target()) return std::nullopt;  // the nest holds something else
    do out.head.slots.pop_back();
    while (ir::as_loop(out.head.target()) != *l);
  }
  return out;
}

/// Whether all that is done is to store the buffer at the place `at`, below further loops and in
/// blocks without variables.
inline bool stores_at(const ir::stmt& s, const ir::buffer& buffer,
                      const std::vector<ir::expr>& at) {
  return !ir::any_stmt(s, [&](const ir::stmt& x) {  // a statement that does something else
    if (const ir::loop_node* loop = ir::as_loop(x)) return bounds_load(*loop);
    if (const ir::store_node* store = ir::as_store(x))
      return store->buffer != buffer || !reads_own_element(*store) ||
             !std::equal(at.begin(), at.end(), store->indices.begin(),
                         [](const ir::expr& v, const ir::expr& index) { return v.same(index); });
    if (const ir::block_realize_node* r = ir::as_realize(x))
      return !r->block->iters.empty() || r->block->init || !ir::is_true(r->predicate) ||
             !r->block->alloc_buffers.empty() || !r->block->match_buffers.empty();
    return ir::as_seq(x) == nullptr;
  });
}

/// The outermost loop of a serial row-major nest inside of a block that does nothing but store the
/// buffer at its loop variables; null when there is none.
inline const ir::loop_node* inner_traversal(const ir::block_node& b, const ir::buffer& buffer) {
  const auto matches = [&](const ir::loop_node* l) {
    const ir::loop_node* loop = l;
    std::vector<ir::expr> vars;
    for (std::size_t k = 0; k < buffer->shape.size(); ++k, loop = ir::as_loop(loop->body)) {
      if (!runs_over(*loop, buffer->shape[k])) return false;
      vars.push_back(loop->var);
      const bool last = k + 1 == buffer->shape.size();
      if (last) return stores_at(loop->body, buffer, vars);
      if (!ir::as_loop(loop->body)) return false;
    }
    return false;
  };
  const auto stores = own_stores(b);
  if (b.init || std::count_if(stores.begin(), stores.end(),
                              [&](const ir::store_node* s) { return s->buffer == buffer; }) != 1)
    return nullptr;
  const ir::loop_node* found = nullptr;
  ir::any_stmt(b.body, [&](const ir::stmt& s) {
    if (ir::as_loop(s) && matches(ir::as_loop(s))) found = ir::as_loop(s);
    return found != nullptr;
  });
  return found;
}

/// Stores of the old buffer become stores of the new one that choose between value and padding.
class choose_value : public ir::mutator {
 public:
  choose_value(const task& t, const std::vector<ir::expr>& points) : task_(t), points_(points) {}
  using ir::mutator::mutate;
  ir::stmt mutate(const ir::stmt& s) override {
    const ir::store_node* store = ir::as_store(s);
    if (!store || store->buffer != task_.old_buffer) return ir::mutator::mutate(s);
    return ir::make_store(task_.new_buffer, points_, task_.padded(store->value, points_));
  }

 private:
  const task& task_;
  const std::vector<ir::expr>& points_;
};

/// The function with such a nest over the axes of the new buffer.
inline ir::function with_inner_traversal(const ir::function& f, const task& t,
                                         const ir::loop_node& nest) {
  const whole_buffer w(t);
  ir::var_map values;
  const ir::loop_node* loop = &nest;
  for (std::size_t d = 0; d < t.old_buffer->shape.size(); ++d) {
    if (d > 0) loop = ir::as_loop(loop->body);
    values.emplace(loop->var, ir::cast(loop->var.type(), t.at(t.layout.inverse[d], w.loops)));
  }
  choose_value chosen(t, w.loops);
  return replace(f, find_loop(f, nest.var),
                 w.nest(chosen.mutate(ir::substitute(loop->body, values))));
}

inline ir::function with_new_traversal(const ir::function& f, const task& t,
                                       const ir::block_realize_node& realize,
                                       const traversal& nest) {
  const whole_buffer w(t);
  const ir::block_node& old = *realize.block;
  ir::var_map values;
  for (std::size_t d = 0; d < nest.iters.size(); ++d) {
    const ir::var& v = old.iters[nest.iters[d]].var;
    values.emplace(v, ir::cast(v.type(), t.at(t.layout.inverse[d], w.points)));
  }
  std::vector<ir::iter_var> iters = w.iters;
  std::vector<ir::expr> bound = w.loops;
  for (std::size_t i = 0; i < old.iters.size(); ++i) {
    if (values.count(old.iters[i].var) != 0) continue;
    iters.push_back(old.iters[i]);
    bound.push_back(realize.values[i]);
  }
  ir::block_node made = old;
  made.iters.clear();
  made = *ir::substitute(ir::make_block(std::move(made)), values);
  made.iters = std::move(iters);
  choose_value chosen(t, w.points);
  if (made.init) made.init = chosen.mutate(made.init);
  made.body = chosen.mutate(made.body);
  for (ir::buffer_region& r : made.writes)
    if (r.buffer == t.old_buffer) r = {t.new_buffer, ir::point_box(w.points)};
  ir::stmt body =
      ir::make_realize(std::move(bound), realize.predicate, ir::make_block(std::move(made)));
  return replace(f, nest.head, w.nest(nest_around(nest.inner, std::move(body))));
}

/// Path to the statement after which the padding can be written: the outermost loop on which the
/// stores of the last writer depend, if it lies in the scope that holds the buffer; else what
/// stands there.
inline path last_write(const ir::function& f, const task& t,
                       const ir::block_realize_node& realize) {
  path at = find_block(f, realize.block->id);
  ir::var_set needed;
  for (const ir::store_node* s : own_stores(*realize.block)) {
    if (s->buffer != t.old_buffer) continue;
    for (const ir::expr& index : s->indices) {
      for (const ir::var& v : ir::free_vars(index)) needed.insert(v);
      for (std::size_t i = 0; i < realize.values.size(); ++i)
        if (ir::uses_var(index, realize.block->iters[i].var))
          for (const ir::var& v : ir::free_vars(realize.values[i])) needed.insert(v);
    }
  }
  const auto holds_buffer = [&](const ir::block_realize_node& scope) {
    const auto& list = scope.block->alloc_buffers;
    return support::contains(list, t.old_buffer);
  };
  std::size_t keep = at.slots.size(), scope = 0;
  for (std::size_t i = 0; i + 1 < at.slots.size(); ++i)
    if (const ir::block_realize_node* r = ir::as_realize(*at.slots[i]))
      if (i == 0 || holds_buffer(*r)) scope = i;
  bool nested = false;  // a block around has variables that the stores may follow
  for (std::size_t i = at.slots.size(); i-- > scope + 1;) {
    const ir::loop_node* loop = ir::as_loop(*at.slots[i]);
    nested = nested || (i + 1 < at.slots.size() && ir::as_realize(*at.slots[i]));
    if (nested || (loop && needed.count(loop->var) != 0)) keep = i + 1;
  }
  at.slots.resize(keep);
  return at;
}

inline ir::function with_epilogue(const ir::function& f, const task& t,
                                  const ir::block_realize_node& last) {
  const whole_buffer w(t);
  ir::block_node b;
  b.name = fresh_block_name(f, "buffer_" + t.new_buffer->name + "_padding");
  b.iters = w.iters;
  b.writes = {{t.new_buffer, ir::point_box(w.points)}};
  b.body = ir::make_store(t.new_buffer, w.points, t.at(t.pad_value, w.points));
  ir::stmt nest = w.nest(
      ir::make_realize(w.loops, t.at(t.layout.padding, w.loops), ir::make_block(std::move(b))));
  const path at = last_write(f, t, last);
  return replace(f, at, ir::make_seq({at.target(), std::move(nest)}));
}

/// The blocks that hold a nest over all of the buffer declare to write all of it, padding too.
inline ir::function with_declared_padding(const ir::function& f, const task& t,
                                          std::uint64_t writer) {
  ir::function out = f;
  const path at = find_block(f, writer);
  for (std::size_t i = 1; i < at.slots.size(); ++i) {
    const ir::block_realize_node* r = ir::as_realize(*at.slots[i]);
    if (!r) continue;
    const path place = find_block(out, r->block->id);
    ir::block_node around = *ir::as_realize(place.target())->block;
    bool writes = false;
    for (ir::buffer_region& w : around.writes)
      if (w.buffer == t.old_buffer) {
        w = ir::full_region(t.new_buffer);
        writes = true;
      }
    if (writes) out = replace_block(out, place, ir::make_block(std::move(around)));
  }
  return out;
}

TILEWRIGHT_INLINE ir::function with_padding(const ir::function& f, const task& t) {
  const auto all = writers(f, t.old_buffer);
  if (all.empty()) return with_assumption(f, t);
  ir::function out = f;
  bool replaced = false;
  for (const ir::block_realize_node* realize : all)
    if (const auto nest = row_major(out, *realize, t.old_buffer)) {
      out =
          with_declared_padding(with_new_traversal(out, t, *realize, *nest), t, realize->block->id);
      replaced = true;
    } else if (const auto* inner = inner_traversal(*realize->block, t.old_buffer);
               inner && ir::is_true(realize->predicate)) {
      out = with_declared_padding(with_inner_traversal(out, t, *inner), t, realize->block->id);
      replaced = true;
    }
  return replaced ? out : with_epilogue(f, t, *all.back());
}

}  // namespace tilewright::primitive::detail::layouts
