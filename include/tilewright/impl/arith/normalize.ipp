#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/normalize.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::arith {
namespace detail::normal_form {

/// Orders expressions by structure: variables and buffers by first binding, never by name.
class ordering {
 public:
  void number(const ir::expr& v) { vars_.emplace(v, vars_.size()); }
  void number(const ir::buffer& b) { buffers_.emplace(b, buffers_.size()); }

  std::string key(const ir::expr& e) {
    switch (e->op) {
      case ir::op::var: number(e); return "v" + padded(vars_.at(e));
      case ir::op::integer: return "#" + std::to_string(e->integer);
      case ir::op::real: return "r" + ir::print_real(e->real);
      default: break;
    }
    std::string out = "(" + padded(static_cast<std::size_t>(e->op)) + e->name;
    if (e->buffer) {
      number(e->buffer);
      out += "b" + padded(buffers_.at(e->buffer));
    }
    for (const ir::expr& a : e->args) out += " " + key(a);
    return out + ")";
  }

  void sort(std::vector<ir::expr>& list) {
    std::sort(list.begin(), list.end(),
              [&](const ir::expr& a, const ir::expr& b) { return key(a) < key(b); });
  }

 private:
  static std::string padded(std::size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
  }
  std::unordered_map<ir::expr, std::size_t, ir::expr_identity_hash, ir::expr_identity_equal> vars_;
  std::unordered_map<ir::buffer, std::size_t> buffers_;
};

/// Canonical order and form of an expression that the analyzer has simplified already.
class canonical_form {
 public:
  canonical_form(ordering& order, const analyzer& known) : order_(order), known_(known) {}

  ir::expr of(const ir::expr& e) {
    return ir::rewrite(e, [&](const ir::expr& part) { return rebuilt(part); });
  }

  linear sorted(linear sum) {
    std::sort(sum.terms.begin(), sum.terms.end(), [&](const auto& a, const auto& b) {
      return order_.key(a.first) < order_.key(b.first);
    });
    return sum;
  }

 private:
  ir::expr rebuilt(const ir::expr& e) {
    switch (e->op) {
      case ir::op::add:
      case ir::op::sub:
      case ir::op::mul:
        return is_index(e.type()) ? ir::cast(e.type(), from_linear(sorted(to_linear(e)))) : e;
      case ir::op::floordiv: return digit_of_remainder(e);
      case ir::op::min:
      case ir::op::max:
        return is_index(e.type()) && order_.key(e->args[1]) < order_.key(e->args[0])
                   ? ir::with_args(e, {e->args[1], e->args[0]})
                   : e;
      case ir::op::lt: return below(e->args[0], e->args[1], 0, e);
      case ir::op::le: return below(e->args[0], e->args[1], 1, e);
      case ir::op::gt: return below(e->args[1], e->args[0], 0, e);
      case ir::op::ge: return below(e->args[1], e->args[0], 1, e);
      case ir::op::logical_and: return sorted_conjunction(e);
      default: return e;
    }
  }

  /// x % (a * b) // a is x // a % b.
  static ir::expr digit_of_remainder(const ir::expr& e) {
    const ir::expr& inner = e->args[0];
    if (inner->op != ir::op::floormod || !ir::is_int(e->args[1]) || !ir::is_int(inner->args[1]))
      return e;
    const std::int64_t a = ir::as_int(e->args[1]), whole = ir::as_int(inner->args[1]);
    if (a <= 0 || whole <= 0 || whole % a != 0) return e;
    return ir::floormod(ir::floordiv(inner->args[0], e->args[1]), ir::integer(e.type(), whole / a));
  }

  /// a < b + slack as terms < constant, divided by what all coefficients have in common.
  ir::expr below(const ir::expr& a, const ir::expr& b, std::int64_t slack, const ir::expr& as_is) {
    if (!is_index(a.type()) || !is_index(b.type())) return slack ? ir::le(a, b) : ir::lt(a, b);
    linear sum = sorted(to_linear(a - b));
    if (sum.is_constant()) return as_is;
    std::int64_t limit = slack - sum.constant;
    sum.constant = 0;
    drop_low_digits(sum, limit);
    std::int64_t common = 0;
    for (const auto& t : sum.terms) common = std::gcd(common, t.second);
    for (auto& t : sum.terms) t.second /= common;
    limit = -ir::floor_divide(-limit, common);
    ir::expr low = from_linear(sum);
    while (low->op == ir::op::floordiv && ir::is_int(low->args[1]) &&
           ir::as_int(low->args[1]) > 0) {  // x // a < b is x < a * b
      limit *= ir::as_int(low->args[1]);
      low = low->args[0];
    }
    return ir::lt(low, ir::integer(sum.type, limit));
  }

