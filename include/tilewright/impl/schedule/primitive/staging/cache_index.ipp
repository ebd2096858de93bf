#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/schedule/primitive/staging/cache_index.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::primitive {
namespace detail::caching_index {

inline constexpr refusal refuse{"cache_index"};

inline std::size_t size_of(const ir::expr& e) {
  std::size_t out = 0;
  ir::for_each_expr(e, [&](const ir::expr&) { ++out; });
  return out;
}

inline bool same_value(const ir::expr& a, const ir::expr& b) {
  return a.type() == b.type() && ir::equal(arith::simplify(a), arith::simplify(b));
}

inline bool divides(ir::op o) {
  return o == ir::op::div || o == ir::op::mod || o == ir::op::floordiv || o == ir::op::floormod;
}

/// An expression of how often it is computed.
struct computation {
  ir::expr value;
  std::size_t times = 0;
};

/// Largest expressions first; those of one size in the order in which they were found.
class computations {
 public:
  void add(const ir::expr& value, std::size_t times) {
    const auto known =
        support::find(list_, [&](const computation& c) { return same_value(c.value, value); });
    if (known != list_.end()) {
      known->times += times;
      return;
    }
    const std::size_t size = size_of(value);
    const auto at =
        support::find(list_, [&](const computation& c) { return size_of(c.value) < size; });
    list_.insert(at, {value, times});
  }
  std::size_t size() const noexcept { return list_.size(); }
  const computation& operator[](std::size_t i) const { return list_[i]; }

 private:
  std::vector<computation> list_;
};

/// What one block computes that depends on its iteration variables alone.
class collector {
 public:
  collector(const ir::block_node& b, const ir::var_set& inner, std::size_t threshold)
      : inner_(inner), threshold_(threshold) {
    if (b.init) visit(b.init);
    visit(b.body);
    support::stable_sort(
        found_, [](const ir::expr& x, const ir::expr& y) { return size_of(x) > size_of(y); });
  }
  const std::vector<ir::expr>& found() const noexcept { return found_; }

 private:
  /// Free of loads, effects and variables of the body, and without a divisor that may be 0.
  bool may_move(const ir::expr& e) const {
    return !ir::any_expr(e, [&](const ir::expr& x) {
      const bool calls = x->op == ir::op::call && !ir::detail::is_script_intrinsic(x->name);
      const bool places = x->op == ir::op::load || x->op == ir::op::data || x->op == ir::op::text;
      const bool traps = divides(x->op) && is_integer(x.type()) &&
                         (!ir::is_int(x->args[1]) || ir::is_int(x->args[1], 0));
      const bool local = x->op == ir::op::let || (x->op == ir::op::var && inner_.count(x));
      return calls || places || traps || local;
    });
  }
  bool eligible(const ir::expr& e) const { return !e->args.empty() && may_move(e); }

  void add_largest(computations& to, const ir::expr& e, std::size_t times) const {
    if (eligible(e)) return to.add(e, times);
    for (const ir::expr& a : e->args) add_largest(to, a, times);
  }

  void visit(const ir::stmt& s) {
    if (ir::as_realize(s)) return;
    if (const ir::store_node* store = ir::as_store(s)) return visit(*store);
    if (const ir::seq_node* seq = ir::as_seq(s))
      for (const ir::stmt& item : seq->stmts) visit(item);
    if (const ir::loop_node* loop = ir::as_loop(s)) visit(loop->body);
    if (const ir::let_node* let = ir::as_let(s)) visit(let->body);
    if (const ir::if_node* branch = ir::as_if(s)) {
      visit(branch->then_body);
      if (branch->else_body) visit(branch->else_body);
    }
  }

  void visit(const ir::store_node& store) {
    computations all;
    for (const ir::expr& index : store.indices) add_largest(all, index, 1);
    add_largest(all, store.value, 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const computation now = all[i];
      if (now.times >= threshold_) continue;
      for (const ir::expr& part : now.value->args) add_largest(all, part, now.times);
    }
    keep(all, store.value);
  }

  /// Those that are computed often enough, in the order of the value's evaluation.
  void keep(const computations& all, const ir::expr& e) {
    for (const ir::expr& a : e->args) keep(all, a);
    if (!eligible(e)) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const computation& c = all[i];
      if (c.times < threshold_ || !same_value(c.value, e)) continue;
      const bool known =
          support::any(found_, [&](const ir::expr& x) { return same_value(x, c.value); });
      if (!known) found_.push_back(c.value);
    }
  }

  const ir::var_set& inner_;
  std::size_t threshold_;
  std::vector<ir::expr> found_;
};

