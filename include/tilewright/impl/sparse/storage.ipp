#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

/// A parameter whose rows stand side by side.
struct sell_parameter {
  buffer matrix;         // what the program over coordinates reads
  sparse_buffer stored;  // slices, steps, lanes, columns
  buffer lengths;        // [slices, lanes], elements of a row
  buffer order;          // [rows], place of a row: slice * lanes + lane
  std::int64_t lanes = 1, slices = 0;
};

/// What becomes of a nest that sums over such a parameter.
class sliced_nest {
 public:
  sparse_iteration iteration;  // its axes are those of the parameter; others are to be added
  buffer sliced;               // its result, a row at its place
  stmt rows;                   // takes each row from there

  /// @param at the indices of its first read
  sliced_nest(const block_node& b, const sell_parameter& a, const std::vector<expr>& at)
      : a_(a), b_(b), row_(at[0]), column_(at[1]), index_(row_.type()) {
    const store_node* update = as_store(b.body);
    const store_node* init = b.init ? as_store(b.init) : nullptr;
    if (!update || !init || update->value->op != op::add ||
        update->value->args[0]->op != op::load ||
        !(update->value->args[0]->buffer == update->buffer))
      refuse("does anything but add up");
    out_ = update->buffer;
    at_ = update->indices;
    while (dimension_ < at_.size() && !at_[dimension_].same(row_)) ++dimension_;
    if (dimension_ == at_.size()) refuse("does not store by rows");
    std::vector<expr> shape = out_->shape;
    shape[dimension_] = integer(index_, a.slices * a.lanes);
    sliced = make_buffer(out_->name + "_sliced", out_->type, shape);
    slice_ = make_var("v" + name_of(row_) + "_o", index_);
    step_ = make_var("v" + name_of(column_) + "_o", index_);
    lane_ = make_var("v" + name_of(row_) + "_i", index_);
    iteration.name = b.name;
    iteration.annotations = b.annotations;
    const std::vector<sparse_axis>& axes = a.stored.axes;
    iteration.iters = {{slice_, axes[0], iter_kind::spatial},
                       {step_, axes[1], iter_kind::reduce},
                       {lane_, axes[2], iter_kind::spatial},
                       {var(column_), axes[3], iter_kind::reduce}};
    iteration.init = make_store(sliced, places(), moved(init->value));
    const expr inside = lt(step_, cast(index_, load(a.lengths, {slice_, lane_})));
    const expr term = moved(update->value->args[1]);
    iteration.body = make_store(
        sliced, places(), load(sliced, places()) + select(inside, term, literal(term.type(), 0)));
    rows = nest_of_rows();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw argument_error("with_storage: block \"" + b_.name + "\" reads \"" + a_.matrix->name +
                         "\", whose rows stand side by side, and " + what +
                         "; declare it compressed");
  }

  static std::string name_of(const expr& v) {
    const std::string& name = v->name;
    return name.size() > 1 && name[0] == 'v' ? name.substr(1) : name;
  }

  /// Where the result of a lane lies.
  std::vector<expr> places() const {
    std::vector<expr> out = at_;
    out[dimension_] = slice_ * integer(index_, a_.lanes) + lane_;
    return out;
  }

  /// A value of the block, at the stored place instead of row and column.
  expr moved(const expr& value) const {
    const expr out = rewrite(value, [&](const expr& e) {
      const bool own = e->op == op::load && e->buffer == a_.matrix;
      return own ? load(a_.stored.coordinates, {slice_, step_, lane_, column_}) : e;
    });
    if (uses_var(out, var(row_))) refuse("needs the number of the row beside");
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
    from[dimension_] = cast(index_, load(a_.order, {from[dimension_]}));
    b.body = make_store(out_, to, load(sliced, from));
    ir::detail::infer_regions(b, true, true);
    std::vector<expr> extents;
    for (const iter_var& v : b.iters) extents.push_back(v.dom.extent);
    stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
    for (std::size_t k = loops.size(); k-- > 0;)
      out = make_loop(loops[k], integer(index_, 0), extents[k], out);
    return out;
  }

  const sell_parameter& a_;
  const block_node& b_;
  expr row_, column_;
  dtype index_;
  buffer out_;
  std::vector<expr> at_;
  std::size_t dimension_ = 0;  // of the result, that of the rows
  var slice_, step_, lane_;
};

class storage_giver {
 public:
  storage_giver(const function& f, const std::vector<stored_parameter>& formats)
      : from_(f), formats_(formats) {}

  sparse_function run() {
    out_.name = from_.name;
    out_.attrs = from_.attrs;
    for (const param& p : from_.params) make_pattern(p);
    for (const param& p : from_.params) add_param(p);
    const block& root = root_block(from_);
    for (const buffer& b : root->alloc_buffers) {
      const stored_parameter* format = format_of(b);
      out_.alloc_buffers.push_back(format ? store_like(b, pattern_named(format->pattern)) : b);
    }
    const seq_node* parts = as_seq(root->body);
    const std::vector<stmt> nests = parts ? parts->stmts : std::vector<stmt>{root->body};
    for (std::size_t k = nests.size(); k-- > 0;) follow_pattern(nests, k);
    for (const stmt& s : nests) add_part(s);
    return std::move(out_);
  }

