// Reductions over what stands before an element, as scans: each result is made of the one before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/prefix_condition.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::scanning {

using joining::component;
using joining::values;

/// A reduction each result of which has the terms of the one before, and one more.
struct prefix {
  ir::iter_var along, over;  // of the results, and of the terms
  bool rising = true;        // whether results follow each other by rising index
  std::int64_t ahead = 0;    // the last term of result i is that of index i + ahead
  bool first_has_term = true;
  ir::expr term;

  dtype type() const { return along.var.type(); }
  std::int64_t results() const { return along.dom.extent->integer; }
  /// The index of result `step`, counted from the first one.
  ir::expr index(const ir::expr& step) const {
    return rising ? step : ir::integer(type(), results() - 1) - step;
  }
  ir::expr term_of(const ir::expr& index) const { return index + ir::integer(type(), ahead); }
};

inline bool counts_from_zero(const ir::iter_var& i) {
  return ir::is_int(i.dom.min, 0) && ir::is_int(i.dom.extent);
}

/// What the condition says of the results along one variable, where the terms of each of them are those of the one
/// before and one more; the terms that lie in their domain, that is.
inline std::optional<prefix> prefix_of(const ir::block_node& b, const ir::expr& condition) {
  std::optional<bounded_term> bound = bound_between(condition);
  if (!bound) return std::nullopt;
  const auto reduces = [&](const ir::iter_var& i) {
    return i.kind == ir::iter_kind::reduce && i.var.same(bound->result);
  };
  if (support::any(b.iters, reduces)) bound = bound->turned();
  prefix out;
  for (const ir::iter_var& i : b.iters) {
    if (i.var.same(bound->term) && i.kind == ir::iter_kind::reduce) out.over = i;
    if (i.var.same(bound->result) && i.kind == ir::iter_kind::spatial) out.along = i;
  }
  if (!out.over.var || !out.along.var || !counts_from_zero(out.over) ||
      !counts_from_zero(out.along) || out.type() != out.over.var.type())
    return std::nullopt;
  const std::int64_t terms = out.over.dom.extent->integer, results = out.results();
  out.rising = bound->is_upper;
  out.ahead = bound->offset;
  // of the first result
  const std::int64_t count = out.rising ? bound->offset + 1 : terms - (results - 1) - bound->offset;
  const bool inside = out.rising ? results - 1 + bound->offset < terms : bound->offset >= 0;
  if (count < 0 || count > 1 || !inside) return std::nullopt;
  out.first_has_term = count == 1;
  return out;
}

/// Whether results of the type may be rounded between two terms: of floats narrower than float32 a sum is rounded once.
inline bool keeps_running(const component& c) {
  return !is_float(c.to->type) || bits(c.to->type) >= 32 || c.plain.name == "max" ||
         c.plain.name == "min";
}

/// The first condition that makes the reduction a prefix along one of its variables.
inline std::optional<prefix> find_prefix(const ir::function& f, const ir::block_node& b,
                                         const component& c) {
  constexpr std::int64_t fewest = 2;  // results
  if (!keeps_running(c)) return std::nullopt;
  const conditional_term parts = conditional_term_of(c.element, c.identity);
  std::size_t reduced = 0;
  for (const ir::iter_var& i : b.iters)
    reduced += i.kind == ir::iter_kind::reduce && !ir::is_int(i.dom.extent, 1);
  const bool in_order = ir::keeps_term_order(f) && is_float(c.to->type);
  for (std::size_t n = 0; n < parts.conditions.size(); ++n) {
    std::optional<prefix> out = prefix_of(b, parts.conditions[n]);
    if (!out || out->results() < fewest) continue;
    if (in_order && (!out->rising || reduced > 1)) continue;
    conditional_term rest = parts;
    rest.conditions.erase(rest.conditions.begin() + static_cast<std::ptrdiff_t>(n));
    out->term = rest.value(c.identity);
    if (!ir::uses_var(out->term, out->along.var)) return out;
  }
  return std::nullopt;
}

