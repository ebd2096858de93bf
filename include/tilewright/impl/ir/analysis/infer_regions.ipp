#pragma once

#include <optional>
#include <unordered_set>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {
namespace detail {

/// Accesses of a block body as boxes in terms of the block's iteration variables.
class region_collector {
 public:
  explicit region_collector(const block_node& b) : block_(b) {
    for (const buffer& alloc : b.alloc_buffers) hidden_.insert(alloc);
  }

  void collect() {
    if (block_.init) statement(block_.init);
    statement(block_.body);
  }

  std::vector<buffer_region> reads, writes;

 private:
  struct limits {
    expr lo, hi;  // inclusive
  };

  void statement(const stmt& s) {
    switch (s->kind) {
      case stmt_kind::loop: return loop(*as_loop(s));
      case stmt_kind::block_realize: return realize(*as_realize(s));
      case stmt_kind::seq:
        for (const stmt& child : as_seq(s)->stmts) statement(child);
        return;
      case stmt_kind::store: {
        const store_node& n = *as_store(s);
        for (const expr& i : n.indices) loads(i);
        loads(n.value);
        return add(writes, n.buffer, touched(n.buffer, n.indices));
      }
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        loads(n.condition);
        statement(n.then_body);
        if (n.else_body) statement(n.else_body);
        return;
      }
      case stmt_kind::let: {
        const let_node& n = *as_let(s);
        loads(n.value);
        unknown_.insert(n.var);
        return statement(n.body);
      }
      case stmt_kind::evaluate: return loads(as_evaluate(s)->value);
      case stmt_kind::allocate:
        hidden_.insert(as_allocate(s)->buffer);
        return statement(as_allocate(s)->body);
      case stmt_kind::while_loop:
        loads(as_while(s)->condition);
        return statement(as_while(s)->body);
      case stmt_kind::attribute:
        loads(as_attribute(s)->node);
        loads(as_attribute(s)->value);
        return statement(as_attribute(s)->body);
    }
  }

  void loop(const loop_node& n) {
    loads(n.min);
    loads(n.extent);
    const std::optional<limits> lo = limits_of(n.min), hi = limits_of(n.min + n.extent);
    if (lo && hi)
      loops_[n.var] = {lo->lo, affine_difference(hi->hi, integer(n.extent.type(), 1))};
    else
      unknown_.insert(n.var);
    statement(n.body);
    loops_.erase(n.var);
  }

  /// The regions of an inner block, with its iteration variables replaced by what binds them.
  void realize(const block_realize_node& n) {
    var_map bound;
    for (std::size_t i = 0; i < n.values.size(); ++i) {
      loads(n.values[i]);
      bound[n.block->iters[i].var] = n.values[i];
    }
    loads(n.predicate);
    const auto pass_on = [&](const std::vector<buffer_region>& from,
                             std::vector<buffer_region>& to) {
      for (const buffer_region& r : from) {
        std::vector<range> box;
        for (const range& dim : r.box)
          box.push_back({substitute(dim.min, bound), substitute(dim.extent, bound)});
        add(to, r.buffer, std::move(box));
      }
    };
    pass_on(n.block->reads, reads);
    pass_on(n.block->writes, writes);
  }

  void loads(const expr& e) {
    for_each_expr(e, [&](const expr& x) {
      if (x->op == op::load) add(reads, x->buffer, touched(x->buffer, x->args));
      if (x->op != op::data) return;
      // Whoever is given a pointer may touch everything.
      add(reads, x->buffer, full_region(x->buffer).box);
      add(writes, x->buffer, full_region(x->buffer).box);
    });
  }

  /// The indices, and of a vector of them what lies between the first and the last one.
  static std::vector<range> touched(const buffer& b, const std::vector<expr>& indices) {
    std::vector<range> box = point_box(indices);
    for (std::size_t d = 0; d < box.size(); ++d) {
      const expr& e = indices[d];
      if (!is_vector(e.type())) continue;
      const bool steps = e->op == op::call && e->name == "tir.Ramp" && is_int(e->args[1]) &&
                         e->args[1]->integer > 0 && !is_scalable(e.type());
      if (steps)
        box[d] = {e->args[0],
                  integer(e->args[0].type(), (lanes(e.type()) - 1) * e->args[1]->integer + 1)};
      else
        box[d] = {integer(b->shape[d].type(), 0), b->shape[d]};
    }
    return box;
  }

  void add(std::vector<buffer_region>& to, const buffer& b, std::vector<range> box) {
    if (hidden_.count(b)) return;
    for (const match_buffer& m : block_.match_buffers)
      if (m.buffer == b) return add(to, m.source.buffer, m.source.box);
    for (std::size_t d = 0; d < box.size(); ++d) box[d] = relax(box[d], b->shape[d]);
    unite(to, {b, std::move(box)});
  }

