// What becomes of a nest that sums over a matrix that is stored otherwise than in compressed rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse::detail {

using namespace tilewright::ir;

/// A matrix in another format than compressed rows.
struct converted_parameter {
  stored_parameter format;
  buffer matrix;         // what the program over coordinates reads
  sparse_buffer stored;  // along the axes of the format
  buffer
      lengths;   // rows side by side [slices, lanes]; as many places for each row [rows]: elements
  buffer order;  // rows side by side: [rows], place of a row: slice * lanes + lane
  buffer diagonals;  // [diagonals], column minus row

  std::int64_t rows() const { return as_int(matrix->shape[0]); }
  std::int64_t columns() const { return as_int(matrix->shape[1]); }
};

/// A tensor that has a value for each place of such a matrix, or of each of its parts.
struct placed_tensor {
  buffer whole;                      // as the program over coordinates knows it
  std::string matrix;                // the parameter
  std::vector<sparse_buffer> parts;  // along the axes of each part
};

/// The tensor that the program over coordinates knows as `b`; null where there is none.
inline const placed_tensor* placed_as(const std::vector<placed_tensor>& all, const buffer& b) {
  for (const placed_tensor& t : all)
    if (t.whole == b) return &t;
  return nullptr;
}

/// An iteration over all places of such a matrix.
struct walk {
  std::vector<sparse_iter> iters;
  std::vector<expr> at;       // the place, as the stored tensor is indexed
  expr place;                 // row of the result
  expr row, column;           // coordinates; no row where it is not known
  expr inside;                // whether an element is there; null: always
  bool reads_outside = true;  // where it is not, the operands are there all the same
  std::int64_t rows = 0;      // that places have; 0: those of the matrix
};

/// What is read where nothing is stored; null: 0.
inline expr absent_literal(dtype type, double value) {
  if (value == 0) return {};
  if (std::isinf(value)) return value < 0 ? lowest_value(type) : highest_value(type);
  return is_float(type) ? real(type, value) : integer(type, static_cast<std::int64_t>(value));
}

/// Whether axis `k` of a rule tells rows apart; of one coordinate that is always there it makes no difference.
inline bool is_spatial(const format_rule& rule, std::size_t k) {
  const index_map& inverse = *rule.map.inverse;
  const format_axis& axis = rule.axes[k];
  return uses_var(inverse.outputs[0], inverse.inputs[k]) ||
         (axis.length == 1 && axis.kind == axis_kind::dense_fixed);
}

/// Makes walks with variables named after those of a nest.
class walk_maker {
 public:
  /// @param column a variable of the nest
  walk_maker(const converted_parameter& a, const std::string& row, const var& column)
      : a_(a),
        axes_(a.stored.axes),
        index_(column.type()),
        outer_(make_var("v" + row + "_o", index_)),
        inner_(make_var("v" + row + "_i", index_)),
        column_(column) {}

  /// @param transposed rows and columns have changed places
  walk make(const std::string& column, bool transposed) const {
    if (a_.format.rule) return by_rule();
    if (transposed) return compressed_rows();
    if (a_.format.by_columns) return columns();
    if (a_.format.diagonals >= 0) return diagonals(make_var("v" + column + "_d", index_));
    const var step = make_var("v" + column + "_o", index_);
    if (a_.format.block > 1) return blocks(step, make_var("v" + column + "_i", index_));
    if (a_.format.width > 0) return rows_of_one_width(step);
    if (a_.format.lanes > 1) return slices(step);
    return a_.format.numbered_rows >= 0 ? numbered_rows() : compressed_rows();
  }

 private:
  expr number(std::int64_t n) const { return integer(index_, n); }

  walk slices(const var& step) const {
    return {{{outer_, axes_[0], iter_kind::spatial},
             {step, axes_[1], iter_kind::reduce},
             {inner_, axes_[2], iter_kind::spatial},
             {column_, axes_[3], iter_kind::reduce}},
            {outer_, step, inner_, column_},
            outer_ * number(a_.format.lanes) + inner_,
            {},
            column_,
            lt(step, cast(index_, load(a_.lengths, {outer_, inner_})))};
  }

  walk compressed_rows() const {
    return {{{outer_, axes_[0], iter_kind::spatial}, {column_, axes_[1], iter_kind::reduce}},
            {outer_, column_},
            outer_,
            outer_,
            column_,
            {}};
  }

  walk columns() const {
    return {{{column_, axes_[0], iter_kind::reduce}, {outer_, axes_[1], iter_kind::spatial}},
            {column_, outer_},
            outer_,
            outer_,
            column_,
            {}};
  }

