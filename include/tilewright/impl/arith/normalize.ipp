#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/normalize.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {
namespace detail::normal {

/// Items in the order of their text, which names variables by where they are bound.
template <class Item, class Text>
void sort_by_text(std::vector<Item>& items, const Text& text) {
  std::vector<std::pair<std::string, Item>> keyed;
  for (Item& i : items) keyed.emplace_back(text(i), std::move(i));
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::move(keyed[i].second);
}

inline bool is_index(const ir::expr& e) { return e.type() == dtype::i32 || e.type() == dtype::i64; }

inline ir::expr ordered(const ir::expr& e);

inline ir::expr with_ordered_args(const ir::expr& e) {
  std::vector<ir::expr> args;
  for (const ir::expr& a : e->args) args.push_back(ordered(a));
  return args.empty() ? e : ir::with_args(e, std::move(args));
}

inline ir::expr ordered_sum(const ir::expr& e) {
  linear sum = to_linear(e);
  for (auto& [term, factor] : sum.terms) term = with_ordered_args(term);
  sort_by_text(sum.terms, [](const auto& t) { return ir::print(t.first); });
  ir::expr out = ir::integer(e.type(), 0);
  for (const auto& [term, factor] : sum.terms) out = out + term * ir::integer(e.type(), factor);
  return out + ir::integer(e.type(), sum.constant);
}

/// a < b as 0 < b - a, so that both sides of the comparison of two programs agree.
inline ir::expr ordered_comparison(const ir::expr& e) {
  const ir::expr &a = e->args[0], &b = e->args[1];
  const ir::expr zero = ir::integer(a.type(), 0);
  switch (e->op) {
    case ir::op::lt: return ir::lt(zero, ordered_sum(b - a));
    case ir::op::gt: return ir::lt(zero, ordered_sum(a - b));
    case ir::op::le: return ir::lt(zero, ordered_sum(b - a + 1));
    case ir::op::ge: return ir::lt(zero, ordered_sum(a - b + 1));
    default: return with_ordered_args(e);
  }
}

inline ir::expr ordered(const ir::expr& e) {
  switch (e->op) {
    case ir::op::add:
    case ir::op::sub:
    case ir::op::mul: return is_index(e) ? ordered_sum(e) : with_ordered_args(e);
    case ir::op::lt:
    case ir::op::le:
    case ir::op::gt:
    case ir::op::ge:
      return is_index(e->args[0]) && is_index(e->args[1]) ? ordered_comparison(e)
                                                          : with_ordered_args(e);
    case ir::op::logical_and: {
      std::vector<ir::expr> parts;
      for (const ir::expr& c : ir::conjuncts(e)) parts.push_back(ordered(c));
      sort_by_text(parts, [](const ir::expr& p) { return ir::print(p); });
      return ir::conjunction(parts);
    }
    default: return with_ordered_args(e);
  }
}

class normalizer : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override { return ordered(known_.simplify(renamed(e))); }

  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      const ir::range dom{mutate(loop->min), mutate(loop->extent)};
      const ir::var v = define(loop->var);
      known_.bind(v, dom);
      return ir::make_loop(v, dom.min, dom.extent, mutate(loop->body), loop->loop,
                           loop->annotations, loop->thread_tag);
    }
    if (const ir::block_realize_node* realize = ir::as_realize(s)) return bound(*realize);
    return ir::mutator::mutate(s);
  }

  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    for (ir::iter_var& i : out.iters) {
      i.dom = ir::mutator::mutate(i.dom);
      i.var = define(i.var);
      known_.bind(i.var, i.dom);
    }
    const auto regions = [&](std::vector<ir::buffer_region>& list) {
      for (ir::buffer_region& r : list) r = ir::mutator::mutate(r);
    };
    regions(out.reads), regions(out.writes);
    for (ir::match_buffer& m : out.match_buffers) m.source = ir::mutator::mutate(m.source);
    if (out.init) out.init = mutate(out.init);
    out.body = mutate(out.body);
    return ir::make_block(std::move(out));
  }

 private:
  /// The predicate holds where values are bound, and a domain of one point has one value.
  ir::stmt bound(const ir::block_realize_node& old) {
    const analyzer outside = known_;
    const ir::expr predicate = mutate(old.predicate);
    known_.assume(renamed(old.predicate));
    std::vector<ir::expr> values;
    for (std::size_t i = 0; i < old.values.size(); ++i) {
      const ir::range& dom = old.block->iters[i].dom;
      values.push_back(mutate(ir::is_int(dom.extent, 1) ? dom.min : old.values[i]));
    }
    known_ = outside;
    return ir::make_realize(std::move(values), predicate, mutate(old.block));
  }

  ir::var define(const ir::var& v) {
    const ir::var out = ir::make_var("n" + std::to_string(names_.size()), v.type());
    names_.insert_or_assign(v, out);
    return out;
  }

  ir::expr renamed(const ir::expr& e) const { return ir::substitute(e, names_); }

  ir::var_map names_;
  analyzer known_;
};

}  // namespace detail::normal

TILEWRIGHT_INLINE ir::function normalized(const ir::function& f) {
  ir::function out = f;
  out.body = detail::normal::normalizer().mutate(f.body);
  return out;
}

}  // namespace tilewright::arith