  range relax(const range& r, const expr& whole) {
    const std::optional<limits> lo = limits_of(r.min);
    const std::optional<limits> hi = is_int(r.extent, 1) ? lo : limits_of(r.min + r.extent);
    if (!lo || !hi) return {integer(whole.type(), 0), whole};
    if (is_int(r.extent, 1) && lo->lo.same(lo->hi)) return {lo->lo, r.extent};
    const expr last = is_int(r.extent, 1) ? hi->hi + integer(r.min.type(), 1) : hi->hi;
    return {lo->lo, affine_difference(last, lo->lo)};
  }

  static void unite(std::vector<buffer_region>& to, buffer_region r) {
    for (buffer_region& known : to) {
      if (known.buffer != r.buffer) continue;
      for (std::size_t d = 0; d < r.box.size(); ++d)
        known.box[d] = hull(known.box[d], r.box[d], r.buffer->shape[d]);
      return;
    }
    to.push_back(std::move(r));
  }

  static range hull(const range& a, const range& b, const expr& whole) {
    if (equal(a.min, b.min) && equal(a.extent, b.extent)) return a;
    const auto start = literal_difference(b.min, a.min);
    const auto stop = literal_difference(b.min + b.extent, a.min + a.extent);
    const auto is_whole = [&](const range& r) {
      return is_int(r.min, 0) && equal(r.extent, whole);
    };
    if (is_whole(a) || is_whole(b)) return {integer(whole.type(), 0), whole};
    if (!start || !stop) {
      const expr least = ir::min(a.min, b.min);
      return {least, ir::max(a.min + a.extent, b.min + b.extent) - least};
    }
    const expr min = *start < 0 ? b.min : a.min;
    const expr end = *stop > 0 ? b.min + b.extent : a.min + a.extent;
    return {min, affine_difference(end, min)};
  }

  /// The least and the greatest value of `e` over the loops of the body; nothing when unknown.
  std::optional<limits> limits_of(const expr& e) {
    if (e->op == op::var) {
      const auto loop = loops_.find(e);
      if (loop != loops_.end()) return loop->second;
      if (unknown_.count(e)) return std::nullopt;
      return limits{e, e};
    }
    if (e->op == op::integer) return limits{e, e};
    const bool fixed = is_fixed(e);
    if (fixed) return limits{e, e};
    if (e->op == op::cast && is_integer(e.type()) && is_integer(e->args[0].type()) &&
        bits(e.type()) >= bits(e->args[0].type())) {
      const std::optional<limits> inner = limits_of(e->args[0]);
      if (!inner) return std::nullopt;
      return limits{cast(e.type(), inner->lo), cast(e.type(), inner->hi)};
    }
    if (e->args.size() != 2) return std::nullopt;
    const std::optional<limits> a = limits_of(e->args[0]), b = limits_of(e->args[1]);
    if (!a || !b) return std::nullopt;
    const expr& factor = e->args[1];
    switch (e->op) {
      case op::add: return limits{a->lo + b->lo, a->hi + b->hi};
      case op::sub: return limits{a->lo - b->hi, a->hi - b->lo};
      case op::mul:
        if (is_int(factor) && factor->integer >= 0) return limits{a->lo * factor, a->hi * factor};
        if (is_int(factor)) return limits{a->hi * factor, a->lo * factor};
        if (is_int(e->args[0]) && e->args[0]->integer >= 0)
          return limits{e->args[0] * b->lo, e->args[0] * b->hi};
        return std::nullopt;
      case op::floordiv:
        if (is_int(factor) && factor->integer > 0)
          return limits{floordiv(a->lo, factor), floordiv(a->hi, factor)};
        return std::nullopt;
      case op::floormod:
        if (is_int(factor) && factor->integer > 0)
          return limits{integer(e.type(), 0), integer(e.type(), factor->integer - 1)};
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  /// True when no loop of the body, nothing unknown and no load takes part.
  bool is_fixed(const expr& e) const {
    if (e->op == op::load || e->op == op::call || e->op == op::if_then_else) return false;
    if (e->op == op::var) return !loops_.count(e) && !unknown_.count(e);
    for (const expr& arg : e->args)
      if (!is_fixed(arg)) return false;
    return true;
  }

  const block_node& block_;
  std::unordered_map<expr, limits, expr_identity_hash, expr_identity_equal> loops_;
  var_set unknown_;
  std::unordered_set<buffer> hidden_;
};

}  // namespace detail

TILEWRIGHT_INLINE void detail::infer_regions(block_node& b, bool reads, bool writes) {
  if (!reads && !writes) return;
  region_collector found(b);
  found.collect();
  if (writes) b.writes = std::move(found.writes);
  if (!reads) return;
  b.reads.clear();
  for (buffer_region& r : found.reads) {
    bool own = false;
    for (const buffer_region& w : b.writes) own = own || w.buffer == r.buffer;
    if (!b.init || !own) b.reads.push_back(std::move(r));
  }
}

}  // namespace tilewright::ir