 private:
  /// Offsets and indices of a compressed parameter, and the axes of rows and columns over them.
  struct pattern {
    std::string name;
    buffer indptr, indices;
    sparse_axis row, column;
  };

  const stored_parameter* format_of(const buffer& b) const {
    const auto found =
        std::find_if(formats_.begin(), formats_.end(),
                     [&](const stored_parameter& c) { return b && b->name == c.parameter; });
    return found == formats_.end() ? nullptr : &*found;
  }

  const pattern& pattern_named(const std::string& name) const {
    for (const pattern& p : patterns_)
      if (p.name == name) return p;
    throw argument_error("with_storage: \"" + name + "\" is no compressed parameter");
  }

  void add_param(const param& p) {
    const stored_parameter* format = format_of(p.buffer);
    if (!format) {
      out_.params.push_back(p);
    } else if (!format->pattern.empty()) {
      out_.params.push_back({store_like(p.buffer, pattern_named(format->pattern)), {}});
    } else if (format->lanes == 1) {
      const pattern& own = pattern_named(p.buffer->name);
      for (const buffer& one : {own.indptr, own.indices}) out_.params.push_back({one, {}});
      out_.params.push_back({store_like(p.buffer, own), {}});
    } else {
      add_sell(p.buffer, *format);
    }
  }

  /// The values of a tensor on a pattern.
  buffer store_like(const buffer& a, const pattern& p) {
    const buffer storage = make_buffer(a->name, a->type, {p.column->nnz});
    out_.buffers.push_back({a, {p.row, p.column}, storage});
    return storage;
  }

  void make_pattern(const param& p) {
    const stored_parameter* own = format_of(p.buffer);
    if (!own || own->lanes > 1 || !own->pattern.empty()) return;
    const buffer& a = p.buffer;
    const stored_parameter& format = *own;
    const std::string& name = a->name;
    const expr rows = a->shape.at(0), columns = a->shape.at(1);
    const expr nonzeros = integer(rows.type(), format.places);
    const buffer indptr =
        make_buffer(indptr_name(name), format.index, {rows + integer(rows.type(), 1)});
    const buffer indices = make_buffer(indices_name(name), format.index, {nonzeros});
    const sparse_axis row = dense_fixed(name + "_rows", rows);
    const sparse_axis column =
        sparse_variable(name + "_columns", row, columns, nonzeros, indptr, indices);
    out_.axes.insert(out_.axes.end(), {row, column});
    patterns_.push_back({name, indptr, indices, row, column});
  }

  /// The store of a nest's block; null when there is no single one.
  static const store_node* store_of(const stmt& nest) {
    stmt inner = nest;
    while (const loop_node* loop = as_loop(inner)) inner = loop->body;
    const block_realize_node* realize = as_realize(inner);
    return realize ? as_store(realize->block->body) : nullptr;
  }