  /// a * 8 + r < 16 is a * 8 < 16 where r is in [0, 8).
  void drop_low_digits(linear& sum, std::int64_t limit) const {
    const linear whole = sum;
    for (const auto& [term, unit] : whole.terms) {
      if (unit < 2 || limit % unit != 0) continue;
      linear high = sum, low = sum;
      const std::int64_t divisor = unit;
      const auto is_high = [&](const auto& t) { return t.second % divisor == 0; };
      erase_if(low.terms, is_high);
      erase_if(high.terms, [&](const auto& t) { return !is_high(t); });
      const bounds rest = known_.const_bounds(from_linear(low));
      if (rest.lo >= 0 && rest.hi < divisor) {
        sum = std::move(high);
        return;
      }
    }
  }

  ir::expr sorted_conjunction(const ir::expr& e) {
    std::vector<ir::expr> parts = ir::conjuncts(e);
    order_.sort(parts);
    return ir::conjunction(parts);
  }

  ordering& order_;
  const analyzer& known_;
};

class normalizer : public ir::mutator {
 public:
  explicit normalizer(const std::vector<ir::param>& params) {
    for (const ir::param& p : params)
      if (p.buffer) order_.number(p.buffer);
  }

  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (e->op == ir::op::if_then_else && !is_index(e.type())) return choice(e);
    if (!is_index(e.type()) && e.type() != dtype::boolean) return ir::mutator::mutate(e);
    if (e->op == ir::op::var && !values_.count(e)) return e;
    return form_.of(known_.simplify(ir::substitute(e, values_)));
  }

  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* l = ir::as_loop(s)) return loop(*l);
    if (const ir::block_realize_node* r = ir::as_realize(s)) return realize(*r);
    if (const ir::if_node* branch = ir::as_if(s)) return conditional(*branch);
    return ir::mutator::mutate(s);
  }

  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    for (const ir::buffer& buffer : out.alloc_buffers) order_.number(buffer);
    const bool parts = holds_parts(out);
    parts_ += parts ? 1 : 0;
    if (parts_ > 0) out.reads.clear(), out.writes.clear();
    regions(out.reads);
    regions(out.writes);
    for (ir::match_buffer& m : out.match_buffers) m.source = ir::mutator::mutate(m.source);
    if (out.init) out.init = mutate(out.init);
    out.body = mutate(out.body);
    parts_ -= parts ? 1 : 0;
    return ir::make_block(std::move(out));
  }

 private:
  /// One of the blocks that loop_partition puts around the parts of a loop.
  static bool holds_parts(const ir::block_node& b) {
    const std::string_view name = b.name;
    return b.iters.empty() && (name.ends_with("_common") || name.ends_with("_partition"));
  }

  int parts_ = 0;  // number of such blocks around the current statement

  /// Dimensions indexed by data, or of a length that varies, are whole; the order says nothing.
  void regions(std::vector<ir::buffer_region>& list) {
    std::vector<std::pair<std::string, ir::buffer_region>> keyed;
    for (ir::buffer_region& r : list) {
      r = ir::mutator::mutate(r);
      for (std::size_t d = 0; d < r.box.size(); ++d)
        if (ir::reads_memory(r.box[d].min) || ir::reads_memory(r.box[d].extent) ||
            (ir::is_int(r.buffer->shape[d]) && !ir::is_int(r.box[d].extent)))
          r.box[d] = {ir::integer(r.buffer->shape[d].type(), 0), r.buffer->shape[d]};
      std::vector<ir::expr> corner;
      for (const ir::range& dim : r.box) corner.push_back(dim.min);
      keyed.emplace_back(order_.key(ir::load(r.buffer, std::move(corner))), std::move(r));
    }
    support::stable_sort(keyed, [](const auto& a, const auto& b) { return a.first < b.first; });
    list.clear();
    for (auto& entry : keyed) list.push_back(std::move(entry.second));
  }

  ir::stmt loop(const ir::loop_node& l) {
    const analyzer outside = known_;
    order_.number(l.var);
    const ir::expr min = mutate(l.min), extent = mutate(l.extent);
    known_.bind(l.var, ir::range{min, extent});
    if (ir::is_int(extent, 1)) values_[l.var] = min;
    ir::stmt out =
        ir::make_loop(l.var, min, extent, mutate(l.body), l.loop, l.annotations, l.thread_tag);
    known_ = outside;
    return out;
  }

  ir::expr choice(const ir::expr& e) {
    const analyzer outside = known_;
    const ir::expr condition = mutate(e->args[0]);
    known_.assume(condition);
    const ir::expr yes = mutate(e->args[1]);
    known_ = outside;
    known_.assume(ir::logical_not(condition));
    const ir::expr no = mutate(e->args[2]);
    known_ = outside;
    return ir::with_args(e, {condition, yes, no});
  }

  ir::stmt conditional(const ir::if_node& n) {
    const analyzer outside = known_;
    const ir::expr condition = mutate(n.condition);
    known_.assume(condition);
    const ir::stmt then_body = mutate(n.then_body);
    known_ = outside;
    known_.assume(ir::logical_not(condition));
    const ir::stmt else_body = n.else_body ? mutate(n.else_body) : ir::stmt{};
    known_ = outside;
    return ir::make_if(condition, then_body, else_body);
  }

  ir::stmt realize(const ir::block_realize_node& r) {
    const analyzer outside = known_;
    const ir::expr predicate = guard(r.predicate);
    known_.assume(predicate);
    std::vector<ir::expr> values;
    for (const ir::expr& v : r.values) values.push_back(mutate(v));
    ir::block_node block = *r.block;
    for (std::size_t i = 0; i < block.iters.size(); ++i) {
      ir::iter_var& iter = block.iters[i];
      order_.number(iter.var);
      iter.dom = ir::mutator::mutate(iter.dom);
      known_.bind(iter.var, iter.dom);
      if (!ir::is_int(iter.dom.extent, 1)) continue;
      values[i] = values_[iter.var] = iter.dom.min;
    }
    ir::stmt out =
        ir::make_realize(std::move(values), predicate, mutate(ir::make_block(std::move(block))));
    known_ = outside;
    return out;
  }

  /// `x < c` as the smallest bound that says the same beside `x % m < k`.
  static void tighten(ir::expr& bound, const ir::expr& digit) {
    if (bound->op != ir::op::lt || digit->op != ir::op::lt || !ir::is_int(bound->args[1]) ||
        !ir::is_int(digit->args[1]) || digit->args[0]->op != ir::op::floormod)
      return;
    const ir::expr& mod = digit->args[0];
    if (!ir::is_int(mod->args[1]) || !ir::equal(mod->args[0], bound->args[0])) return;
    const std::int64_t m = ir::as_int(mod->args[1]), k = ir::as_int(digit->args[1]);
    const std::int64_t last = ir::as_int(bound->args[1]) - 1;
    if (m <= 0 || k <= 0 || last < 0 || last % m < k) return;
    bound = ir::lt(bound->args[0], ir::integer(bound->args[1].type(), last - last % m + k));
  }

  /// The conjuncts that say more than the loops and the other conjuncts do.
  ir::expr guard(const ir::expr& predicate) {
    std::vector<ir::expr> parts = ir::conjuncts(mutate(predicate));
    for (ir::expr& bound : parts)
      for (const ir::expr& digit : parts) tighten(bound, digit);
    order_.sort(parts);
    for (std::size_t i = parts.size(); i-- > 0;) {
      analyzer others = known_;
      for (std::size_t j = 0; j < parts.size(); ++j)
        if (j != i) others.assume(parts[j]);
      if (others.prove(parts[i])) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return ir::conjunction(parts);
  }

  analyzer known_;
  ir::var_map values_;  // variables that have one value
  ordering order_;
  canonical_form form_{order_, known_};
};

