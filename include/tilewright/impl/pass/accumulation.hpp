// What a loop of a declared reduction does with its accumulators: a sum, product, maximum, minimum,
// "and" or "or", the position of a maximum or minimum beside its value, or whatever a reducer says
// that the loop is annotated with.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::reductions {

using namespace tilewright::ir;

/// to[t][at[t]] = combine(to[at], value)[t] for all t at once.
struct accumulation {
  op combine = op::add;    // one accumulator: add, mul, max, min, logical_and, logical_or; two: gt
                           // (largest first), lt; call: `reducer`
  std::vector<buffer> to;  // the position before its value
  std::vector<std::vector<expr>> at;
  std::vector<expr> value;  // of a reducer: what the accumulators become
  comm_reducer reducer = {};
  bool rising = false;  // of a position: each value stands behind those before it

  /// What the accumulators hold after one more value, `a` before it.
  std::vector<expr> next(const std::vector<expr>& a) const {
    if (rising) {  // of equal values the one before stands first
      const bool largest = combine == op::gt;
      const expr keep = largest ? ge(a[1], value[1]) : le(a[1], value[1]);
      const expr better = largest ? gt(a[1], value[1]) : lt(a[1], value[1]);
      return {select(keep, a[0], value[0]), select(better, a[1], value[1])};
    }
    if (combine != op::call) return combined(a, value);
    std::vector<expr> out;
    for (const expr& v : value)
      out.push_back(rewrite(v, [&](const expr& e) {
        const auto found = std::find(to.begin(), to.end(), e->buffer);
        return e->op == op::load && found != to.end()
                   ? a[static_cast<std::size_t>(found - to.begin())]
                   : e;
      }));
    return out;
  }

  /// What the accumulators `a` hold after `b`, accumulators too or new values. Equal values keep
  /// the smaller position, whatever the order.
  std::vector<expr> combined(const std::vector<expr>& a, const std::vector<expr>& b) const {
    switch (combine) {
      case op::add: return {a[0] + b[0]};
      case op::mul: return {a[0] * b[0]};
      case op::max: return {max(a[0], b[0])};
      case op::min: return {min(a[0], b[0])};
      case op::logical_and: return {logical_and(a[0], b[0])};
      case op::logical_or: return {logical_or(a[0], b[0])};
      case op::call: return reducer.combined(a, b);
      default: break;
    }
    const expr better = combine == op::gt ? gt(a[1], b[1]) : lt(a[1], b[1]);
    const expr keep = logical_or(better, logical_and(eq(a[1], b[1]), lt(a[0], b[0])));
    return {select(keep, a[0], b[0]), select(better, a[1], b[1])};
  }

  /// Combines with nothing changed.
  std::vector<expr> identity() const {
    const dtype t = to.back()->type;
    switch (combine) {
      case op::add: return {literal(t, 0)};
      case op::mul: return {literal(t, 1)};
      case op::max: return {lowest_value(t)};
      case op::min: return {highest_value(t)};
      case op::logical_and: return {boolean(true)};
      case op::logical_or: return {boolean(false)};
      case op::call: return reducer.identity;
      default: break;
    }
    return {integer(to[0]->type, -1), combine == op::gt ? lowest_value(t) : highest_value(t)};
  }
};

inline bool is_element(const expr& e, const buffer& b, const std::vector<expr>& at) {
  return e->op == op::load && e->buffer == b && same_indices(e->args, at);
}

inline std::optional<accumulation> match_single(const store_node& store) {
  const expr& v = store.value;
  if (v->op != op::add && v->op != op::mul && v->op != op::max && v->op != op::min &&
      v->op != op::logical_and && v->op != op::logical_or)
    return std::nullopt;
  const bool left = is_element(v->args[0], store.buffer, store.indices);
  if (!left && !is_element(v->args[1], store.buffer, store.indices)) return std::nullopt;
  return accumulation{v->op, {store.buffer}, {store.indices}, {v->args[left ? 1 : 0]}};
}

/// a > b as `gt`, a < b as `lt`, of a first operand and a second.
inline std::optional<op> order_of(const expr& e, const expr& first, const expr& second) {
  if (e->op != op::gt && e->op != op::lt) return std::nullopt;
  const bool swapped = arith::same_value(e->args[0], second);
  if (!arith::same_value(e->args[swapped ? 1 : 0], first) ||
      !arith::same_value(e->args[swapped ? 0 : 1], second))
    return std::nullopt;
  return (e->op == op::gt) != swapped ? op::gt : op::lt;
}