/// Rewrites one such reduction.
class rewriter {
 public:
  rewriter(const ir::function& f, const ir::block_node& b, const component& c, const prefix& p)
      : f_(f), block_(b), c_(c), p_(p), names_(f.body) {}

  ir::function run() {
    std::vector<ir::stmt> nests;
    std::vector<ir::buffer> made;
    if (sums_more())
      nests.push_back(terms(made.emplace_back()));
    else
      terms_ = [this](const ir::expr& at) { return ir::substitute(p_.term, {{p_.over.var, at}}); };
    nests.push_back(first());
    nests.push_back(others());
    return joining::change_buffers(joining::put_nests(f_, block_.id, nests), made, {});
  }

 private:
  bool is_other_term(const ir::iter_var& i) const {
    return i.kind == ir::iter_kind::reduce && !i.var.same(p_.over.var);
  }
  bool sums_more() const {
    return support::any(block_.iters, [&](const ir::iter_var& i) { return is_other_term(i); });
  }

  ir::expr number(std::int64_t n) const { return ir::integer(p_.type(), n); }

  /// What is summed along other axes: a reduction of its own, with a result for each term of the scan.
  ir::stmt terms(ir::buffer& to) {
    ir::block_node out;
    out.name = names_.fresh(block_.name + "_terms");
    ir::var_map inside;
    values at, outside, shape;
    std::vector<ir::iter_var> summed;
    for (ir::iter_var i : block_.iters) {
      const bool is_along = i.var.same(p_.along.var);
      if (i.var.same(p_.over.var)) continue;
      if (is_along) i = p_.over;
      const ir::expr before = i.var;
      i.var = ir::make_var(i.var->name, i.var.type());
      inside.emplace(before, i.var);
      if (!is_along && is_other_term(i)) {
        summed.push_back(i);
        continue;
      }
      i.kind = ir::iter_kind::spatial;
      at.push_back(i.var);
      outside.push_back(before);
      shape.push_back(i.dom.extent);
      out.iters.push_back(std::move(i));
    }
    out.iters.insert(out.iters.end(), summed.begin(), summed.end());
    to = ir::make_buffer(out.name, c_.to->type, shape);
    const ir::expr element = ir::substitute(p_.term, inside);
    out.init = ir::make_store(to, at, c_.identity);
    out.body = ir::make_store(to, at, c_.plain.combine({ir::load(to, at)}, {element})[0]);
    out.reads = joining::loaded_elements({element});
    out.writes = {{to, ir::point_box(at)}};
    terms_ = [this, sum = ir::load(to, outside)](const ir::expr& term) {
      return ir::substitute(sum, {{p_.over.var, term}});
    };
    return joining::nest_of(std::move(out));
  }

  /// Whether results lie side by side along the variable.
  bool lies_along(const ir::expr& v) const {
    for (std::size_t d = 0; d < c_.at.size(); ++d) {
      const bool dense = c_.to->strides.empty();
      if (c_.at[d].same(v) && (dense ? d + 1 == c_.at.size() : ir::is_int(c_.to->strides[d], 1)))
        return true;
    }
    return false;
  }
  /// The variables of the results but the scanned one; the one along which results lie side by side comes last.
  std::vector<ir::iter_var> other_results() const {
    std::vector<ir::iter_var> out;
    for (const bool last : {false, true})
      for (const ir::iter_var& i : block_.iters)
        if (i.kind == ir::iter_kind::spatial && !i.var.same(p_.along.var) &&
            lies_along(i.var) == last)
          out.push_back(i);
    return out;
  }

