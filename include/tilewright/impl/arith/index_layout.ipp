#pragma once

#include <numeric>
#include <optional>
#include <string>

#include <tilewright/arith/index_layout.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {
namespace detail::layouts {

/// A sum of old indices that the map divides: value - shift, rounded outwards to multiples of
/// `step`, is what `digit` runs over.
struct mark {
  linear value;  // without its constant
  std::int64_t shift = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;  // values from 0; 0 when that is symbolic
  ir::expr extent;         // symbolic count, a multiple of `step`
  ir::var digit;           // or how many steps there are before it, where the count is symbolic
  ir::var within;          // the step, then

  std::int64_t first() const { return ir::floor_divide(shift, step) * step; }
  std::int64_t left() const { return shift - first(); }
  std::int64_t padded() const {
    return (ir::floor_divide(shift + count - 1, step) + 1) * step - first();
  }
  std::int64_t right() const { return padded() - left() - count; }
};

inline bool is_division(const ir::expr& e) {
  return (e->op == ir::op::floordiv || e->op == ir::op::floormod) && ir::is_int(e->args[1]) &&
         ir::as_int(e->args[1]) > 0;
}

class planner {
 public:
  planner(const ir::index_map& map, const std::vector<ir::expr>& shape, const analyzer& known)
      : map_(map),
        shape_(shape),
        known_(known),
        type_(shape.empty() ? dtype::i32 : shape[0].type()) {}

  index_layout run() {
    for (const ir::expr& e : map_.outputs) outputs_.push_back(simplify(e));
    index_layout out;
    name_axes(out);
    for (const ir::expr& e : outputs_)
      if (understood_) collect(e);
    if (understood_) prepare_domains();
    if (understood_)
      for (ir::expr& e : outputs_) e = in_digits(e);
    if (understood_) check_leftovers();
    if (!understood_) return plain(out);
    find_shape(out, outputs_, domains_);
    if (out.shape.empty()) return plain(out);
    invert(out);
    if (!out.padding) return plain(out);
    return out;
  }

