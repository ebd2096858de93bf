#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include <tilewright/impl/sparse/converted_nest.hpp>
#include <tilewright/impl/sparse/format_axes.hpp>
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

  void add_param(const param& p) {
    const stored_parameter* format = format_of(p.buffer);
    if (!format) {
      out_.params.push_back(p);
    } else if (!format->pattern.empty()) {
      out_.params.push_back({store_like(p.buffer, pattern_named(format->pattern)), {}});
    } else if (!format->converted()) {
      const pattern& own = pattern_named(p.buffer->name);
      for (const buffer& one : own.arrays) out_.params.push_back({one, {}});
      out_.params.push_back({store_like(p.buffer, own), {}});
    } else {
      for (const stored_parameter& part : formats_)
        if (part.parameter == p.buffer->name) add_converted(p.buffer, part);
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

  /// What the loops of a nest are around.
  static stmt innermost(stmt nest) {
    while (const loop_node* loop = as_loop(nest)) nest = loop->body;
    return nest;
  }

  /// The store of a nest's block; null when there is no single one.
  static const store_node* store_of(const stmt& nest) {
    const block_realize_node* realize = as_realize(innermost(nest));
    return realize ? as_store(realize->block->body) : nullptr;
  }

  /// The pattern of a buffer that is stored on one.
  const pattern& pattern_of(const sparse_buffer& b) const {
    for (const pattern& p : patterns_)
      if (p.axes.size() <= b.axes.size() && p.axes.back() == b.axes[p.axes.size() - 1]) return p;
    throw argument_error("with_storage: \"" + b.coordinates->name + "\" is on no pattern");
  }

  /// The same element of a pattern of `axes` dimensions.
  static bool same_element(const std::vector<expr>& a, const std::vector<expr>& b,
                           std::size_t axes) {
    for (std::size_t d = 0; d < axes; ++d)
      if (d >= a.size() || d >= b.size() || !a[d].same(b[d])) return false;
    return true;
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
    if (!support::all(store->indices, plain)) return;
    const pattern* followed_one = nullptr;
    bool followed = true;
    for (std::size_t m = 0; m < nests.size(); ++m) {
      const store_node* reader = store_of(nests[m]);
      const sparse_buffer* result = reader ? out_.find(reader->buffer) : nullptr;
      for_each_expr(nests[m], [&](const expr& e) {
        if (m == k || e->op != op::load || !(e->buffer == store->buffer)) return;
        const pattern* own = result ? &pattern_of(*result) : nullptr;
        followed = followed && m > k && own && (!followed_one || followed_one == own) &&
                   same_element(e->args, reader->indices, own->axes.size());
        if (followed) followed_one = own;
      });
      const bool written_again = m != k && reader && reader->buffer == store->buffer;
      followed = followed && !written_again;
    }
    if (followed && followed_one) *temporary = store_like(store->buffer, *followed_one);
  }

  void add_converted(const buffer& a, const stored_parameter& format) {
    converted_parameter own;
    own.format = format;
    own.matrix = a;
    for (const buffer& one : lay_out(own)) out_.params.push_back({one, {}});
    out_.axes.insert(out_.axes.end(), own.stored.axes.begin(), own.stored.axes.end());
    out_.buffers.push_back(own.stored);
    converted_.push_back(std::move(own));
  }

  /// What a nest's block says of the patterns that meet in it; null where none do.
  static const attr::list* walk_of(const stmt& nest) {
    const block_realize_node* realize = as_realize(innermost(nest));
    if (!realize) return nullptr;
    const auto found = realize->block->annotations.find(walk_attribute);
    return found == realize->block->annotations.end()
               ? nullptr
               : std::get_if<attr::list>(&found->second.value);
  }

  static std::string word(const attr::list& note, std::size_t at) {
    return at < note.size() ? std::get<std::string>(note[at].value) : std::string();
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
      for (const converted_parameter& p : converted_)
        if (p.matrix == e->buffer)
          throw argument_error("with_storage: \"" + e->buffer->name +
                               "\" is merged or looked up, which compressed rows are for");
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
      for (const converted_parameter& p : converted_)
        if (p.matrix == e->buffer) converted = &p;
      if (read || converted) at = e->args;
    });
    if (converted)
      add_nest(s, *converted, at);
    else if (read)
      out_.body.emplace_back(iteration(block_of(s, read->coordinates), read, at));
    else
      out_.body.emplace_back(s);
  }

  /// The block of a nest that reads a sparse parameter.
  static const block_node& block_of(const stmt& nest, const buffer& read) {
    const block_realize_node* realize = as_realize(innermost(nest));
    if (!realize)
      throw argument_error("with_storage: \"" + read->name +
                           "\" is read outside of a nest of loops around one block");
    return *realize->block;
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
        add_part_nest(b, part, at, !initializes);
      else
        add_later_part(b, part, at, number);
      ++number;
    }
  }

  /// The sum is along the columns of a matrix that is stored by columns: it adds a multiple of each to the
  /// result.
  static bool adds_columns(const block_node& b, const converted_parameter& a,
                           const std::vector<expr>& at) {
    return a.format.by_columns && !is_reduced(b, at[0]);
  }
  /// Rows of a rule may be missing where they depend on a sparse axis, and come up again below each position of an axis
  /// that reduces where a sparse one stands below that.
  static bool may_miss_rows(const stored_parameter& format) {
    if (!format.rule) return false;
    bool reduces = false;
    for (std::size_t k = 0; k < format.rule->axes.size(); ++k) {
      const format_axis& axis = format.rule->axes[k];
      const bool sparse = axis.kind != axis_kind::dense_fixed;
      const bool spatial = is_spatial(*format.rule, k);
      if (sparse && (reduces || spatial)) return true;
      reduces = reduces || !spatial;
    }
    return false;
  }
  static bool is_reduced(const block_node& b, const expr& v) {
    return support::any(
        b.iters, [&](const iter_var& i) { return i.var.same(v) && i.kind == iter_kind::reduce; });
  }

  /// The initialization of all results, as a nest of its own.
  static stmt nest_of_init(const block_node& of) {
    block_node b;
    b.name = of.name + "_init";
    var_map own;
    std::vector<var> loops;
    std::vector<expr> values, extents;
    for (const iter_var& v : of.iters) {
      if (v.kind != iter_kind::spatial) continue;
      const var fresh = make_var(v.var->name, v.var.type());
      own[v.var] = fresh;
      b.iters.push_back({fresh, v.dom, iter_kind::spatial});
      loops.push_back(make_var(v.var->name + "_loop", v.var.type()));
      values.push_back(loops.back());
      extents.push_back(v.dom.extent);
    }
    b.body = substitute(of.init, own);
    ir::detail::infer_regions(b, true, true);
    stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
    for (std::size_t k = loops.size(); k-- > 0;)
      out = make_loop(loops[k], integer(loops[k].type(), 0), extents[k], out);
    return out;
  }

  /// The nest of a part after the first, with variables of its own.
  void add_later_part(block_node b, const converted_parameter& part, std::vector<expr> at,
                      int number) {
    b.name += "_part" + std::to_string(number);
    var_map own;
    for (iter_var& v : b.iters) {
      const var fresh = make_var(v.var->name, v.var.type());
      own[v.var] = fresh;
      v.var = fresh;
    }
    b.init = b.init ? substitute(b.init, own) : b.init;
    b.body = substitute(b.body, own);
    for (expr& e : at) e = substitute(e, own);
    add_part_nest(b, part, at, !(part.format.exclusive_rows && part.format.numbered_rows >= 0));
  }

  void add_part_nest(const block_node& b, const converted_parameter& a, const std::vector<expr>& at,
                     bool adds) {
    const bool along_columns = a.format.by_columns && is_reduced(b, at[0]);
    converted_nest made(b, a, along_columns ? std::vector<expr>{at[1], at[0]} : at, adds,
                        along_columns);
    for (const iter_var& v : b.iters)
      if (!v.var.same(at[0]) && !v.var.same(at[1])) {
        const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
        out_.axes.push_back(axis);
        made.iteration.iters.push_back({v.var, axis, v.kind});
      }
    out_.body.emplace_back(std::move(made.iteration));
    if (!made.placed) return;
    out_.alloc_buffers.push_back(made.placed);
    out_.body.emplace_back(std::move(made.rows));
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
