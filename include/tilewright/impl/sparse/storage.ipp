#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include <tilewright/impl/sparse/converted_nest.hpp>
#include <tilewright/impl/sparse/coordinate_nest.hpp>
#include <tilewright/impl/sparse/format_axes.hpp>
#include <tilewright/impl/sparse/placed_nest.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

class storage_giver {
 public:
  storage_giver(const function& f, const std::vector<stored_parameter>& formats)
      : from_(f), formats_(formats) {}

  sparse_function run() {
    out_.name = from_.name;
    out_.attrs = from_.attrs;
    for (const param& p : from_.params) make_pattern(p);
    for (const param& p : from_.params) make_converted(p);
    for (const param& p : from_.params) add_param(p);
    const block& root = root_block(from_);
    for (const buffer& b : root->alloc_buffers) {
      const stored_parameter* format = format_of(b);
      if (format)
        allocate_like(b, format->pattern, out_.alloc_buffers);
      else
        out_.alloc_buffers.push_back(b);
    }
    const seq_node* parts = as_seq(root->body);
    const std::vector<stmt> nests = parts ? parts->stmts : std::vector<stmt>{root->body};
    for (std::size_t k = nests.size(); k-- > 0;) follow_pattern(nests, k);
    for (std::size_t k = 0; k < nests.size();) {
      std::size_t end = k;
      while (end < nests.size() && placed_result(nests[end]) &&
             placed_result(nests[end])->matrix == placed_result(nests[k])->matrix)
        ++end;
      if (end > k)
        add_placed({nests.begin() + static_cast<std::ptrdiff_t>(k),
                    nests.begin() + static_cast<std::ptrdiff_t>(end)});
      else
        add_part(nests[end++]);
      k = end;
    }
    return std::move(out_);
  }

 private:
  /// Offsets and indices of a compressed parameter, in the order of a call, and the axes over them, of which
  /// the last one has the elements.
  struct pattern {
    std::string name;
    std::vector<buffer> arrays;
    std::vector<sparse_axis> axes;
  };

  const stored_parameter* format_of(const buffer& b) const {
    const auto found = support::find(
        formats_, [&](const stored_parameter& c) { return b && b->name == c.parameter; });
    return found == formats_.end() ? nullptr : &*found;
  }

  const pattern& pattern_named(const std::string& name) const {
    for (const pattern& p : patterns_)
      if (p.name == name) return p;
    throw argument_error("with_storage: \"" + name + "\" is no compressed parameter");
  }

  /// The parts of a matrix that is stored otherwise than in compressed rows; none of any other one.
  std::vector<const converted_parameter*> parts_of(const std::string& matrix) const {
    std::vector<const converted_parameter*> out;
    for (const converted_parameter& a : converted_)
      if (a.format.parameter == matrix) out.push_back(&a);
    return out;
  }

  void add_param(const param& p) {
    const stored_parameter* format = format_of(p.buffer);
    if (!format) {
      out_.params.push_back(p);
    } else if (!format->pattern.empty()) {
      std::vector<buffer> arrays;
      allocate_like(p.buffer, format->pattern, arrays);
      for (const buffer& one : arrays) out_.params.push_back({one, {}});
    } else if (!format->converted()) {
      const pattern& own = pattern_named(p.buffer->name);
      for (const buffer& one : own.arrays) out_.params.push_back({one, {}});
      out_.params.push_back({store_like(p.buffer, own), {}});
    } else {
      for (const buffer& one : arrays_.at(p.buffer->name)) out_.params.push_back({one, {}});
    }
  }