  /// The distance of a diagonal is within the matrix, which is said by bounds: only where no sum of a row and a distance
  /// wraps around do neighbouring rows read neighbouring columns. What a row is compared with is one number for all rows.
  walk diagonals(const var& diagonal) const {
    const std::int64_t rows = a_.rows(), columns = a_.columns();
    expr distance = cast(index_, load(a_.diagonals, {diagonal}));
    expr inside;
    if (index_ == dtype::i64 || rows + columns <= std::numeric_limits<std::int32_t>::max()) {
      distance = min(max(distance, number(1 - rows)), number(columns - 1));
      inside =
          logical_and(ge(outer_, number(0) - distance), lt(outer_, number(columns) - distance));
    } else {
      const expr column = outer_ + distance;
      inside = logical_and(ge(column, number(0)), lt(column, number(columns)));
    }
    walk out{{{outer_, axes_[1], iter_kind::spatial}, {diagonal, axes_[0], iter_kind::reduce}},
             {diagonal, outer_},
             outer_,
             outer_,
             outer_ + distance,
             inside};
    out.reads_outside = false;
    return out;
  }

  walk numbered_rows() const {
    const var list = make_var(outer_->name + "_list", index_);
    return {{{list, axes_[0], iter_kind::spatial},
             {outer_, axes_[1], iter_kind::spatial},
             {column_, axes_[2], iter_kind::reduce}},
            {list, outer_, column_},
            outer_,
            outer_,
            column_,
            {}};
  }

  walk rows_of_one_width(const var& step) const {
    return {{{outer_, axes_[0], iter_kind::spatial},
             {step, axes_[1], iter_kind::reduce},
             {column_, axes_[2], iter_kind::reduce}},
            {outer_, step, column_},
            outer_,
            outer_,
            column_,
            lt(step, cast(index_, load(a_.lengths, {outer_})))};
  }

  /// Rows and columns that only pad the last blocks read what the last ones read.
  walk blocks(const var& step, const var& inside) const {
    const expr size = number(a_.format.block);
    const expr row = outer_ * size + inner_, column = step * size + inside;
    walk out{{{outer_, axes_[0], iter_kind::spatial},
              {step, axes_[1], iter_kind::reduce},
              {inside, axes_[2], iter_kind::reduce},
              {inner_, axes_[3], iter_kind::spatial}},
             {outer_, step, inside, inner_},
             row,
             row,
             column,
             {}};
    if (a_.rows() % a_.format.block != 0) {
      out.row = min(row, number(a_.rows() - 1));
      out.rows = (a_.rows() + a_.format.block - 1) / a_.format.block * a_.format.block;
    }
    if (a_.columns() % a_.format.block != 0) {
      out.column = min(column, number(a_.columns() - 1));
      out.inside = lt(column, number(a_.columns()));
    }
    return out;
  }

  /// Rows and columns beyond the matrix read what the last ones read.
  walk by_rule() const {
    const index_map inverse = with_index_type(*a_.format.rule->map.inverse, index_);
    arith::analyzer known;
    walk out;
    std::vector<expr> at;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const var own = make_var("v" + a_.format.rule->axes[k].name, index_);
      known.bind(own, 0, a_.format.rule->axes[k].length - 1);
      const bool spatial = is_spatial(*a_.format.rule, k);
      out.iters.push_back({own, axes_[k], spatial ? iter_kind::spatial : iter_kind::reduce});
      at.push_back(own);
    }
    const std::vector<expr> place = map_indices(inverse, at);
    const arith::bounds rows = known.const_bounds(place[0]), columns = known.const_bounds(place[1]);
    out.at = at;
    out.place = out.row = place[0];
    out.column = place[1];
    if (rows.hi >= a_.rows()) {
      out.row = min(place[0], number(a_.rows() - 1));
      out.rows = rows.hi + 1;
    }
    if (columns.hi >= a_.columns()) {
      out.column = min(out.column, number(a_.columns() - 1));
      out.inside = lt(place[1], number(a_.columns()));
    }
    if (columns.lo < 0) {
      out.column = max(out.column, number(0));
      const expr from = ge(place[1], number(0));
      out.inside = out.inside ? logical_and(from, out.inside) : from;
    }
    return out;
  }

  const converted_parameter& a_;
  const std::vector<sparse_axis>& axes_;
  dtype index_;
  var outer_, inner_, column_;
};