 private:
  void name_axes(index_layout& out) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const ir::expr& e = outputs_[i];
      const bool same = ir::is_var(e) && input(e) >= 0;
      out.axes.push_back(ir::make_var(same ? e->name : "axis" + std::to_string(i), type_));
    }
  }

  int input(const ir::expr& v) const {
    for (std::size_t i = 0; i < map_.inputs.size(); ++i)
      if (map_.inputs[i].same(v)) return static_cast<int>(i);
    return -1;
  }

  /// Number of values of a sum of inputs with positive factors; 0 when it is none or symbolic.
  std::int64_t count_of(const linear& value) const {
    std::int64_t most = 0;
    for (const auto& [term, factor] : value.terms) {
      const int i = ir::is_var(term) ? input(term) : -1;
      if (i < 0 || factor <= 0) return 0;
      const ir::expr& extent = shape_[static_cast<std::size_t>(i)];
      std::int64_t part = 0;
      if (!ir::is_int(extent) || ir::as_int(extent) <= 0 ||
          __builtin_mul_overflow(ir::as_int(extent) - 1, factor, &part) ||
          __builtin_add_overflow(most, part, &most))
        return 0;
    }
    return most + 1;
  }

  /// The extent of an input that stands alone, where it is symbolic.
  ir::expr symbolic_extent(const linear& value) const {
    const int i =
        value.terms.size() == 1 && value.terms[0].second == 1 ? input(value.terms[0].first) : -1;
    const ir::expr none;
    if (i < 0) return none;
    const ir::expr& extent = shape_[static_cast<std::size_t>(i)];
    return ir::is_int(extent) ? none : extent;
  }

  mark* find(const linear& value) {
    for (mark& m : marks_) {
      if (m.value.terms.size() != value.terms.size()) continue;
      bool same = true;
      for (const auto& [term, factor] : value.terms)
        same = same && m.value.coefficient(term) == factor;
      if (same) return &m;
    }
    return nullptr;
  }

  /// `e` is divided by `step`.
  void divide(const ir::expr& e, std::int64_t step) {
    if (is_division(e)) {
      const std::int64_t by = ir::as_int(e->args[1]);
      const bool quotient = e->op == ir::op::floordiv;
      std::int64_t all = 0;
      if (__builtin_mul_overflow(by, quotient ? step : 1, &all)) {
        understood_ = false;
        return;
      }
      return divide(e->args[0], all);
    }
    linear value = to_linear(e);
    const std::int64_t shift = std::exchange(value.constant, 0);
    const std::int64_t count = count_of(value);
    const ir::expr extent = count == 0 && shift == 0 ? symbolic_extent(value) : ir::expr{};
    if ((count == 0 && !extent) || value.terms.empty()) {
      understood_ = false;
      return;
    }
    mark* m = find(value);
    if (!m) {
      marks_.push_back({std::move(value), shift, 1, count, extent, {}, {}});
      m = &marks_.back();
    }
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    const std::int64_t gcd = std::gcd(m->step, step);
    if (step > limit || m->step / gcd > limit / step)
      understood_ = false;
    else
      m->step = m->step / gcd * step;
  }

  void collect(const ir::expr& e) {
    if (is_division(e)) return divide(e, 1);
    for (const ir::expr& a : e->args) collect(a);
  }

  void prepare_domains() {
    const ir::expr zero = ir::integer(type_, 0);
    ir::var_set marked;
    for (mark& m : marks_) {
      if (m.count > (std::int64_t{1} << 40)) {
        understood_ = false;
        return;
      }
      m.digit = ir::make_var("digit", type_);
      for (const auto& [term, factor] : m.value.terms) marked.insert(term);
      if (!m.extent) {
        domains_.emplace_back(m.digit, ir::range{zero, ir::integer(type_, m.padded())});
        continue;
      }
      const ir::expr step = ir::integer(type_, m.step);
      if (!known_.prove_equal(ir::floormod(m.extent, step), zero)) {
        understood_ = false;
        return;
      }
      m.within = ir::make_var("within", type_);
      domains_.emplace_back(m.digit,
                            ir::range{zero, known_.simplify(ir::floordiv(m.extent, step))});
      domains_.emplace_back(m.within, ir::range{zero, step});
    }
    for (std::size_t i = 0; i < map_.inputs.size(); ++i)
      if (marked.count(map_.inputs[i]) == 0)
        domains_.emplace_back(map_.inputs[i], ir::range{zero, shape_[i]});
  }

  ir::expr steps(const mark& m, const ir::expr& digit, const ir::expr& within) const {
    return digit * ir::integer(type_, m.step) + within;
  }

  ir::expr in_digits(const ir::expr& e) {
    if (is_division(e)) {
      ir::expr inner = e->args[0];
      if (is_division(inner)) {
        inner = in_digits(inner);
      } else {
        linear value = to_linear(inner);
        const std::int64_t constant = std::exchange(value.constant, 0);
        const mark* m = find(value);
        if (!m) {
          understood_ = false;
          return e;
        }
        if (m->extent) {
          analyzer inside = known_;
          inside.bind(domains_);
          return inside.simplify(ir::with_args(e, {steps(*m, m->digit, m->within), e->args[1]}));
        }
        inner = m->digit + ir::integer(type_, m->first() - m->shift + constant);
      }
      return ir::with_args(e, {inner, e->args[1]});
    }
    if (e->args.empty()) return e;
    std::vector<ir::expr> args;
    for (const ir::expr& a : e->args) args.push_back(in_digits(a));
    return ir::with_args(e, std::move(args));
  }

  /// An index that is divided occurs in no other form.
  void check_leftovers() {
    for (std::size_t a = 0; a < marks_.size(); ++a)
      for (const auto& [term, factor] : marks_[a].value.terms) {
        for (const ir::expr& e : outputs_) understood_ = understood_ && !ir::uses_var(e, term);
        for (std::size_t b = 0; b < a; ++b)
          understood_ = understood_ && marks_[b].value.coefficient(term) == 0;
      }
  }

  void find_shape(index_layout& out, const std::vector<ir::expr>& outputs,
                  const loop_domains& domains) const {
    analyzer inside = known_;
    inside.bind(domains);
    for (const ir::expr& e : outputs) {
      const ir::expr value = inside.simplify(e);
      const box image = relax({{value, ir::integer(type_, 1)}}, domains, known_);
      if (!image[0].min || !known_.prove_equal(image[0].min, ir::integer(type_, 0))) {
        out.shape.clear();
        return;
      }
      out.shape.push_back(ir::cast(type_, known_.simplify(image[0].extent)));
    }
  }

  void invert(index_layout& out) const {
    analyzer inside = known_;
    inside.bind(domains_);
    const auto structure =
        detect_iter_map(outputs_, domains_, ir::boolean(true), iter_map_level::bijective, inside);
    if (!structure) return;
    for (const iter_sum& sum : structure->indices)  // steps of 2 leave holes
      if (!sum.splits.empty() && sum.splits.back().scale != 1) return;
    const auto back =
        inverse_affine(*structure, std::vector<ir::expr>(out.axes.begin(), out.axes.end()));
    if (!back) return;
    analyzer on_axes = known_;
    for (std::size_t i = 0; i < out.axes.size(); ++i)
      on_axes.bind(out.axes[i], {ir::integer(type_, 0), out.shape[i]});
    ir::var_map old = *back;
    ir::expr padding = ir::boolean(false);
    for (const mark& m : marks_) {
      if (m.extent) {
        old[m.value.terms[0].first] = steps(m, old.at(m.digit), old.at(m.within));
        continue;
      }
      const ir::expr digit = on_axes.simplify(old.at(m.digit));
      if (!undo(m, digit + ir::integer(type_, m.first() - m.shift), old)) return;
      padding = ir::logical_or(padding, beyond(m, digit, on_axes));
    }
    for (const ir::var& v : map_.inputs) out.inverse.push_back(on_axes.simplify(old.at(v)));
    out.padding = padding;
  }

  /// The inputs that a divided sum is made of, from its value.
  bool undo(const mark& m, const ir::expr& value, ir::var_map& old) const {
    if (m.value.terms.size() == 1 && m.value.terms[0].second == 1) {
      old[m.value.terms[0].first] = value;
      return true;
    }
    loop_domains loops;
    for (const auto& [term, factor] : m.value.terms)
      loops.emplace_back(
          term, ir::range{ir::integer(type_, 0), shape_[static_cast<std::size_t>(input(term))]});
    analyzer inside = known_;
    inside.bind(loops);
    const auto structure = detect_iter_map({from_linear(m.value)}, loops, ir::boolean(true),
                                           iter_map_level::bijective, inside);
    const auto back = structure ? inverse_affine(*structure, {value}) : std::nullopt;
    if (!back) return false;
    for (const auto& [v, e] : *back) old[v] = e;
    return true;
  }

  ir::expr beyond(const mark& m, const ir::expr& digit, const analyzer& on_axes) const {
    const auto number = [&](std::int64_t v) { return ir::integer(type_, v); };
    ir::expr out = ir::boolean(false);
    if (m.value.terms.size() > 1) {
      if (m.left() > 0) out = ir::lt(digit, number(m.left()));
      if (m.right() > 0) out = ir::logical_or(out, ir::le(number(m.left() + m.count), digit));
      return on_axes.simplify(out);
    }
    const ir::expr group = ir::floordiv(digit, number(m.step));
    const ir::expr place = ir::floormod(digit, number(m.step));
    const auto both = [&](const ir::expr& a, const ir::expr& b) {
      return ir::logical_and(on_axes.simplify(a), on_axes.simplify(b));
    };
    if (m.left() > 0) out = both(ir::eq(group, number(0)), ir::lt(place, number(m.left())));
    const ir::expr edge = m.right() == 1 ? ir::eq(place, number(m.step - 1))
                                         : ir::le(number(m.step - m.right()), place);
    if (m.right() > 0)
      out = ir::logical_or(out, both(ir::eq(group, number(m.padded() / m.step - 1)), edge));
    return out;
  }

  /// Without padding: the shape by intervals, the inverse of a sum with symbolic factors.
  index_layout plain(index_layout out) const {
    loop_domains whole;
    for (std::size_t i = 0; i < map_.inputs.size(); ++i)
      whole.emplace_back(map_.inputs[i], ir::range{ir::integer(type_, 0), shape_[i]});
    out.shape.clear();
    out.inverse.clear();
    out.padding = {};
    std::vector<ir::expr> values, extents;
    for (const ir::expr& e : map_.outputs) values.push_back(simplify(e));
    if (invert_sums(values, out, extents)) {
      out.shape = std::move(extents);
      out.padding = ir::boolean(false);
      return out;
    }
    out.inverse.clear();
    find_shape(out, values, whole);
    return out;
  }

  bool unit(std::size_t i) const { return ir::is_int(shape_[i], 1); }

  /// Every result is a sum of inputs whose factors are the products of the extents after them.
  bool invert_sums(const std::vector<ir::expr>& values, index_layout& out,
                   std::vector<ir::expr>& extents) const {
    out.inverse.assign(map_.inputs.size(), ir::expr{});
    ir::var_map zero;
    for (std::size_t i = 0; i < map_.inputs.size(); ++i)
      if (unit(i)) {
        zero.emplace(map_.inputs[i], ir::integer(type_, 0));
        out.inverse[i] = ir::integer(type_, 0);
      }
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!invert_sum(simplify(ir::substitute(values[k], zero)), out, out.axes[k], extents))
        return false;
    for (const ir::expr& e : out.inverse)
      if (!e) return false;
    return true;
  }

  bool invert_sum(const ir::expr& value, index_layout& out, const ir::var& axis,
                  std::vector<ir::expr>& extents) const {
    std::vector<std::size_t> digits;  // innermost first
    std::vector<ir::expr> factors{ir::integer(type_, 1)};
    ir::expr rest = value;
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = 0; i < map_.inputs.size() && !found; ++i) {
        const ir::var& v = map_.inputs[i];
        if (out.inverse[i] || !ir::uses_var(rest, v)) continue;
        const ir::expr without = simplify(ir::substitute(rest, {{v, ir::integer(type_, 0)}}));
        if (!known_.prove_equal(rest, without + v * factors.back())) continue;
        out.inverse[i] = ir::floordiv(axis, factors.back());
        digits.push_back(i);
        factors.push_back(simplify(factors.back() * shape_[i]));
        rest = without;
        found = true;
      }
    }
    if (!ir::is_int(simplify(rest), 0)) return false;
    for (std::size_t d = 0; d + 1 < digits.size(); ++d)
      out.inverse[digits[d]] = ir::floormod(out.inverse[digits[d]], shape_[digits[d]]);
    extents.push_back(factors.back());
    return true;
  }

  const ir::index_map& map_;
  const std::vector<ir::expr>& shape_;
  const analyzer& known_;
  dtype type_;
  std::vector<ir::expr> outputs_;
  std::vector<mark> marks_;
  loop_domains domains_;
  bool understood_ = true;
};