/// One form for the layouts that mean the same: an offset of 0 is none, and a factor alone stands
/// for an offset that nobody named.
class layout_form : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::buffer mutate(const ir::buffer& b) override {
    const bool none = !b->elem_offset || ir::is_int(b->elem_offset, 0);
    const bool unnamed = !b->elem_offset && b->offset_factor > 0;
    if (none && !unnamed && b->offset_factor == 0 && !b->elem_offset) return b;
    const auto [known, fresh] = forms_.try_emplace(b, b);
    if (!fresh) return known->second;
    auto* node = new ir::buffer_node(*b);
    known->second = ir::buffer(node);
    if (unnamed) node->elem_offset = ir::make_var(b->name + "_elem_offset");
    if (!unnamed && none && b->offset_factor <= 1) {
      node->elem_offset = {};
      node->offset_factor = 0;
    } else if (node->offset_factor == 0) {
      node->offset_factor = 1;
    }
    return known->second;
  }

  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *ir::mutator::mutate(b);
    for (ir::match_buffer& m : out.match_buffers) m.buffer = mutate(m.buffer);
    return ir::make_block(std::move(out));
  }

 private:
  ir::buffer_map forms_;
};

}  // namespace detail::normal_form

TILEWRIGHT_INLINE ir::function normalize(const ir::function& f) {
  ir::function out = f;
  out.attrs.clear();
  for (const auto& [key, value] : f.attrs) {
    // Of names and of the level of the program nothing depends; a prefix changed with the years.
    if (key == "global_symbol" || key == "s_tir") continue;
    out.attrs[key.substr(0, 5) == "tirx." ? "tir." + key.substr(5) : key] = value;
  }
  detail::normal_form::layout_form layouts;
  for (ir::param& p : out.params)
    if (p.buffer) p.buffer = layouts.mutate(p.buffer);
  out.body = layouts.mutate(out.body);
  detail::normal_form::normalizer n(out.params);
  out.body = n.mutate(out.body);
  return out;
}

}  // namespace tilewright::arith
