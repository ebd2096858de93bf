#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/partial_values.hpp>
#include <tilewright/impl/schedule/analysis/readable_region.hpp>
#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/padding/pad_einsum.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::einsum {

inline constexpr refusal refuse{"pad_einsum"};

/// A buffer of the block with the position of the variable behind each dimension; -1: a constant, or
/// an index that is computed, as those of windows are.
struct operand {
  ir::buffer buffer;
  std::vector<int> iters;          // [rank]
  std::vector<ir::expr> computed;  // [rank] null: a variable or a constant
};

struct contraction {
  const ir::block_node* block = nullptr;
  const ir::store_node* store = nullptr;
  operand result;
  std::vector<operand> inputs;    // in order of the reads
  std::vector<ir::expr> extents;  // [iteration variables] after padding; null: stays

  bool padded(std::size_t iter) const { return static_cast<bool>(extents[iter]); }
};

/// An access outside of its buffer stands behind a guard, which need not hold in the padding.
inline void check_constant(const ir::block_node& b, const ir::buffer& buffer, std::size_t dimension,
                           std::int64_t index) {
  const ir::expr& extent = buffer->shape[dimension];
  if (index < 0 || (ir::is_int(extent) && index >= ir::as_int(extent)))
    refuse(2, {quoted(b), " accesses \"", buffer->name, "\" at ", index,
               ", which is outside of dimension ", dimension});
}

inline operand make_operand(const ir::block_node& b, const ir::buffer& buffer,
                            const std::vector<ir::expr>& indices) {
  operand out{buffer, {}, {}};
  for (const ir::expr& index : indices) {
    const int i = iter_index(b, index);
    if (i >= 0 && support::contains(out.iters, i))
      refuse(2, {"the indices of \"", buffer->name, "\" in ", quoted(b),
                 " are not different iteration variables"});
    if (ir::is_int(index)) check_constant(b, buffer, out.iters.size(), ir::as_int(index));
    out.computed.push_back(i < 0 && !ir::is_int(index) ? index : ir::expr());
    out.iters.push_back(i);
  }
  return out;
}

inline contraction take_apart(const block_scope& scope, std::size_t child) {
  contraction c;
  c.block = &scope[child].block();
  c.store = ir::as_store(c.block->body);
  if (!c.store || !c.block->match_buffers.empty() ||
      (!is_complete(scope, child) && !is_reduction(scope, child)))
    refuse(2, {quoted(*c.block), " is no single store of a complete block or a reduction"});
  if (c.block->init)
    ir::for_each_expr(c.block->init, [&](const ir::expr& e) {
      if (e->op == ir::op::load)
        refuse(2, {quoted(*c.block), " starts from elements of \"", e->buffer->name,
                   "\", which would not be padded"});
    });
  c.result = make_operand(*c.block, c.store->buffer, c.store->indices);
  ir::for_each_expr(c.store->value, [&](const ir::expr& e) {
    if (e->op != ir::op::load) return;
    operand o = make_operand(*c.block, e->buffer, e->args);
    if (e->buffer == c.store->buffer) {
      if (o.iters != c.result.iters)
        refuse(2, {quoted(*c.block), " reads other elements of \"", e->buffer->name,
                   "\" than it writes"});
      return;
    }
    for (const operand& other : c.inputs) {
      if (other.buffer != e->buffer) continue;
      if (other.iters == o.iters) return;
      refuse(2, {quoted(*c.block), " reads \"", e->buffer->name, "\" at different places"});
    }
    c.inputs.push_back(std::move(o));
  });
  return c;
}

/// The next multiple: of a symbolic extent unless all it can be is multiples.
inline ir::expr round_up(const ir::expr& extent, std::int64_t multiple) {
  const dtype type = extent.type();
  if (!ir::is_int(extent)) {
    const ir::expr by = ir::integer(type, multiple);
    return arith::simplify(ir::floordiv(extent + ir::integer(type, multiple - 1), by) * by);
  }
  return ir::integer(type, (ir::as_int(extent) + multiple - 1) / multiple * multiple);
}