  /// The block of results `index`, each made of `before` and its last term.
  ir::stmt results(std::string name, const ir::iter_var& step, const ir::expr& index,
                   const ir::expr& before, bool has_term) {
    ir::block_node out;
    out.name = std::move(name);
    ir::var_map renamed;
    const std::vector<ir::iter_var> others = other_results();
    for (std::size_t n = 0; n < others.size(); ++n) {
      ir::iter_var i = others[n];
      i.var = ir::make_var(i.var->name, i.var.type());
      renamed.emplace(others[n].var, i.var);
      if (n + 1 == others.size() && lies_along(others[n].var)) out.iters.push_back(step);
      out.iters.push_back(std::move(i));
    }
    if (out.iters.size() == others.size()) out.iters.push_back(step);
    const auto placed = [&](const ir::expr& e) {
      return ir::substitute(ir::substitute(e, {{p_.along.var, index}}), renamed);
    };
    ir::expr value = before;
    if (has_term) value = c_.plain.combine({before}, {terms_(p_.term_of(index))})[0];
    value = placed(value);
    values at = c_.at;
    for (ir::expr& e : at) e = placed(e);
    out.body = ir::make_store(c_.to, at, value);
    out.reads = joining::loaded_elements({value});
    out.writes = {{c_.to, ir::point_box(at)}};
    return joining::nest_of(std::move(out));
  }

  ir::iter_var step_of(std::int64_t extent) const {
    return {ir::make_var(p_.along.var->name, p_.type()),
            {number(0), number(extent)},
            ir::iter_kind::spatial};
  }

  ir::stmt first() {
    const ir::iter_var step = step_of(1);
    return results(names_.fresh(block_.name + "_first"), step, p_.index(step.var), c_.identity,
                   p_.first_has_term);
  }
  ir::stmt others() {
    const ir::iter_var step = step_of(p_.results() - 1);
    const ir::expr before =
        ir::load(c_.to, ir::substitute(c_.at, {{p_.along.var, p_.index(step.var)}}));
    return results(block_.name, step, p_.index(step.var + number(1)), before, true);
  }

  const ir::function& f_;
  const ir::block_node& block_;
  const component& c_;
  const prefix& p_;
  block_names names_;
  std::function<ir::expr(const ir::expr&)> terms_;  // what the term of an index is
};

inline std::optional<ir::function> scan_one(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  if (!scope.schedulable()) return std::nullopt;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const std::optional<component> found = joining::single_of(scope, c);
    if (!found) continue;
    const ir::block_node& block = scope[c].block();
    if (const std::optional<prefix> p = find_prefix(f, block, *found))
      return rewriter(f, block, *found, *p).run();
  }
  return std::nullopt;
}

}  // namespace detail::scanning

/// The function with reductions over what stands before an element as scans, which take one step for each result
/// where the reductions take one for each pair of a result and a term.
/// ```
/// for r, i, j: Y[r, i] += X[r, j] if j <= i else 0
///   ->
/// for r: Y[r, 0] = 0 + X[r, 0]
/// for r, i: Y[r, i + 1] = Y[r, i] + X[r, i + 1]
/// ```
/// A block is rewritten if it is a reduction of one value that is a nest of its own in the root block, its element is the
/// identity unless a variable j of the terms lies before one of the results, i: j <= i + c or j >= i + c with a literal c
/// (also j < i and the like, and among other conditions), the result of each i has the terms of its neighbour and one more,
/// the first one or none, and nothing else of an element depends on i. Terms are combined in the order of the reduction where they
/// rise with i. Along further axes of the terms a reduction of its own is made first, which may become a scan, too: a summed
/// area is two. Sums and products of floats of fewer than 32 bits stay, since their scan would be rounded at each step. In a
/// function that keeps the order of terms (ir/term_order.hpp), floats are scanned by rising i alone, and without further axes.
/// @returns nothing where the function has no such reduction
inline std::optional<ir::function> scan_prefixes(const ir::function& f) {
  constexpr int most = 16;
  std::optional<ir::function> out;
  for (int i = 0; i < most; ++i) {
    std::optional<ir::function> next = detail::scanning::scan_one(out ? *out : f);
    if (!next) break;
    out = std::move(next);
  }
  return out;
}

}  // namespace tilewright::primitive