/// A value of a block over coordinates, at a place of a part instead of at row and column.
/// @param part number of it among those of the matrix
inline expr at_place(const expr& value, const converted_parameter& a,
                     const std::vector<placed_tensor>& placed, std::size_t part, const walk& to,
                     const expr& row, const expr& column) {
  const expr out = rewrite(value, [&](const expr& e) {
    if (e->op != op::load) return e;
    if (e->buffer == a.matrix) return load(a.stored.coordinates, to.at);
    const placed_tensor* t = placed_as(placed, e->buffer);
    return t && t->matrix == a.format.parameter ? load(t->parts.at(part).coordinates, to.at) : e;
  });
  var_map moved{{var(column), to.column}};
  if (to.row) moved[var(row)] = to.row;
  return substitute(out, moved);
}

/// The iteration that takes the place of the nest, and what puts its result where it belongs.
class converted_nest {
 public:
  sparse_iteration iteration;  // its axes are those of the matrix; others are to be added
  buffer placed;               // its result, where rows have places of their own; else null
  stmt rows;                   // takes each row from there; else null

  /// @param at the indices of its first read
  /// @param adds to a result that is there, instead of to zero
  /// @param transposed the first of these is the column: rows of the transposed matrix are walked
  /// @param like what is stored like it
  /// @param part its number among those of the matrix
  converted_nest(const block_node& b, const converted_parameter& a, const std::vector<expr>& at,
                 bool adds, bool transposed, const std::vector<placed_tensor>& like,
                 std::size_t part)
      : a_(a),
        b_(b),
        row_(at[0]),
        column_(at[1]),
        index_(row_.type()),
        adds_(adds),
        like_(like),
        part_(part) {
    const store_node* update = as_store(b.body);
    const store_node* init = b.init ? as_store(b.init) : nullptr;
    if (a.format.absent != 0 && reads_padding() && update && update->value->op == op::add)
      refuse("adds up, while what is not stored is not 0");
    if (update && update->value->args.size() == 2 && counts_padding(update->value->args[1]))
      throw argument_error("with_storage: block \"" + b.name + "\" reduces what is stored like \"" +
                           a.matrix->name +
                           "\", whose blocks have places that hold no element, which would count; "
                           "take blocks that are full (least_fill = 1 of a matrix in parts)");
    if (!update || !init || !combines(update->value->op) ||
        update->value->args[0]->op != op::load ||
        !(update->value->args[0]->buffer == update->buffer))
      refuse("does anything but add up");
    combine_ = update->value;
    out_ = update->buffer;
    at_ = update->indices;
    while (dimension_ < at_.size() && !at_[dimension_].same(row_)) ++dimension_;
    if (dimension_ == at_.size()) refuse("does not store by rows");
    walk_ = walk_maker(a, name_of(row_), var(column_)).make(name_of(column_), transposed);
    iteration.name = b.name;
    iteration.annotations = b.annotations;
    iteration.iters = walk_.iters;
    choose_result();
    const buffer& to = placed ? placed : out_;
    if (placed || !adds)
      iteration.init = make_store(to, places(), adds ? nothing() : moved(init->value));
    const expr term = moved(update->value->args[1]);
    iteration.body = make_store(to, places(), combined(load(to, places()), stored_term(term)));
    if (placed) rows = nest_of_rows();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw argument_error("with_storage: block \"" + b_.name + "\" reads \"" + a_.matrix->name +
                         "\", which is not stored in compressed rows, and " + what +
                         "; declare it compressed");
  }