/// Requirements 1 and 3; sets the padded extents.
inline void set_extents(contraction& c, const std::vector<std::int64_t>& padding) {
  if (padding.size() != c.block->iters.size())
    refuse(1, {quoted(*c.block), " has ", c.block->iters.size(),
               " iteration variables, the padding ", padding.size(), " multiples"});
  for (std::size_t i = 0; i < padding.size(); ++i) {
    const ir::range& dom = c.block->iters[i].dom;
    if (padding[i] <= 0) refuse(1, {"the multiple ", padding[i], " is not positive"});
    c.extents.emplace_back();
    if (padding[i] == 1) continue;
    if (!ir::is_int(dom.min, 0))
      refuse(3, {"the domain of \"", c.block->iters[i].var->name, "\" does not start at 0"});
    const ir::expr padded = round_up(dom.extent, padding[i]);
    if (!arith::same_value(padded, dom.extent)) c.extents[i] = padded;
  }
}

inline bool is_padded(const contraction& c, int iter) {
  return iter >= 0 && c.padded(static_cast<std::size_t>(iter));
}

inline bool is_padded(const contraction& c, const operand& o) {
  return support::any(o.iters, [&](int i) { return is_padded(c, i); });
}

/// A computed index stays inside of its buffer, and does not move in the padding.
inline void check_computed(const contraction& c, const operand& o) {
  const arith::analyzer a = knowing(c.block->iters);
  for (std::size_t d = 0; d < o.computed.size(); ++d) {
    const ir::expr& index = o.computed[d];
    if (!index) continue;
    for (std::size_t i = 0; i < c.extents.size(); ++i)
      if (c.padded(i) && ir::uses_var(index, c.block->iters[i].var))
        refuse(2, {"an index of \"", o.buffer->name, "\" in ", quoted(*c.block),
                   " is computed from \"", c.block->iters[i].var->name, "\", which is padded"});
    if (!a.prove_le(ir::integer(index.type(), 0), index) ||
        !a.prove_lt(index, ir::cast(index.type(), o.buffer->shape[d])))
      refuse(2, {"an index of \"", o.buffer->name, "\" in ", quoted(*c.block),
                 " may be outside of dimension ", d});
  }
}

inline void check_shapes(const contraction& c, const operand& o) {
  for (std::size_t d = 0; d < o.iters.size(); ++d) {
    if (!is_padded(c, o.iters[d])) continue;
    const ir::range& dom = c.block->iters[static_cast<std::size_t>(o.iters[d])].dom;
    if (!arith::same_value(o.buffer->shape[d], dom.extent))
      refuse(3, {"dimension ", d, " of \"", o.buffer->name,
                 "\" is not as long as the domain of its variable"});
  }
}

/// The reduce variables that are padded.
inline std::vector<int> padded_reduction(const contraction& c) {
  std::vector<int> out;
  for (std::size_t i = 0; i < c.extents.size(); ++i)
    if (c.padded(i) && c.block->iters[i].kind == ir::iter_kind::reduce)
      out.push_back(static_cast<int>(i));
  return out;
}

/// The value of an expression without loads; nothing where it takes more than sums and products.
inline std::optional<double> number(const ir::expr& e) {
  if (e->op == ir::op::real) return e->real;
  if (e->op == ir::op::integer) return static_cast<double>(e->integer);
  if (e->op == ir::op::cast) return number(e->args[0]);
  if (e->op != ir::op::add && e->op != ir::op::sub && e->op != ir::op::mul) return std::nullopt;
  const std::optional<double> a = number(e->args[0]), b = number(e->args[1]);
  if (!a || !b) return std::nullopt;
  return e->op == ir::op::add ? *a + *b : e->op == ir::op::sub ? *a - *b : *a * *b;
}

/// Whether a function gives a number for every number, or for the one that it is called with.
inline bool is_total(const ir::expr& call) {
  static constexpr std::array<std::string_view, 10> total = {
      "exp", "tanh", "sigmoid", "erf", "sqrt", "fabs", "abs", "sin", "cos", "likely"};
  constexpr double steep = 10;  // e to that is a number in every type
  if (!support::contains(total, call->name)) return false;
  const std::optional<double> of = number(call->args[0]);
  return !of || (call->name == "exp" ? *of <= steep : call->name != "sqrt" || *of >= 0);
}

/// Whether the value is a number where operands hold the padding, if it is one elsewhere: 0 times
/// an infinity is none.
inline bool stays_finite(const ir::expr& e) {
  return !is_float(e.type()) || !ir::any_expr(e, [](const ir::expr& x) {
    return (x->op == ir::op::real && !std::isfinite(x->real)) ||
           (x->op == ir::op::div && number(x->args[1]).value_or(0) == 0) ||
           (x->op == ir::op::call && !is_total(x));
  });
}