/// The variables that statements inside the block define, and the loops around it: a block without
/// iteration variables may use them.
inline ir::var_set defined_near(const child_block& child) {
  const ir::block_node& b = child.block();
  ir::var_set out = variables_of(child.loops);
  for (const ir::stmt& s : {b.init, b.body}) {
    if (!s) continue;
    ir::for_each_stmt(s, [&](const ir::stmt& x) {
      if (const ir::loop_node* loop = ir::as_loop(x)) out.insert(loop->var);
      if (const ir::let_node* let = ir::as_let(x)) out.insert(let->var);
      if (const ir::block_realize_node* r = ir::as_realize(x))
        for (const ir::iter_var& v : r->block->iters) out.insert(v.var);
    });
  }
  return out;
}

/// A buffer of the values of one expression, and the nest that fills it.
struct stage {
  ir::expr value;
  ir::buffer cache;
  std::vector<ir::expr> at;  // what the block loads it with
  ir::stmt nest;
  std::uint64_t block = 0;  // id
};

/// Loops of its own that run over what drives the variables of an expression.
class nest_maker {
 public:
  nest_maker(const child_block& child, arith::analyzer outside)
      : child_(child), known_(std::move(outside)) {}

  ir::expr value_of(const ir::expr& binding) {
    ir::var_map map;
    for (const ir::var& v : ir::free_vars(binding)) {
      const int loop = loop_index(child_.loops, v);
      if (loop >= 0) map.emplace(v, place_in(*child_.loops[static_cast<std::size_t>(loop)]));
    }
    return ir::substitute(binding, map);
  }
  const arith::analyzer& known() const noexcept { return known_; }

  ir::stmt around(ir::stmt body) const {
    for (std::size_t i = axes_.size(); i-- > 0;)
      body = ir::make_loop(axes_[i].first, ir::integer(axes_[i].first.type(), 0),
                           axes_[i].second->extent, std::move(body));
    return body;
  }

 private:
  ir::expr place_in(const ir::loop_node& loop) {
    const auto made = support::find(axes_, [&](const auto& axis) { return axis.second == &loop; });
    if (made != axes_.end()) return loop_value(*made);
    for (const ir::loop_node* other : child_.loops)
      if (bounds_use(loop, other->var))
        refuse(4, {"the bounds of ", quoted(loop), " use ", quoted(*other)});
    axes_.emplace_back(ir::make_var("ax" + std::to_string(axes_.size()), loop.var.type()), &loop);
    known_.bind(axes_.back().first, {ir::integer(loop.var.type(), 0), loop.extent});
    return loop_value(axes_.back());
  }
  static ir::expr loop_value(const std::pair<ir::var, const ir::loop_node*>& axis) {
    return ir::is_int(axis.second->min, 0) ? axis.first : axis.second->min + axis.first;
  }

  const child_block& child_;
  std::vector<std::pair<ir::var, const ir::loop_node*>> axes_;
  arith::analyzer known_;
};

inline stage make_stage(const child_block& child, const arith::analyzer& outside,
                        const ir::expr& value, std::string buffer_name, const std::string& storage,
                        std::string block_name) {
  stage out{value, {}, {}, {}, 0};
  nest_maker nest(child, outside);
  ir::block_node b;
  b.name = std::move(block_name);
  std::vector<ir::expr> shape, values, here, guard;
  ir::var_map renamed;
  for (const ir::var& used : ir::free_vars(value)) {
    const int at = iter_index(child.block(), used);
    if (at < 0) continue;
    const auto i = static_cast<std::size_t>(at);
    const ir::range& dom = child.block().iters[i].dom;
    const ir::expr bound = nest.value_of(child.realize->values[i]);
    const dtype type = used.type();
    const arith::bounds range = nest.known().const_bounds(bound);
    if (!nest.known().prove_le(ir::integer(type, 0), bound))
      refuse(4, {"\"", used->name, "\" may be negative"});
    const bool fixed = range.hi < arith::bounds::positive_infinity;
    shape.push_back(fixed ? ir::integer(type, range.hi + 1)
                          : arith::simplify(dom.min + dom.extent));
    if (!fixed && !nest.known().prove_lt(bound, shape.back()))
      guard.push_back(ir::lt(bound, shape.back()));
    const ir::var v = ir::make_var("v" + std::to_string(values.size()), type);
    b.iters.push_back({v, {ir::integer(type, 0), shape.back()}, ir::iter_kind::spatial});
    renamed.emplace(used, v);
    values.push_back(bound);
    here.push_back(v);
    out.at.push_back(used);
  }
  out.cache = ir::make_buffer(std::move(buffer_name), value.type(), std::move(shape), storage);
  b.writes.push_back({out.cache, ir::point_box(here)});
  b.body = ir::make_store(out.cache, here, ir::substitute(value, renamed));
  const ir::block made = ir::make_block(std::move(b));
  out.block = made->id;
  out.nest = nest.around(ir::make_realize(std::move(values), ir::conjunction(guard), made));
  return out;
}

/// Loads the values of an expression instead of computing them, in the block's own stores.
struct use_of_cache : ir::mutator {
  const stage& from;
  explicit use_of_cache(const stage& s) : from(s) {}