/// Whether `e` keeps the first operand of an order where both are equal, too.
inline bool keeps_equal(const expr& e, op order, const expr& first, const expr& second) {
  const op same = order == op::gt ? op::ge : op::le, turned = order == op::gt ? op::le : op::ge;
  return (e->op == same && arith::same_value(e->args[0], first) &&
          arith::same_value(e->args[1], second)) ||
         (e->op == turned && arith::same_value(e->args[0], second) &&
          arith::same_value(e->args[1], first));
}

/// The update of a position and its value, with ties to the smaller position, or to what was there where positions
/// rise, as a pair of stores of what two lets compute.
inline std::optional<accumulation> match_position(const stmt& body) {
  const let_node* outer = as_let(body);
  const let_node* inner = outer ? as_let(outer->body) : nullptr;
  const seq_node* stores = inner ? as_seq(inner->body) : nullptr;
  if (!stores || stores->stmts.size() != 2) return std::nullopt;
  const auto stored = [&](const store_node& s) {
    return s.value.same(outer->var)   ? outer->value
           : s.value.same(inner->var) ? inner->value
                                      : expr();
  };
  const store_node *place = as_store(stores->stmts[0]), *peak = as_store(stores->stmts[1]);
  if (!place || !peak || place->buffer == peak->buffer) return std::nullopt;
  expr at = stored(*place), best = stored(*peak);
  const auto tells_ties = [](const expr& e) {
    return e->args[0]->op == op::logical_or || e->args[0]->op == op::ge || e->args[0]->op == op::le;
  };
  if (at && best && at->op == op::select && !tells_ties(at)) {
    std::swap(at, best);
    std::swap(place, peak);
  }
  if (!at || !best || at->op != op::select || best->op != op::select || !tells_ties(at) ||
      is_float(place->buffer->type) || !is_element(at->args[1], place->buffer, place->indices) ||
      !is_element(best->args[1], peak->buffer, peak->indices))
    return std::nullopt;
  const expr &old_at = at->args[1], &old_best = best->args[1], &position = at->args[2],
             &value = best->args[2];
  const auto better = order_of(best->args[0], old_best, value);
  const expr &first = at->args[0]->args[0], &tie = at->args[0]->args[1];
  if (better && keeps_equal(at->args[0], *better, old_best, value))
    return accumulation{*better,
                        {place->buffer, peak->buffer},
                        {place->indices, peak->indices},
                        {position, value},
                        {},
                        true};
  if (!better || at->args[0]->op != op::logical_or || order_of(first, old_best, value) != better ||
      tie->op != op::logical_and || !arith::same_value(tie->args[0], eq(old_best, value)) ||
      order_of(tie->args[1], old_at, position) != op::lt)
    return std::nullopt;
  return accumulation{
      *better, {place->buffer, peak->buffer}, {place->indices, peak->indices}, {position, value}};
}

/// The update by an annotated reducer: one store, or stores of what lets compute before them, all of
/// elements that are read nowhere else.
inline std::optional<accumulation> match_reducer(const stmt& body, const std::string& text) {
  std::optional<comm_reducer> reducer = parse_reducer(text);
  if (!reducer) return std::nullopt;
  accumulation out;
  out.combine = op::call;
  var_map lets;
  stmt s = body;
  for (; as_let(s); s = as_let(s)->body)
    lets.emplace(as_let(s)->var, substitute(as_let(s)->value, lets));
  const std::vector<stmt> stores = as_seq(s) ? as_seq(s)->stmts : std::vector<stmt>{s};
  if (stores.size() != reducer->identity.size()) return std::nullopt;
  for (const stmt& each : stores) {
    const store_node* store = as_store(each);
    if (!store || (stores.size() > 1 && !lets.count(store->value)) ||
        store->buffer->type != reducer->identity[out.to.size()].type() ||
        support::contains(out.to, store->buffer))
      return std::nullopt;
    out.to.push_back(store->buffer);
    out.at.push_back(store->indices);
    out.value.push_back(substitute(store->value, lets));
  }
  bool elsewhere = false;
  for (const expr& v : out.value)
    for_each_expr(v, [&](const expr& e) {
      for (std::size_t t = 0; t < out.to.size(); ++t)
        elsewhere = elsewhere || (e->op == op::load && e->buffer == out.to[t] &&
                                  !same_indices(e->args, out.at[t]));
    });
  if (elsewhere) return std::nullopt;
  out.reducer = std::move(*reducer);
  return out;
}

inline std::optional<accumulation> match_accumulation(const loop_node& loop) {
  if (const auto note = loop.annotations.find(reducer_note); note != loop.annotations.end())
    if (const auto* text = std::get_if<std::string>(&note->second.value))
      return match_reducer(loop.body, *text);
  if (const store_node* store = as_store(loop.body)) return match_single(*store);
  return match_position(loop.body);
}

}  // namespace tilewright::pass::detail::reductions