/// What a step of the reduction adds where the variables `beyond` are in their padding and the
/// operands hold `value` there.
inline ir::expr padded_step(const contraction& c, const ir::expr& step,
                            const std::vector<int>& beyond, const ir::expr& value) {
  const ir::expr out = ir::rewrite(step, [&](const ir::expr& e) {
    if (e->op == ir::op::load) {
      const operand o = make_operand(*c.block, e->buffer, e->args);
      const bool reached =
          support::any(beyond, [&](int i) { return support::contains(o.iters, i); });
      if (!reached) return e;
      return number(value) == 0 ? ir::literal(e.type(), 0) : ir::cast(e.type(), value);
    }
    // 0 * x is 0 here: what is padded elsewhere is padded with finite values
    const auto is_zero_times = [&](const ir::expr& zero, const ir::expr& x) {
      return ir::equal(zero, ir::literal(e.type(), 0)) && stays_finite(x);
    };
    if (e->op == ir::op::mul &&
        (is_zero_times(e->args[0], e->args[1]) || is_zero_times(e->args[1], e->args[0])))
      return ir::literal(e.type(), 0);
    if (e->op == ir::op::cast && e->args[0]->op == ir::op::real)
      return ir::literal(e.type(), e->args[0]->real);
    return e;
  });
  return arith::simplify(out);
}

/// What the operands are padded with, so that padded reduction steps change nothing.
inline ir::expr choose_padding(const contraction& c, dtype type) {
  const ir::expr zero = ir::literal(type, 0);
  const std::vector<int> reduced = padded_reduction(c);
  if (reduced.empty()) return zero;
  reduction_form form;
  if (!find_reduction_form(*c.block, form).empty() || form.stores.size() != 1)
    refuse(5, {quoted(*c.block), " is not in normal form"});
  const auto reducer =
      match_reducer(form.identity, {ir::load(c.store->buffer, c.store->indices)}, form.updates);
  if (!reducer) refuse(5, {"the reducer of ", quoted(*c.block), " is not known"});
  // any of the variables may be in its padding while the others are not
  const auto leaves_alone = [&](const ir::expr& value) {
    for (std::size_t which = 1; which < std::size_t{1} << reduced.size(); ++which) {
      std::vector<int> beyond;
      for (std::size_t k = 0; k < reduced.size(); ++k)
        if (which >> k & 1) beyond.push_back(reduced[k]);
      if (!ir::equal(padded_step(c, reducer->right[0], beyond, value), reducer->identity[0]))
        return false;
    }
    return true;
  };
  if (leaves_alone(zero)) return zero;
  const ir::expr identity = reducer->identity[0];
  if (identity.type() == type && leaves_alone(identity)) return identity;
  refuse(5, {"padded steps of the reduction would change the result of ", quoted(*c.block)});
}

/// Its name, none of those of `others`, is also that of the block which fills or empties it.
inline ir::buffer padded_buffer(const ir::function& f, const contraction& c, const operand& o,
                                const std::vector<ir::buffer>& others) {
  std::vector<ir::expr> shape = o.buffer->shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (is_padded(c, o.iters[d]))
      shape[d] = ir::cast(shape[d].type(), c.extents[static_cast<std::size_t>(o.iters[d])]);
  std::string name = o.buffer->name + "_pad";
  const auto taken = [&] {
    return fresh_block_name(f, name) != name || block_buffers::buffer_named(f, name) ||
           support::any(others, [&](const ir::buffer& b) { return b->name == name; });
  };
  for (int n = 1; taken(); ++n) name = o.buffer->name + "_pad_" + std::to_string(n);
  return ir::make_buffer(name, o.buffer->type, std::move(shape), o.buffer->scope);
}

/// A nest over `shape` that stores value(v) to `to` at v.
template <class Value>
ir::stmt make_copy(const std::string& name, const ir::buffer& from, const ir::buffer& to,
                   const std::vector<ir::expr>& shape, const Value& value) {
  ir::block_node b;
  b.name = name;
  std::vector<ir::expr> loops, iters;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const dtype type = shape[d].type();
    loops.push_back(ir::make_var("i" + std::to_string(d), type));
    iters.push_back(ir::make_var("v" + std::to_string(d), type));
    b.iters.push_back({iters.back(), {ir::integer(type, 0), shape[d]}, ir::iter_kind::spatial});
  }
  b.reads = {{from, ir::point_box(iters)}};
  b.writes = {{to, ir::point_box(iters)}};
  b.body = ir::make_store(to, iters, value(iters));
  return nest_around(loops, shape,
                     ir::make_realize(loops, ir::boolean(true), ir::make_block(std::move(b))));
}