  static bool same_indices(const std::vector<expr>& a, const std::vector<expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const expr& x, const expr& y) { return x.same(y); });
  }

  /// Stores a temporary that the nest at `k` writes where its readers need it: each is the nest of a
  /// result on one pattern, and reads it at the element of the result. Later nests are done.
  void follow_pattern(const std::vector<stmt>& nests, std::size_t k) {
    const store_node* store = store_of(nests[k]);
    const auto temporary =
        store ? std::find(out_.alloc_buffers.begin(), out_.alloc_buffers.end(), store->buffer)
              : out_.alloc_buffers.end();
    if (temporary == out_.alloc_buffers.end()) return;
    const auto plain = [](const expr& e) { return e->op == op::var; };
    if (!std::all_of(store->indices.begin(), store->indices.end(), plain)) return;
    sparse_axis column;
    bool followed = true;
    for (std::size_t m = 0; m < nests.size(); ++m) {
      const store_node* reader = store_of(nests[m]);
      const sparse_buffer* result = reader ? out_.find(reader->buffer) : nullptr;
      for_each_expr(nests[m], [&](const expr& e) {
        if (m == k || e->op != op::load || !(e->buffer == store->buffer)) return;
        followed = followed && m > k && result && same_indices(e->args, reader->indices) &&
                   (!column || result->axes.back() == column);
        if (followed) column = result->axes.back();
      });
      const bool written_again = m != k && reader && reader->buffer == store->buffer;
      followed = followed && !written_again;
    }
    if (!followed || !column) return;
    for (const pattern& p : patterns_)
      if (p.column == column) *temporary = store_like(store->buffer, p);
  }

  void add_sell(const buffer& a, const stored_parameter& format) {
    const std::string& name = a->name;
    const expr rows = a->shape.at(0), columns = a->shape.at(1);
    const auto number = [&](std::int64_t n) { return integer(rows.type(), n); };
    const expr places = number(format.places), slices = number(format.slices),
               lanes = number(format.lanes), steps = number(format.places / format.lanes);
    sell_parameter own;
    own.matrix = a;
    own.lanes = format.lanes;
    own.slices = format.slices;
    own.lengths = make_buffer(lengths_name(name), format.index, {slices, lanes});
    own.order = make_buffer(order_name(name), format.index, {rows});
    const buffer indptr = make_buffer(indptr_name(name), format.index, {slices + number(1)});
    const buffer indices = make_buffer(indices_name(name), format.index, {places});
    const buffer storage = make_buffer(name, a->type, {places});
    const sparse_axis slice = dense_fixed(name + "_slices", slices);
    const sparse_axis step = dense_variable(name + "_steps", slice, columns, steps, indptr);
    const sparse_axis lane = dense_fixed(name + "_lanes", lanes, step);
    const sparse_axis column = sparse_fixed(name + "_columns", lane, columns, number(1), indices);
    out_.axes.insert(out_.axes.end(), {slice, step, lane, column});
    const buffer coordinates = make_buffer(name, a->type, {slices, columns, lanes, columns});
    own.stored = {coordinates, {slice, step, lane, column}, storage};
    out_.buffers.push_back(own.stored);
    for (const buffer& one : {indptr, own.lengths, own.order, indices, storage})
      out_.params.push_back({one, {}});
    sells_.push_back(std::move(own));
  }

  void add_part(const stmt& s) {
    const sparse_buffer* read = nullptr;
    const sell_parameter* sliced = nullptr;
    std::vector<expr> at;
    if (const store_node* store = store_of(s)) {
      read = out_.find(store->buffer);
      at = store->indices;
    }
    for_each_expr(s, [&](const expr& e) {
      if (e->op != op::load || read || sliced) return;
      read = out_.find(e->buffer);
      for (const sell_parameter& p : sells_)
        if (p.matrix == e->buffer) sliced = &p;
      if (read || sliced) at = e->args;
    });
    if (sliced)
      add_sliced(s, *sliced, at);
    else if (read)
      out_.body.emplace_back(iteration(s, *read, at));
    else
      out_.body.emplace_back(s);
  }

  /// The block of a nest that reads a sparse parameter.
  static const block_node& block_of(const stmt& nest, const buffer& read) {
    stmt inner = nest;
    while (const loop_node* loop = as_loop(inner)) inner = loop->body;
    const block_realize_node* realize = as_realize(inner);
    if (!realize)
      throw argument_error("with_storage: \"" + read->name +
                           "\" is read outside of a nest of loops around one block");
    return *realize->block;
  }

  /// Rows side by side: a nest of its own result, and one that puts rows where they belong.
  void add_sliced(const stmt& nest, const sell_parameter& a, const std::vector<expr>& at) {
    const block_node& b = block_of(nest, a.matrix);
    sliced_nest made(b, a, at);
    for (const iter_var& v : b.iters)
      if (!v.var.same(at[0]) && !v.var.same(at[1])) {
        const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
        out_.axes.push_back(axis);
        made.iteration.iters.push_back({v.var, axis, v.kind});
      }
    out_.alloc_buffers.push_back(made.sliced);
    out_.body.emplace_back(std::move(made.iteration));
    out_.body.emplace_back(std::move(made.rows));
  }

  /// @param at the indices of its result on a pattern, or else of its first read
  sparse_iteration iteration(const stmt& nest, const sparse_buffer& read,
                             const std::vector<expr>& at) {
    const block_node& b = block_of(nest, read.coordinates);
    sparse_iteration out;
    out.name = b.name;
    out.annotations = b.annotations;
    out.init = b.init;
    out.body = b.body;
    for (std::size_t d = 0; d < at.size(); ++d)
      for (const iter_var& v : b.iters)
        if (v.var.same(at[d])) out.iters.push_back({v.var, read.axes[d], v.kind});
    for (const iter_var& v : b.iters) {
      const auto same = [&](const sparse_iter& i) { return i.var.same(v.var); };
      if (std::any_of(out.iters.begin(), out.iters.end(), same)) continue;
      const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
      out_.axes.push_back(axis);
      out.iters.push_back({v.var, axis, v.kind});
    }
    return out;
  }

  const function& from_;
  const std::vector<stored_parameter>& formats_;
  std::vector<pattern> patterns_;
  std::vector<sell_parameter> sells_;
  sparse_function out_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::string indptr_name(const std::string& parameter) {
  return parameter + "_indptr";
}
TILEWRIGHT_INLINE std::string indices_name(const std::string& parameter) {
  return parameter + "_indices";
}

TILEWRIGHT_INLINE std::string lengths_name(const std::string& parameter) {
  return parameter + "_lengths";
}
TILEWRIGHT_INLINE std::string order_name(const std::string& parameter) {
  return parameter + "_order";
}

TILEWRIGHT_INLINE ir::sparse_function with_storage(const ir::function& f,
                                                   const std::vector<stored_parameter>& formats) {
  return detail::storage_giver(f, formats).run();
}

}  // namespace tilewright::sparse