  using ir::mutator::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::load && !e->args.empty() && same_value(e, from.value))
      return ir::load(from.cache, from.at);
    return ir::mutator::mutate(e);
  }
  ir::stmt mutate(const ir::stmt& s) override {
    if (ir::as_realize(s)) return s;
    const ir::store_node* store = ir::as_store(s);
    if (!store) return ir::mutator::mutate(s);
    std::vector<ir::expr> indices;
    for (const ir::expr& index : store->indices) indices.push_back(mutate(index));
    return ir::make_store(store->buffer, std::move(indices), mutate(store->value));
  }
};

/// What drives the block must stand before the nest: nobody in the nest may write what bounds and
/// values are loaded from.
inline void check_drivers(const block_scope& scope, std::size_t self) {
  const child_block& child = scope[self];
  const auto drives = [&](const ir::buffer& x) {
    const std::vector<ir::expr>& values = child.realize->values;
    return support::any(values, [&](const ir::expr& value) { return ir::loads_from(value, x); }) ||
           support::any(child.loops, [&](const ir::loop_node* l) { return bounds_load(*l, x); });
  };
  for (std::size_t w = 0; w < scope.size(); ++w)
    for (const ir::buffer_region& r : scope[w].block().writes)
      if ((w == self || scope.common_loops(w, self) > 0) && drives(r.buffer))
        refuse(4, {quoted(scope[w]), " writes \"", r.buffer->name,
                   "\", from which bounds or values around ", quoted(child),
                   " are loaded, in the nest of that block"});
}

/// The block with its stores after one more stage.
inline ir::block using_cache(const ir::block_node& b, const stage& s) {
  use_of_cache use(s);
  ir::block_node out = b;
  if (b.init) out.init = use.mutate(b.init);
  out.body = use.mutate(b.body);
  const bool loaded = (out.init && loads_from(out.init, s.cache)) || loads_from(out.body, s.cache);
  if (loaded) out.reads.push_back({s.cache, ir::point_box(s.at)});
  return ir::make_block(std::move(out));
}

}  // namespace detail::caching_index

TILEWRIGHT_INLINE new_blocks cache_index(const ir::function& f, std::uint64_t block,
                                         const std::string& storage_scope, int cse_thresh) {
  namespace d = detail::caching_index;
  const path at = need_block(f, block, "cache_index");
  if (!at.scope()) d::refuse(1, "the root block stores nothing itself");
  if (const std::string why = ir::no_scope(storage_scope); !why.empty()) d::refuse(2, why);
  if (cse_thresh < 0) d::refuse(3, {"cse_thresh ", cse_thresh, " is negative; write 0 for all"});
  const scoped_block self(at);
  const child_block& child = *self;
  if (child.conditional) d::refuse(4, {quoted(child), " stands below an if or a let"});
  d::check_drivers(self.scope, self.child);
  if (ir::storage_rank(storage_scope) > 0)
    for (const ir::loop_node* l : child.loops)
      if (l->loop == ir::loop_kind::thread_binding)
        d::refuse(2, {"in scope \"", storage_scope, "\" the threads of ", quoted(*l),
                      " would not find what is computed outside of it"});
  path above = at;  // what stands around the scope
  while (above.slots.back()->get() != self.holder) above.slots.pop_back();
  const arith::analyzer outside = known_loops(above).analyzer();
  const ir::var_set inner = d::defined_near(child);
  const d::collector wanted(child.block(), inner, static_cast<std::size_t>(cse_thresh));

  new_blocks out;
  out.function = f;
  ir::block changed = child.realize->block;
  std::vector<ir::stmt> nests;
  std::vector<ir::buffer> caches;
  int number = 0;
  for (const ir::expr& value : wanted.found()) {
    const std::string suffix = std::to_string(number++);
    const d::stage s = d::make_stage(
        child, outside, value, detail::block_buffers::fresh_buffer_name(f, "index_var_" + suffix),
        storage_scope, fresh_block_name(f, "index_" + suffix));
    changed = d::using_cache(*changed, s);
    nests.push_back(s.nest);
    caches.push_back(s.cache);
    out.blocks.push_back(s.block);
  }
  if (nests.empty()) return out;
  out.function = replace_block(f, at, changed);
  const path root = find_block(out.function, self.scope.root().id);
  ir::block_node b = *ir::as_realize(root.target())->block;
  std::vector<ir::stmt> items = statements_of(b.body);
  const auto before =
      support::find(items, [&](const ir::stmt& s) { return holds_block(s, block); });
  items.insert(before, nests.begin(), nests.end());
  b.body = ir::make_seq(std::move(items));
  b.alloc_buffers.insert(b.alloc_buffers.end(), caches.begin(), caches.end());
  out.function = replace_block(out.function, root, ir::make_block(std::move(b)));
  return out;
}

}  // namespace tilewright::primitive