inline ir::stmt copy_in(const contraction& c, const operand& o, const ir::buffer& to) {
  const ir::expr padding = choose_padding(c, o.buffer->type);
  return make_copy(to->name, o.buffer, to, to->shape, [&](const std::vector<ir::expr>& v) {
    ir::expr inside = ir::boolean(true);
    for (std::size_t d = 0; d < v.size(); ++d)
      if (is_padded(c, o.iters[d]))
        inside = ir::logical_and(inside, ir::lt(v[d], o.buffer->shape[d]));
    return ir::if_then_else(inside, ir::load(o.buffer, v), padding);
  });
}

inline ir::stmt copy_out(const operand& o, const ir::buffer& from) {
  return make_copy(from->name, from, o.buffer, o.buffer->shape,
                   [&](const std::vector<ir::expr>& v) { return ir::load(from, v); });
}

/// Loops that alone are the value of a padded variable get its new extent.
inline ir::stmt widen(const ir::stmt& s, const ir::block_realize_node& realize,
                      const contraction& c, const ir::stmt& inner) {
  const ir::loop_node* l = ir::as_loop(s);
  if (!l) return inner;
  ir::expr extent = l->extent;
  for (std::size_t i = 0; i < realize.values.size(); ++i)
    if (c.padded(i) && realize.values[i].same(l->var))
      extent = ir::cast(extent.type(), c.extents[i]);
  return ir::make_loop(l->var, l->min, extent, widen(l->body, realize, c, inner), l->loop,
                       l->annotations, l->thread_tag);
}

inline ir::block make_padded(const contraction& c, const ir::buffer_map& buffers) {
  ir::block_node out = *ir::replace_buffers(ir::make_block(*c.block), buffers);
  for (std::size_t i = 0; i < out.iters.size(); ++i)
    if (c.padded(i)) out.iters[i].dom.extent = c.extents[i];
  return ir::make_block(std::move(out));
}

/// A loop alone drives the variable through all of its domain, whatever that is.
inline bool runs_through(const child_block& b, std::size_t iter) {
  const int at = loop_index(b.loops, b.realize->values[iter]);
  if (at < 0 || !ir::is_true(b.realize->predicate)) return false;
  const ir::loop_node& l = *b.loops[static_cast<std::size_t>(at)];
  return ir::is_int(l.min, 0) && arith::same_value(l.extent, b.block().iters[iter].dom.extent);
}

/// Whether the block writes all of that dimension of its result, which is copied back as a whole.
inline bool fills(const contraction& c, std::size_t dimension) {
  const ir::expr& extent = c.result.buffer->shape[dimension];
  const int i = c.result.iters[dimension];
  if (i < 0) return ir::is_int(extent, 1);
  const ir::range& dom = c.block->iters[static_cast<std::size_t>(i)].dom;
  return !is_padded(c, c.result) ||
         (ir::is_int(dom.min, 0) && arith::same_value(dom.extent, extent));
}

/// Requirement 4, with the outermost statement of the nest.
inline ir::stmt check_nest(const block_scope& scope, std::size_t child, const contraction& c) {
  const child_block& b = scope[child];
  ir::stmt top;
  for (const ir::stmt& s : statements_of(scope.root().body))
    if (holds_block(s, c.block->id)) top = s;
  if (!top || child_blocks(top).size() != 1 || b.conditional)
    refuse(4, {quoted(*c.block), " is not the only block of its nest"});
  if (!visits_domains(b)) refuse(4, {quoted(*c.block), " does not visit exactly its domain"});
  if (support::any(b.realize->values, ir::reads_memory))
    refuse(4, {"the value of an iteration variable of ", quoted(*c.block),
               " is loaded, which padded loops would do beyond the end"});
  for (std::size_t i = 0; i < c.block->iters.size(); ++i)
    if (c.padded(i) && !ir::is_int(c.block->iters[i].dom.extent) && !runs_through(b, i))
      refuse(4, {"\"", c.block->iters[i].var->name, "\" is not driven by one loop alone"});
  const auto check_memory = [&](const operand& o) {
    if (!is_padded(c, o) || ir::storage_rank(o.buffer->scope) <= 0) return;
    for (const ir::loop_node* l : b.loops)
      if (l->loop == ir::loop_kind::thread_binding)
        refuse(4, {"\"", o.buffer->name, "\" belongs to threads of ", quoted(*l),
                   ", which a copy outside of it does not reach"});
  };
  check_memory(c.result);
  for (const operand& o : c.inputs) check_memory(o);
  const std::vector<int>& indexed = c.result.iters;
  for (std::size_t i = 0; i < c.block->iters.size(); ++i)
    if (c.padded(i) && c.block->iters[i].kind == ir::iter_kind::spatial &&
        !support::contains(indexed, static_cast<int>(i)))
      refuse(4, {"instances along \"", c.block->iters[i].var->name,
                 "\" would all write the same element"});
  for (const ir::loop_node* l : b.loops)
    for (std::size_t i = 0; i < c.block->iters.size(); ++i)
      if (c.padded(i) && c.block->iters[i].kind == ir::iter_kind::reduce &&
          b.realize->values[i].same(l->var) && l->loop != ir::loop_kind::serial &&
          l->loop != ir::loop_kind::unrolled)
        refuse(4, {quoted(*l), ", whose iterations run at once, would reduce"});
  for (std::size_t d = 0; d < c.result.iters.size(); ++d)
    if (!fills(c, d))
      refuse(4, {quoted(*c.block), " writes only a part of \"", c.result.buffer->name, "\""});
  return top;
}