/// The inverse that the map carries, where it is one on the whole box and its image.
inline bool use_given_inverse(const ir::index_map& map, const std::vector<ir::expr>& shape,
                              const analyzer& known, index_layout& out) {
  const ir::index_map& back = *map.inverse;
  if (back.inputs.size() != map.outputs.size() || back.outputs.size() != map.inputs.size())
    return false;
  analyzer inside = known;
  for (std::size_t i = 0; i < shape.size(); ++i)
    inside.bind(map.inputs[i], {ir::integer(shape[i].type(), 0), shape[i]});
  for (std::size_t i = 0; i < out.axes.size(); ++i)
    inside.bind(out.axes[i], {ir::integer(out.axes[i].type(), 0), out.shape[i]});
  const std::vector<ir::expr> returned = ir::map_indices(back, map.outputs);
  for (std::size_t i = 0; i < returned.size(); ++i)
    if (!inside.prove_equal(returned[i], map.inputs[i])) return false;
  const std::vector<ir::expr> old =
      ir::map_indices(back, std::vector<ir::expr>(out.axes.begin(), out.axes.end()));
  const std::vector<ir::expr> again = ir::map_indices(map, old);
  for (std::size_t i = 0; i < again.size(); ++i)
    if (!inside.prove_equal(again[i], out.axes[i])) return false;
  for (const ir::expr& e : old) out.inverse.push_back(inside.simplify(e));
  out.padding = ir::boolean(false);
  return true;
}

}  // namespace detail::layouts

