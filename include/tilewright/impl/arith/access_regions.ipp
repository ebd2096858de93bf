// The walk behind `access_regions` of arith/region.hpp.
#pragma once

#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::arith {
namespace detail {

/// Substitution of a block's iteration variables; a handful of them, found faster by looking than
/// by a map.
struct iter_values {
  const std::vector<ir::iter_var>& iters;
  const std::vector<ir::expr>& values;

  ir::expr in(const ir::expr& e) const {
    if (e->op == ir::op::var) {
      for (std::size_t i = 0; i < iters.size(); ++i)
        if (iters[i].var.same(e)) return values[i];
      return e;
    }
    if (e->args.empty()) return e;
    bool changed = false;
    std::vector<ir::expr> args;
    args.reserve(e->args.size());
    for (const ir::expr& arg : e->args) {
      args.push_back(in(arg));
      changed = changed || !args.back().same(arg);
    }
    return changed ? ir::with_args(e, std::move(args)) : e;
  }
};

class access_collector {
 public:
  access_collector(std::vector<ir::buffer_region>& reads, std::vector<ir::buffer_region>& writes,
                   const analyzer& known, const access_options& options)
      : reads_(reads), writes_(writes), outside_(known), known_(known), options_(options) {}

  void visit(const ir::stmt& s) {
    switch (s->kind) {
      case ir::stmt_kind::loop: return visit_loop(*ir::as_loop(s));
      case ir::stmt_kind::block_realize: return visit_realize(*ir::as_realize(s));
      case ir::stmt_kind::seq:
        for (const ir::stmt& child : ir::as_seq(s)->stmts) visit(child);
        return;
      case ir::stmt_kind::store: {
        const ir::store_node& n = *ir::as_store(s);
        for (const ir::expr& i : n.indices) visit(i);
        visit(n.value);
        return record(writes_, n.buffer, n.indices);
      }
      case ir::stmt_kind::if_else: {
        const ir::if_node& n = *ir::as_if(s);
        visit(n.condition);
        under(n.condition, [&] { visit(n.then_body); });
        if (n.else_body) under(ir::logical_not(n.condition), [&] { visit(n.else_body); });
        return;
      }
      case ir::stmt_kind::let: {
        const ir::let_node& n = *ir::as_let(s);
        visit(n.value);
        lets_.emplace(n.var, bound(n.value));
        return visit(n.body);
      }
      case ir::stmt_kind::evaluate: return visit(ir::as_evaluate(s)->value);
      case ir::stmt_kind::allocate:
        inside_.push_back(ir::as_allocate(s)->buffer);
        return visit(ir::as_allocate(s)->body);
      case ir::stmt_kind::while_loop:
        visit(ir::as_while(s)->condition);
        return visit(ir::as_while(s)->body);
      case ir::stmt_kind::attribute:
        visit(ir::as_attribute(s)->node);
        visit(ir::as_attribute(s)->value);
        return visit(ir::as_attribute(s)->body);
    }
  }

 private:
  void visit(const ir::expr& e) {
    if (e->op == ir::op::data) {
      // Whoever is given a pointer may touch everything.
      record(reads_, ir::full_region(e->buffer));
      return record(writes_, ir::full_region(e->buffer));
    }
    if (e->args.empty() && e->op != ir::op::load) return;
    if (e->op == ir::op::if_then_else) {
      visit(e->args[0]);
      under(e->args[0], [&] { visit(e->args[1]); });
      under(ir::logical_not(e->args[0]), [&] { visit(e->args[2]); });
      return;
    }
    for (const ir::expr& arg : e->args) visit(arg);
    if (e->op == ir::op::load) record(reads_, e->buffer, e->args);
  }

  void visit_loop(const ir::loop_node& n) {
    visit(n.min);
    visit(n.extent);
    loops_.push_back({n.var, {bound(n.min), bound(n.extent)}});
    // bounds in terms of outer loops say something about these, too, as long as the loop runs
    const bool constant = ir::is_int(n.min) && ir::is_int(n.extent);
    std::optional<analyzer> before = constant ? std::nullopt : std::optional(known_);
    known_.bind(n.var, loops_.back().second);
    visit(n.body);
    if (before) known_ = *std::move(before);
    loops_.pop_back();
  }

  void visit_realize(const ir::block_realize_node& n) {
    for (const ir::expr& value : n.values) visit(value);
    visit(n.predicate);
    const iter_values values{n.block->iters, n.values};
    under(n.predicate, [&] {
      for (const ir::buffer_region& r : n.block->reads) record(reads_, r, values);
      for (const ir::buffer_region& r : n.block->writes) record(writes_, r, values);
    });
    // what extents of iterators are read from is read outside of the block
    for (const ir::iter_var& i : n.block->iters) {
      visit(i.dom.min);
      visit(i.dom.extent);
    }
  }

  template <class F>
  void under(const ir::expr& condition, F f) {
    if (!options_.use_conditions || ir::is_int(condition)) return f();
    analyzer before = known_;
    known_.assume(bound(condition));
    f();
    known_ = std::move(before);
  }

  ir::expr bound(const ir::expr& e) const { return ir::substitute(e, lets_); }

  void record(std::vector<ir::buffer_region>& list, const ir::buffer& buffer,
              const std::vector<ir::expr>& indices) {
    ir::buffer_region r{buffer, {}};
    r.box.reserve(indices.size());
    for (const ir::expr& i : indices) r.box.push_back({bound(i), ir::integer(i.type(), 1)});
    record(list, std::move(r));
  }

  void record(std::vector<ir::buffer_region>& list, const ir::buffer_region& declared,
              const iter_values& values) {
    ir::buffer_region r{declared.buffer, {}};
    r.box.reserve(declared.box.size());
    for (const ir::range& dim : declared.box)
      r.box.push_back({bound(values.in(dim.min)), bound(values.in(dim.extent))});
    record(list, std::move(r));
  }

  void record(std::vector<ir::buffer_region>& list, ir::buffer_region r) {
    if (support::contains(inside_, r.buffer)) return;
    for (ir::range& dim : r.box)
      if (may_wrap(dim.min) || may_wrap(dim.extent)) dim = {};
    // the union must hold whether or not the conditions around this access do
    add_region(list, relax(r, loops_, known_), outside_);
  }

  std::vector<ir::buffer_region>& reads_;
  std::vector<ir::buffer_region>& writes_;
  const analyzer& outside_;
  analyzer known_;
  access_options options_;
  loop_domains loops_;
  ir::var_map lets_;
  std::vector<ir::buffer> inside_;
};

}  // namespace detail

TILEWRIGHT_INLINE void access_regions(const ir::stmt& body, std::vector<ir::buffer_region>& reads,
                                      std::vector<ir::buffer_region>& writes, const analyzer& known,
                                      const access_options& options) {
  detail::access_collector(reads, writes, known, options).visit(body);
}

TILEWRIGHT_INLINE void access_regions(const ir::stmt& body, std::vector<ir::buffer_region>& reads,
                                      std::vector<ir::buffer_region>& writes) {
  access_regions(body, reads, writes, analyzer());
}

}  // namespace tilewright::arith