/// The copies read whole operands, also what the nest itself does not visit.
inline void check_filled(const ir::function& f, const std::vector<ir::stmt>& copies,
                         const contraction& c) {
  for (const ir::stmt& copy : copies) {
    const ir::block_node& b = *child_blocks(copy).front()->block;
    const ir::buffer_region& read = b.reads.front();
    if (!region_filled(find_block(f, b.id), read))
      refuse(5, {"elements of \"", read.buffer->name, "\" that ", quoted(*c.block),
                 " does not read may never be written"});
  }
}

}  // namespace detail::einsum

TILEWRIGHT_INLINE ir::function pad_einsum(const ir::function& f, std::uint64_t block,
                                          const std::vector<std::int64_t>& padding) {
  using namespace detail::einsum;
  const path at = need_block(f, block, "pad_einsum");
  if (!at.scope()) refuse(4, "the root block cannot be padded");
  if (at.scope() != ir::as_realize(f.body)) refuse(4, "the nest is not in the root scope");
  const scoped_block padded(at);
  const block_scope& scope = padded.scope;
  const std::size_t child = padded.child;
  contraction c = take_apart(scope, child);
  set_extents(c, padding);
  check_computed(c, c.result);
  check_shapes(c, c.result);
  for (const operand& o : c.inputs) {
    check_computed(c, o);
    check_shapes(c, o);
  }
  const ir::stmt top = check_nest(scope, child, c);
  if (support::all(c.extents, [](const ir::expr& e) { return !e; })) return f;
  if (ir::any_expr(c.store->value, may_divide_by_zero))
    refuse(5, {quoted(*c.block), " would divide by the padding"});

  choose_padding(c, c.result.buffer->type);  // also where no operand is padded

  ir::buffer_map buffers;
  std::vector<ir::buffer> added;
  std::vector<ir::stmt> ahead, behind;
  for (const operand& o : c.inputs) {
    if (!is_padded(c, o)) continue;
    added.push_back(buffers[o.buffer] = padded_buffer(f, c, o, added));
    ahead.push_back(copy_in(c, o, added.back()));
  }
  if (is_padded(c, c.result)) {
    added.push_back(buffers[c.result.buffer] = padded_buffer(f, c, c.result, added));
    behind.push_back(copy_out(c.result, added.back()));
  }
  const ir::block_realize_node& realize = *scope[child].realize;
  std::vector<ir::stmt> stmts = ahead;
  stmts.push_back(
      widen(top, realize, c,
            ir::make_realize(realize.values, realize.predicate, make_padded(c, buffers))));
  stmts.insert(stmts.end(), behind.begin(), behind.end());

  ir::block_node root = scope.root();
  root.body = ir::rewrite(
      root.body, [](const ir::expr& e) { return e; },
      [&](const ir::stmt& s) { return s == top ? ir::make_seq(stmts) : s; });
  root.alloc_buffers.insert(root.alloc_buffers.end(), added.begin(), added.end());
  ir::function out =
      replace_block(f, find_block(f, scope.root().id), ir::make_block(std::move(root)));
  check_filled(out, ahead, c);
  return out;
}

}  // namespace tilewright::primitive