TILEWRIGHT_INLINE index_layout lay_out(const ir::index_map& map, const std::vector<ir::expr>& shape,
                                       const analyzer& known) {
  index_layout out = detail::layouts::planner(map, shape, known).run();
  if (!out.padding && !out.shape.empty() && map.inverse &&
      !detail::layouts::use_given_inverse(map, shape, known, out))
    out.inverse.clear();
  return out;
}

TILEWRIGHT_INLINE std::vector<ir::range> map_box(const ir::index_map& map,
                                                 const std::vector<ir::range>& ranges,
                                                 const std::vector<ir::expr>& new_shape,
                                                 const analyzer& known) {
  loop_domains offsets;
  std::vector<ir::expr> at;
  analyzer inside = known;
  for (const ir::range& r : ranges) {
    if (ir::is_int(r.extent, 1)) {
      at.push_back(r.min);
      continue;
    }
    const ir::expr zero = ir::integer(r.min.type(), 0);
    offsets.emplace_back(ir::make_var("offset", r.min.type()), ir::range{zero, r.extent});
    inside.bind(offsets.back().first, offsets.back().second);
    at.push_back(r.min + offsets.back().first);
  }
  std::vector<ir::range> out;
  const std::vector<ir::expr> indices = ir::map_indices(map, at);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const ir::expr value = inside.simplify(indices[k]);
    const dtype type = new_shape[k].type();
    const box image = relax({{value, ir::integer(value.type(), 1)}}, offsets, known);
    if (!image[0].min || !image[0].extent)
      out.push_back({ir::integer(type, 0), new_shape[k]});
    else
      out.push_back({known.simplify(ir::cast(type, image[0].min)),
                     known.simplify(ir::cast(type, image[0].extent))});
  }
  return out;
}

}  // namespace tilewright::arith
