#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/format_rule.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

/// The requirements of a rule, one after the other.
class rule_check {
 public:
  rule_check(const format_rule& rule, std::int64_t rows, std::int64_t columns)
      : rule_(rule), matrix_{rows, columns} {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    for (const format_axis& a : rule.axes)
      if (a.length > most) index_ = dtype::i64;
    if (rows > most || columns > most) index_ = dtype::i64;
  }

  void run() const {
    check_axes();
    check_counts();
    const index_map forward = with_index_type(rule_.map, index_);
    const index_map& inverse = *forward.inverse;
    check_elements(forward, inverse);
    check_places(forward, inverse);
    check_rows(inverse);
  }

 private:
  [[noreturn]] void refuse(int requirement, const std::string& what) const {
    throw argument_error("format rule \"" + rule_.name + "\": " + what + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  static bool is_sparse(const format_axis& a) { return a.kind != axis_kind::dense_fixed; }

  void check_axes() const {
    const std::vector<format_axis>& axes = rule_.axes;
    if (axes.empty()) refuse(1, "it has no axes");
    std::size_t chain = 1;  // axes up to the last sparse one
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (is_sparse(axes[k])) chain = k + 1;
    std::set<std::string> names;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const format_axis& a = axes[k];
      const std::string name = "axis \"" + a.name + "\" ";
      if (a.name.empty() || a.name == a.parent) refuse(1, name + "needs a name of its own");
      if (!a.parent.empty() && names.count(a.parent) == 0)
        refuse(1, name + "stands before its parent \"" + a.parent + "\"");
      if (!names.insert(a.name).second) refuse(1, name + "stands twice");
      if (a.length < 1) refuse(1, name + "has no coordinates");
      if (a.kind == axis_kind::dense_variable)
        refuse(1, name + "counts its elements, which have coordinates; declare it sparse_variable");
      if (k == 0 && (is_sparse(a) || !a.parent.empty()))
        refuse(1, name + "is the first one, and is not dense and alone");
      if (k > 0 && k < chain && a.parent != axes[k - 1].name)
        refuse(1, name + "is not below \"" + axes[k - 1].name + "\", which stands before it");
      if (a.kind == axis_kind::sparse_fixed && (a.width < 1 || a.width > a.length))
        refuse(1, name + "has " + std::to_string(a.width) + " places for " +
                      std::to_string(a.length) + " coordinates");
    }
  }

  void check_counts() const {
    const std::size_t axes = rule_.axes.size();
    if (rule_.map.inputs.size() != 2 || rule_.map.outputs.size() != axes)
      refuse(2, "the map takes " + std::to_string(rule_.map.inputs.size()) + " indices to " +
                    std::to_string(rule_.map.outputs.size()) +
                    "; it has to take row and column to " + std::to_string(axes) + " coordinates");
    if (!rule_.map.inverse)
      refuse(2, "the map carries no inverse; write inverse_index_map behind it");
    const index_map& inverse = *rule_.map.inverse;
    if (inverse.inputs.size() != axes || inverse.outputs.size() != 2)
      refuse(2, "the inverse takes " + std::to_string(inverse.inputs.size()) + " indices to " +
                    std::to_string(inverse.outputs.size()) + "; it has to take " +
                    std::to_string(axes) + " coordinates to row and column");
  }

  static std::vector<expr> all(const std::vector<var>& v) { return {v.begin(), v.end()}; }

  /// Each element comes back, and is within the axes.
  void check_elements(const index_map& forward, const index_map& inverse) const {
    arith::analyzer known;
    for (std::size_t d = 0; d < 2; ++d) known.bind(forward.inputs[d], 0, matrix_[d] - 1);
    const std::vector<expr> back = map_indices(inverse, forward.outputs);
    for (std::size_t d = 0; d < 2; ++d)
      if (!known.prove_equal(back[d], forward.inputs[d]))
        refuse(3, "the inverse takes an element's coordinates to the " +
                      std::string(d == 0 ? "row " : "column ") + print(known.simplify(back[d])) +
                      ", which is not proved to be " + forward.inputs[d]->name);
    for (std::size_t k = 0; k < rule_.axes.size(); ++k) {
      const expr& at = forward.outputs[k];
      const expr length = integer(index_, rule_.axes[k].length);
      if (!known.prove_le(integer(index_, 0), at) || !known.prove_lt(at, length))
        refuse(5, "the coordinate " + print(known.simplify(at)) + " along axis \"" +
                      rule_.axes[k].name + "\" is not proved to be in [0, " + print(length) + ")");
    }
  }

  arith::analyzer over_axes(const index_map& inverse) const {
    arith::analyzer known;
    for (std::size_t k = 0; k < rule_.axes.size(); ++k)
      known.bind(inverse.inputs[k], 0, rule_.axes[k].length - 1);
    return known;
  }

  /// Each place comes back.
  void check_places(const index_map& forward, const index_map& inverse) const {
    const arith::analyzer known = over_axes(inverse);
    const std::vector<expr> again = map_indices(forward, inverse.outputs);
    for (std::size_t k = 0; k < rule_.axes.size(); ++k)
      if (!known.prove_equal(again[k], inverse.inputs[k]))
        refuse(4, "the map takes the row and column of a place to the coordinate " +
                      print(known.simplify(again[k])) + " along axis \"" + rule_.axes[k].name +
                      "\", which is not proved to be " + inverse.inputs[k]->name);
  }

  void check_rows(const index_map& inverse) const {
    const expr& row = inverse.outputs[0];
    for (const expr& at : inverse.outputs)
      if (!over_axes(inverse).const_bounds(at).bounded())
        refuse(6, "no bounds of " + print(at) + " are known");
    if (!over_axes(inverse).prove_le(integer(index_, 0), row))
      refuse(6, "the row " + print(row) + " of a place is not proved to be 0 or more");
    arith::loop_domains loops;
    for (std::size_t k = 0; k < rule_.axes.size(); ++k)
      if (uses_var(row, inverse.inputs[k]) && rule_.axes[k].length > 1)
        loops.emplace_back(inverse.inputs[k],
                           range{integer(index_, 0), integer(index_, rule_.axes[k].length)});
    const auto found =
        arith::detect_iter_map({row}, loops, boolean(true), arith::iter_map_level::bijective, {});
    if (!loops.empty() && !found)
      refuse(6, "the row " + print(row) + " is not proved to be another one for all coordinates");
  }

  const format_rule& rule_;
  std::int64_t matrix_[2];
  dtype index_ = dtype::i32;  // of what is proved
};

/// The value of an index expression whose variables have values.
inline std::int64_t index_value(const expr& e, const std::vector<var>& names,
                                const std::vector<std::int64_t>& values) {
  if (is_int(e)) return as_int(e);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (e.same(names[k])) return values[k];
  if (e->op == op::cast) return index_value(e->args[0], names, values);
  if (e->args.size() != 2)
    throw argument_error("format rule: \"" + print(e) + "\" is no expression of indices");
  const std::int64_t a = index_value(e->args[0], names, values),
                     b = index_value(e->args[1], names, values);
  const bool divides = e->op == op::floordiv || e->op == op::floormod;
  if (divides && b == 0) throw argument_error("format rule: \"" + print(e) + "\" divides by zero");
  const auto quotient = [&] { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  switch (e->op) {
    case op::add: return a + b;
    case op::sub: return a - b;
    case op::mul: return a * b;
    case op::min: return std::min(a, b);
    case op::max: return std::max(a, b);
    case op::floordiv: return quotient();
    case op::floormod: return a - quotient() * b;
    default: throw argument_error("format rule: \"" + print(e) + "\" is no expression of indices");
  }
}

/// Stores elements level by level.
class rule_packer {
 public:
  rule_packer(const format_rule& rule, std::int64_t rows, std::int64_t columns,
              std::int64_t most_places)
      : rule_(rule), matrix_{rows, columns}, most_(most_places) {}

  formatted_pattern run(const std::vector<std::int64_t>& row,
                        const std::vector<std::int64_t>& column) {
    take_coordinates(row, column);
    address_.assign(coordinates_.size(), 0);
    for (std::size_t k = 0; k < rule_.axes.size(); ++k) {
      out_.levels.emplace_back();
      store_axis(k);
      if (positions_ > most_)
        refuse(3, std::to_string(coordinates_.size()) + " elements take " +
                      std::to_string(positions_) + " places up to axis \"" + rule_.axes[k].name +
                      "\", more than " + std::to_string(most_));
    }
    out_.source.assign(static_cast<std::size_t>(positions_), -1);
    for (std::size_t at = 0; at < address_.size(); ++at) {
      std::int64_t& place = out_.source[static_cast<std::size_t>(address_[at])];
      if (place >= 0)
        refuse(1, "elements " + std::to_string(std::min(place, element_[at])) + " and " +
                      std::to_string(std::max(place, element_[at])) + " have one row and column");
      place = element_[at];
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(int requirement, const std::string& what) const {
    throw argument_error("store_by_rule \"" + rule_.name + "\": " + what + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  /// Elements in the order of their coordinates.
  void take_coordinates(const std::vector<std::int64_t>& row,
                        const std::vector<std::int64_t>& column) {
    if (row.size() != column.size())
      refuse(1, "there are " + std::to_string(row.size()) + " rows and " +
                    std::to_string(column.size()) + " columns of elements");
    std::vector<std::vector<std::int64_t>> all(row.size());
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (row[at] < 0 || row[at] >= matrix_[0] || column[at] < 0 || column[at] >= matrix_[1])
        refuse(1, "element " + std::to_string(at) + " is at row " + std::to_string(row[at]) +
                      " and column " + std::to_string(column[at]) + " of a matrix of " +
                      std::to_string(matrix_[0]) + " x " + std::to_string(matrix_[1]));
      for (const expr& e : rule_.map.outputs)
        all[at].push_back(index_value(e, rule_.map.inputs, {row[at], column[at]}));
    }
    element_.resize(row.size());
    std::iota(element_.begin(), element_.end(), std::int64_t{0});
    std::sort(element_.begin(), element_.end(), [&](std::int64_t a, std::int64_t b) {
      return all[static_cast<std::size_t>(a)] < all[static_cast<std::size_t>(b)];
    });
    for (const std::int64_t at : element_)
      coordinates_.push_back(std::move(all[static_cast<std::size_t>(at)]));
  }

  void store_axis(std::size_t k) {
    const format_axis& axis = rule_.axes[k];
    if (axis.kind == axis_kind::dense_fixed) {
      for (std::size_t at = 0; at < address_.size(); ++at)
        address_[at] = address_[at] * axis.length + coordinates_[at][k];
      positions_ = times(positions_, axis.length);
      return;
    }
    // what is below one position follows each other, in rising order
    std::vector<std::int64_t>& indices = out_.levels[k].indices;
    if (axis.kind == axis_kind::sparse_fixed)
      store_fixed(k, indices);
    else
      store_variable(k, indices, out_.levels[k].offsets);
  }

  std::int64_t times(std::int64_t a, std::int64_t b) const {
    return a > most_ / std::max<std::int64_t>(b, 1) + 1 ? most_ + 1 : a * b;
  }

  /// Calls `f` with the first and the end of the elements below each position that has some.
  template <class F>
  void each_position(const F& f) const {
    for (std::size_t begin = 0; begin < address_.size();) {
      std::size_t end = begin;
      while (end < address_.size() && address_[end] == address_[begin]) ++end;
      f(begin, end);
      begin = end;
    }
  }

  std::vector<std::int64_t> distinct(std::size_t k, std::size_t begin, std::size_t end) const {
    std::vector<std::int64_t> out;
    for (std::size_t at = begin; at < end; ++at)
      if (out.empty() || out.back() != coordinates_[at][k]) out.push_back(coordinates_[at][k]);
    return out;
  }

  /// Rising coordinates behind the first stored one fill up, and then those before it.
  static void fill_up(std::vector<std::int64_t>& stored, const format_axis& axis) {
    const std::set<std::int64_t> there(stored.begin(), stored.end());
    const std::int64_t first = stored.empty() ? 0 : stored.front();
    for (std::int64_t n = 0; static_cast<std::int64_t>(stored.size()) < axis.width; ++n) {
      const std::int64_t next = (first + n) % axis.length;
      if (there.count(next) == 0) stored.push_back(next);
    }
    std::sort(stored.begin(), stored.end());
  }

  void store_fixed(std::size_t k, std::vector<std::int64_t>& indices) {
    const format_axis& axis = rule_.axes[k];
    const std::int64_t places = times(positions_, axis.width);
    if (places > most_) {
      positions_ = places;
      return;
    }
    std::vector<std::int64_t> empty;
    fill_up(empty, axis);
    for (std::int64_t p = 0; p < positions_; ++p)
      indices.insert(indices.end(), empty.begin(), empty.end());
    std::vector<std::int64_t> to = address_;
    each_position([&](std::size_t begin, std::size_t end) {
      std::vector<std::int64_t> stored = distinct(k, begin, end);
      if (static_cast<std::int64_t>(stored.size()) > axis.width)
        refuse(2, "position " + std::to_string(address_[begin]) + " has " +
                      std::to_string(stored.size()) + " coordinates along axis \"" + axis.name +
                      "\", which has " + std::to_string(axis.width) + " places");
      fill_up(stored, axis);
      const std::int64_t first = address_[begin] * axis.width;
      std::copy(stored.begin(), stored.end(), indices.begin() + first);
      for (std::size_t at = begin; at < end; ++at)
        to[at] = first + (std::lower_bound(stored.begin(), stored.end(), coordinates_[at][k]) -
                          stored.begin());
    });
    address_ = std::move(to);
    positions_ = places;
  }

  void store_variable(std::size_t k, std::vector<std::int64_t>& indices,
                      std::vector<std::int64_t>& offsets) {
    offsets.assign(static_cast<std::size_t>(positions_) + 1, 0);
    std::vector<std::int64_t> to = address_;
    each_position([&](std::size_t begin, std::size_t end) {
      const auto first = static_cast<std::int64_t>(indices.size());
      const std::vector<std::int64_t> stored = distinct(k, begin, end);
      indices.insert(indices.end(), stored.begin(), stored.end());
      offsets[static_cast<std::size_t>(address_[begin]) + 1] =
          static_cast<std::int64_t>(stored.size());
      for (std::size_t at = begin; at < end; ++at)
        to[at] = first + (std::lower_bound(stored.begin(), stored.end(), coordinates_[at][k]) -
                          stored.begin());
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    address_ = std::move(to);
    // code is made for arrays that are there: nothing reads the place
    if (indices.empty()) indices.assign(1, 0);
    positions_ = static_cast<std::int64_t>(indices.size());
  }

  const format_rule& rule_;
  std::int64_t matrix_[2];
  std::int64_t most_;
  std::int64_t positions_ = 1;  // of the axes so far
  std::vector<std::vector<std::int64_t>> coordinates_;
  std::vector<std::int64_t> element_, address_;
  formatted_pattern out_;
};

inline format_axis parse_axis(token_stream& in) {
  format_axis out;
  out.name = std::string(in.expect_name("the name of an axis").text);
  in.expect("=");
  in.expect("T");
  in.expect(".");
  const token kind = in.expect_name("dense_fixed, sparse_fixed or sparse_variable");
  if (kind.text == "sparse_fixed")
    out.kind = axis_kind::sparse_fixed;
  else if (kind.text == "sparse_variable")
    out.kind = axis_kind::sparse_variable;
  else if (kind.text != "dense_fixed")
    in.fail(kind, "dense_fixed, sparse_fixed or sparse_variable");
  in.expect("(");
  if (out.kind == axis_kind::dense_fixed) {
    out.length = in.expect_integer("the length of the axis");
    if (in.accept(",")) out.parent = std::string(in.expect_name("the axis above").text);
  } else {
    out.parent = std::string(in.expect_name("the axis above").text);
    in.expect(",");
    const bool fixed = out.kind == axis_kind::sparse_fixed;
    if (fixed) in.expect("(");
    out.length = in.expect_integer("the length of the axis");
    if (fixed) {
      in.expect(",");
      out.width = in.expect_integer("the number of places");
      in.expect(")");
    }
  }
  in.expect(")");
  in.expect_newline();
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE void check_format_rule(const format_rule& rule, std::int64_t rows,
                                         std::int64_t columns) {
  detail::rule_check(rule, rows, columns).run();
}

TILEWRIGHT_INLINE formatted_pattern store_by_rule(const format_rule& rule, std::int64_t rows,
                                                  std::int64_t columns,
                                                  const std::vector<std::int64_t>& row,
                                                  const std::vector<std::int64_t>& column,
                                                  std::int64_t most_places) {
  check_format_rule(rule, rows, columns);
  return detail::rule_packer(rule, rows, columns, most_places).run(row, column);
}

TILEWRIGHT_INLINE std::string print(const format_rule& rule) {
  std::string out = "@T.format\ndef " + rule.name + "():\n";
  for (const format_axis& a : rule.axes) {
    const std::string length = std::to_string(a.length);
    out += "    " + a.name + " = T.";
    if (a.kind == ir::axis_kind::dense_fixed)
      out += "dense_fixed(" + length + (a.parent.empty() ? "" : ", " + a.parent) + ")\n";
    else if (a.kind == ir::axis_kind::sparse_fixed)
      out += "sparse_fixed(" + a.parent + ", (" + length + ", " + std::to_string(a.width) + "))\n";
    else
      out += "sparse_variable(" + a.parent + ", " + length + ")\n";
  }
  return out + "    return " + ir::print(rule.map) + "\n";
}

TILEWRIGHT_INLINE format_rule parse_format_rule(std::string_view text) {
  ir::token_stream in(text);
  format_rule out;
  for (const char* word : {"@", "T", ".", "format"}) in.expect(word);
  in.expect_newline();
  in.expect("def");
  out.name = std::string(in.expect_name("the name of the format").text);
  for (const char* word : {"(", ")", ":"}) in.expect(word);
  in.expect_newline();
  if (!in.accept(ir::token_kind::indent)) in.fail("an axis, below the name of the format");
  while (!in.at("return")) out.axes.push_back(detail::parse_axis(in));
  in.expect("return");
  out.map = ir::parse_index_map(in);
  in.expect_newline();
  if (!in.accept(ir::token_kind::dedent) || !in.at_end()) in.fail("the end of the format");
  return out;
}

}  // namespace tilewright::sparse