  /// Stores a tensor like a matrix: an array, or one for each part of it.
  void allocate_like(const buffer& a, const std::string& matrix, std::vector<buffer>& to) {
    const std::vector<const converted_parameter*> parts = parts_of(matrix);
    if (parts.empty()) {
      to.push_back(store_like(a, pattern_named(matrix)));
      return;
    }
    placed_tensor out{a, matrix, {}};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const converted_parameter& part = *parts[k];
      if (!knows_rows(part.format))
        throw argument_error("with_storage: \"" + a->name + "\" is stored like \"" + matrix +
                             "\", which is neither in compressed rows nor in blocks, rows of one "
                             "width, rows with numbers, or parts of these");
      const std::string name =
          part.format.part.empty() ? a->name : part_name(a->name, static_cast<int>(k));
      out.parts.push_back({make_buffer(name, a->type, part.stored.coordinates->shape),
                           part.stored.axes,
                           make_buffer(name, a->type, part.stored.storage->shape)});
      out_.buffers.push_back(out.parts.back());
      to.push_back(out.parts.back().storage);
    }
    placed_.push_back(std::move(out));
  }

  /// What a nest stores, where that is stored like a converted matrix; null where it is not.
  const placed_tensor* placed_result(const stmt& nest) const {
    const store_node* store = store_of(nest);
    return store ? placed_as(placed_, store->buffer) : nullptr;
  }

  /// Nests of results on one pattern, part by part: each reads of the others' results the element that it computes.
  void add_placed(const std::vector<stmt>& nests) {
    const std::vector<const converted_parameter*> parts = parts_of(placed_result(nests[0])->matrix);
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (const stmt& nest : nests) {
        if (walk_of(nest)) refuse_meeting(placed_result(nest)->whole->name);
        std::vector<expr> at = store_of(nest)->indices;
        block_node b = *as_realize(innermost(nest))->block;
        if (k > 0) name_part(b, at, static_cast<int>(k));
        placed_nest made(b, *parts[k], *placed_result(nest), k, at, placed_);
        add_other_axes(b, {made.row, made.column}, made.iteration);
        out_.body.emplace_back(std::move(made.iteration));
      }
  }

  /// The values of a tensor on a pattern; dense dimensions behind it are dimensions of theirs.
  buffer store_like(const buffer& a, const pattern& p) {
    std::vector<sparse_axis> axes = p.axes;
    std::vector<expr> shape{p.axes.back()->nnz};
    for (std::size_t d = axes.size(); d < a->shape.size(); ++d) {
      shape.push_back(a->shape[d]);
      axes.push_back(dense_fixed(a->name + "_" + std::to_string(d), a->shape[d]));
      out_.axes.push_back(axes.back());
    }
    const buffer storage = make_buffer(a->name, a->type, shape);
    const stored_parameter* format = format_of(a);
    out_.buffers.push_back(
        {a, std::move(axes), storage, format ? absent_literal(a->type, format->absent) : expr{}});
    return storage;
  }

  void make_pattern(const param& p) {
    const stored_parameter* own = format_of(p.buffer);
    if (!own || own->converted() || !own->pattern.empty()) return;
    const buffer& a = p.buffer;
    const stored_parameter& format = *own;
    const std::string& name = a->name;
    pattern out{name, {}, {dense_fixed(name + "_rows", a->shape.at(0))}};
    const std::size_t levels = format.counted ? 1 : a->shape.size() - 1;
    expr above = a->shape[0];  // elements of the level before
    for (std::size_t level = 1; level <= levels; ++level) {
      const bool last = level == levels;
      const expr elements =
          integer(above.type(), last ? format.places : format.levels.at(level - 1));
      const std::string arrays = levels == 1 ? name : level_name(name, static_cast<int>(level));
      const buffer indptr =
          make_buffer(indptr_name(arrays), format.index, {above + integer(above.type(), 1)});
      out.arrays.push_back(indptr);
      const sparse_axis& parent = out.axes.back();
      const expr length = a->shape[level];
      if (format.counted) {
        out.axes.push_back(dense_variable(name + "_places", parent, length, elements, indptr));
      } else {
        const buffer indices = make_buffer(indices_name(arrays), format.index, {elements});
        out.arrays.push_back(indices);
        out.axes.push_back(sparse_variable(arrays + (levels == 1 ? "_columns" : ""), parent, length,
                                           elements, indptr, indices));
      }
      above = elements;
    }
    out_.axes.insert(out_.axes.end(), out.axes.begin(), out.axes.end());
    patterns_.push_back(std::move(out));
  }

  /// The pattern of a buffer that is stored on one.
  const pattern& pattern_of(const sparse_buffer& b) const {
    for (const pattern& p : patterns_)
      if (p.axes.size() <= b.axes.size() && p.axes.back() == b.axes[p.axes.size() - 1]) return p;
    throw argument_error("with_storage: \"" + b.coordinates->name + "\" is on no pattern");
  }

  /// The parameter on whose pattern a buffer is stored, with the dimensions of that; "" for none.
  std::pair<std::string, std::size_t> pattern_under(const buffer& b) const {
    if (const placed_tensor* t = placed_as(placed_, b)) return {t->matrix, 2};
    const sparse_buffer* s = out_.find(b);
    if (!s) return on_no_pattern;
    const pattern& p = pattern_of(*s);
    return {p.name, p.axes.size()};
  }
  const std::pair<std::string, std::size_t> on_no_pattern = {};

  /// Stores a temporary that the nest at `k` writes where its readers need it: each is the nest of a
  /// result on one pattern, and reads it at the element of the result. Later nests are done.
  void follow_pattern(const std::vector<stmt>& nests, std::size_t k) {
    const store_node* store = store_of(nests[k]);
    const auto temporary =
        store ? std::find(out_.alloc_buffers.begin(), out_.alloc_buffers.end(), store->buffer)
              : out_.alloc_buffers.end();
    if (temporary == out_.alloc_buffers.end()) return;
    const auto plain = [](const expr& e) { return e->op == op::var; };
    if (!support::all(store->indices, plain)) return;
    std::string followed_one;
    bool followed = true;
    for (std::size_t m = 0; m < nests.size(); ++m) {
      const store_node* reader = store_of(nests[m]);
      const auto under = reader ? pattern_under(reader->buffer) : on_no_pattern;
      for_each_expr(nests[m], [&](const expr& e) {
        if (m == k || e->op != op::load || !(e->buffer == store->buffer)) return;
        followed = followed && m > k && !under.first.empty() &&
                   (followed_one.empty() || followed_one == under.first) &&
                   same_element(e->args, reader->indices, under.second);
        if (followed) followed_one = under.first;
      });
      const bool written_again = m != k && reader && reader->buffer == store->buffer;
      followed = followed && !written_again;
    }
    if (!followed || followed_one.empty()) return;
    const buffer whole = store->buffer;
    out_.alloc_buffers.erase(temporary);
    allocate_like(whole, followed_one, out_.alloc_buffers);
  }

  void make_converted(const param& p) {
    const stored_parameter* own = format_of(p.buffer);
    if (!own || !own->converted()) return;
    for (const stored_parameter& part : formats_)
      if (part.parameter == p.buffer->name) add_converted(p.buffer, part);
  }

  void add_converted(const buffer& a, const stored_parameter& format) {
    converted_parameter own;
    own.format = format;
    own.matrix = a;
    for (const buffer& one : lay_out(own)) arrays_[a->name].push_back(one);
    out_.axes.insert(out_.axes.end(), own.stored.axes.begin(), own.stored.axes.end());
    out_.buffers.push_back(own.stored);
    converted_.push_back(std::move(own));
  }

  /// A nest in which several patterns meet, or one is looked up. Axes of its own it has where its result is
  /// on a pattern, and where the block says which one it walks.
  sparse_iteration meeting(const stmt& nest, const attr::list& note) {
    const store_node* store = store_of(nest);
    const sparse_buffer* own = store ? out_.find(store->buffer) : nullptr;
    std::vector<expr> at = own ? store->indices : std::vector<expr>{};
    const std::string how = word(note, 0);
    for_each_expr(nest, [&](const expr& e) {
      if (e->op != op::load) return;
      const bool converted = support::any(
          converted_, [&](const converted_parameter& p) { return p.matrix == e->buffer; });
      if (converted || placed_as(placed_, e->buffer)) refuse_meeting(e->buffer->name);
      bool is_it = how == "walk" && out_.find(e->buffer) && e->buffer->name == word(note, 1);
      for (std::size_t d = 0; is_it && d < e->args.size(); ++d)
        is_it = is_var(e->args[d]) && e->args[d]->name == word(note, d + 2);
      if (!is_it) return;
      own = out_.find(e->buffer);
      at = e->args;
    });
    sparse_iteration out = iteration(*as_realize(innermost(nest))->block, own, at);
    out.annotations.erase(walk_attribute);
    for (sparse_iter& i : out.iters)
      if (i.var->name == word(note, 1))
        i.walk = how == "intersect" ? axis_walk::intersect
                 : how == "unite"   ? axis_walk::unite
                                    : axis_walk::every;
    return out;
  }

  void add_part(const stmt& s) {
    if (const attr::list* note = walk_of(s)) {
      out_.body.emplace_back(meeting(s, *note));
      return;
    }
    const sparse_buffer* read = nullptr;
    const converted_parameter* converted = nullptr;
    std::vector<expr> at;
    if (const store_node* store = store_of(s)) {
      read = out_.find(store->buffer);
      at = store->indices;
    }
    for_each_expr(s, [&](const expr& e) {
      if (e->op != op::load || read || converted) return;
      read = out_.find(e->buffer);
      const placed_tensor* placed = placed_as(placed_, e->buffer);
      for (const converted_parameter& p : converted_)
        if (!converted &&
            (p.matrix == e->buffer || (placed && placed->matrix == p.format.parameter)))
          converted = &p;
      if (read || converted) at = e->args;
    });
    if (converted)
      add_nest(s, *converted, at);
    else if (read)
      out_.body.emplace_back(iteration(block_of(s, read->coordinates), read, at));
    else
      out_.body.emplace_back(s);
  }

  /// A nest over each part of the matrix, and behind it one that puts rows where they belong.
  void add_nest(const stmt& nest, const converted_parameter& first, const std::vector<expr>& at) {
    const block_node& b = block_of(nest, first.matrix);
    int number = 0;
    for (const converted_parameter& part : converted_) {
      if (!(part.matrix == first.matrix)) continue;
      const bool initializes = part.format.numbered_rows < 0 && !adds_columns(b, part, at) &&
                               !may_miss_rows(part.format);
      if (number == 0 && !initializes && b.init) out_.body.emplace_back(nest_of_init(b));
      if (number == 0)
        add_part_nest(b, part, at, !initializes, 0);
      else
        add_later_part(b, part, at, number);
      ++number;
    }
  }

  /// The nest of a part after the first, with variables of its own.
  void add_later_part(block_node b, const converted_parameter& part, std::vector<expr> at,
                      int number) {
    name_part(b, at, number);
    add_part_nest(b, part, at, !(part.format.exclusive_rows && part.format.numbered_rows >= 0),
                  static_cast<std::size_t>(number));
  }

  void add_part_nest(const block_node& b, const converted_parameter& a, const std::vector<expr>& at,
                     bool adds, std::size_t number) {
    const bool along_columns = a.format.by_columns && is_reduced(b, at[0]);
    converted_nest made(b, a, along_columns ? std::vector<expr>{at[1], at[0]} : at, adds,
                        along_columns, placed_, number);
    add_other_axes(b, at, made.iteration);
    out_.body.emplace_back(std::move(made.iteration));
    if (!made.placed) return;
    out_.alloc_buffers.push_back(made.placed);
    out_.body.emplace_back(std::move(made.rows));
  }

  /// Dense axes for the variables of a block that are no index of the matrix.
  void add_other_axes(const block_node& b, const std::vector<expr>& at, sparse_iteration& to) {
    for (const iter_var& v : b.iters) {
      if (v.var.same(at[0]) || v.var.same(at[1])) continue;
      const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
      out_.axes.push_back(axis);
      to.iters.push_back({v.var, axis, v.kind});
    }
  }

  /// Rows of a second matrix that columns of the first one number, as in A[i, j] * B[j, k] summed over both, are
  /// walked below these columns.
  void attach_rows(const block_node& b, sparse_iteration& out) const {
    if (b.annotations.count(walk_attribute)) return;
    for_each_expr(b.body, [&](const expr& e) {
      const sparse_buffer* rows = e->op == op::load ? out_.find(e->buffer) : nullptr;
      if (!rows || rows->axes.size() != 2 || rows->axes[1]->kind != axis_kind::sparse_variable)
        return;
      const sparse_iter& last = out.iters.back();
      if (!last.axis->sparse() || !e->args[0].same(last.var) || e->args[1].same(last.var)) return;
      for (const iter_var& v : b.iters)
        if (v.var.same(e->args[1]) && v.kind == iter_kind::reduce)
          out.iters.push_back({v.var, rows->axes[1], v.kind, axis_walk::every, false, last.axis});
    });
  }

  /// @param own the buffer whose axes it has; null: dense ones alone
  /// @param at the indices of its result on a pattern, or else of its first read
  sparse_iteration iteration(const block_node& b, const sparse_buffer* own,
                             const std::vector<expr>& at) {
    sparse_iteration out;
    out.name = b.name;
    out.annotations = b.annotations;
    out.init = b.init;
    out.body = b.body;
    const auto bound = [&](const var& v) {
      return support::any(out.iters, [&](const sparse_iter& i) { return i.var.same(v); });
    };
    for (std::size_t d = 0; d < at.size(); ++d)
      for (const iter_var& v : b.iters)
        if (v.var.same(at[d]) && !bound(v.var)) out.iters.push_back({v.var, own->axes[d], v.kind});
    if (own) attach_rows(b, out);
    for (const iter_var& v : b.iters) {
      if (bound(v.var)) continue;
      const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
      out_.axes.push_back(axis);
      out.iters.push_back({v.var, axis, v.kind});
    }
    return out;
  }

  const function& from_;
  const std::vector<stored_parameter>& formats_;
  std::vector<pattern> patterns_;
  std::vector<converted_parameter> converted_;
  std::map<std::string, std::vector<buffer>>
      arrays_;  // of converted parameters, in the order of a call
  std::vector<placed_tensor> placed_;
  sparse_function out_;
};

}  // namespace detail

TILEWRIGHT_INLINE stored_parameter stored_by_rule(std::string parameter, format_rule rule,
                                                  const formatted_pattern& pattern, dtype index) {
  stored_parameter out;
  out.parameter = std::move(parameter);
  out.places = static_cast<std::int64_t>(pattern.source.size());
  out.index = index;
  for (std::size_t k = 0; k < rule.axes.size(); ++k)
    if (rule.axes[k].kind == ir::axis_kind::sparse_variable)
      out.levels.push_back(static_cast<std::int64_t>(pattern.levels.at(k).indices.size()));
  out.rule = std::make_shared<const format_rule>(std::move(rule));
  return out;
}

TILEWRIGHT_INLINE ir::sparse_function with_storage(const ir::function& f,
                                                   const std::vector<stored_parameter>& formats) {
  return detail::storage_giver(f, formats).run();
}

}  // namespace tilewright::sparse