  /// Places that hold no element are read as if they were stored, such as those of blocks.
  bool reads_padding() const {
    return a_.format.block > 1 || a_.format.diagonals >= 0 || a_.format.rule;
  }
  bool reads_placed(const expr& value) const {
    bool out = false;
    for_each_expr(value, [&](const expr& e) {
      const placed_tensor* t = e->op == op::load ? placed_as(like_, e->buffer) : nullptr;
      out = out || (t && t->matrix == a_.format.parameter);
    });
    return out;
  }
  /// Whether a zero of the matrix makes the value zero.
  bool vanishes(const expr& value) const {
    switch (value->op) {
      case op::load: return value->buffer == a_.matrix && a_.format.absent == 0;
      case op::mul: return vanishes(value->args[0]) || vanishes(value->args[1]);
      case op::add:
      case op::sub: return vanishes(value->args[0]) && vanishes(value->args[1]);
      case op::div:
      case op::cast: return vanishes(value->args[0]);
      default: return false;
    }
  }
  /// What is stored like blocks has any value at places that hold no element.
  bool counts_padding(const expr& term) const {
    return a_.format.block > 1 && a_.format.padded && reads_placed(term) && !vanishes(term);
  }
  /// Sums, maxima and minima of what is stored; where padding is read it must change no result.
  bool combines(op o) const {
    if (o == op::add) return true;
    if (o != op::max && o != op::min) return false;
    return !reads_padding() || padding_is_neutral() ||
           (!a_.format.padded && a_.format.block > 1 &&
            reads_placed(as_store(b_.body)->value->args[1]));
  }
  /// Places that hold no element hold what changes no result.
  bool padding_is_neutral() const {
    const expr& fold = as_store(b_.body)->value;
    const expr absent = absent_literal(a_.matrix->type, a_.format.absent);
    return absent && equal(absent, nothing_of(fold)) && stays_absent(fold->args[1]);
  }
  /// The value is the default one, an infinity, where the matrix has it: a sum with an infinity is one, while
  /// integers wrap around.
  bool stays_absent(const expr& value) const {
    if (value->op == op::load) return value->buffer == a_.matrix;
    if (value->args.size() != 2) return false;
    const bool first = stays_absent(value->args[0]), second = stays_absent(value->args[1]);
    const bool highest = a_.format.absent > 0;
    switch (value->op) {
      case op::add: return is_float(value.type()) && (first || second);
      case op::sub: return is_float(value.type()) && first;
      case op::max: return highest ? first || second : first && second;
      case op::min: return highest ? first && second : first || second;
      default: return false;
    }
  }
  expr combined(const expr& result, const expr& term) const {
    return with_args(combine_, {result, term});
  }
  /// What changes no result.
  expr nothing() const { return nothing_of(combine_); }
  static expr nothing_of(const expr& combine) {
    const dtype type = combine.type();
    return combine->op == op::max   ? lowest_value(type)
           : combine->op == op::min ? highest_value(type)
                                    : literal(type, 0);
  }

  /// A term where an element is stored, and nothing elsewhere.
  expr stored_term(const expr& term) const {
    if (!walk_.inside) return term;
    return walk_.reads_outside ? select(walk_.inside, term, nothing())
                               : if_then_else(walk_.inside, term, nothing());
  }

  static std::string name_of(const expr& v) {
    const std::string& name = v->name;
    return name.size() > 1 && name[0] == 'v' ? name.substr(1) : name;
  }

  /// Rows that are sorted, and rows that pad the last block, have no place in the user's result.
  void choose_result() {
    std::vector<expr> shape = out_->shape;
    if (a_.order)
      shape[dimension_] = integer(index_, a_.format.slices * a_.format.lanes);
    else if (walk_.rows > 0)
      shape[dimension_] = integer(index_, walk_.rows);
    else
      return;
    placed = make_buffer((adds_ ? b_.name : out_->name) + (a_.order ? "_sliced" : "_blocked"),
                         out_->type, shape);
  }

  /// Where the result of a place lies.
  std::vector<expr> places() const {
    std::vector<expr> out = at_;
    out[dimension_] = walk_.place;
    return out;
  }

  /// A value of the block, at the stored place instead of row and column.
  expr moved(const expr& value) const {
    const expr out = at_place(value, a_, like_, part_, walk_, row_, column_);
    if (!walk_.row && uses_var(out, var(row_))) refuse("needs the number of the row beside");
    return out;
  }

  stmt nest_of_rows() const {
    block_node b;
    b.name = b_.name + "_rows";
    std::vector<expr> from = at_, values;
    std::vector<var> loops;
    for (const iter_var& v : b_.iters) {
      if (v.kind != iter_kind::spatial) continue;
      const var own = make_var(v.var->name, index_);
      for (expr& e : from) e = substitute(e, {{v.var, own}});
      b.iters.push_back({own, v.dom, iter_kind::spatial});
      loops.push_back(make_var(name_of(own), index_));
      values.push_back(loops.back());
    }
    const std::vector<expr> to = from;
    if (a_.order) from[dimension_] = cast(index_, load(a_.order, {from[dimension_]}));
    const expr row = load(placed, from);
    b.body = make_store(out_, to, adds_ ? combined(load(out_, to), row) : row);
    ir::detail::infer_regions(b, true, true);
    std::vector<expr> extents;
    for (const iter_var& v : b.iters) extents.push_back(v.dom.extent);
    stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
    for (std::size_t k = loops.size(); k-- > 0;)
      out = make_loop(loops[k], integer(index_, 0), extents[k], out);
    return out;
  }

  const converted_parameter& a_;
  const block_node& b_;
  expr row_, column_;
  dtype index_;
  bool adds_;
  const std::vector<placed_tensor>& like_;
  std::size_t part_;
  expr combine_;  // a result and a term
  buffer out_;
  std::vector<expr> at_;
  std::size_t dimension_ = 0;  // of the result, that of the rows
  walk walk_;
};

}  // namespace tilewright::sparse::detail
