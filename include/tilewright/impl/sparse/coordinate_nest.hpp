// What a nest of a program over coordinates stores, walks and reads.
#pragma once

#include <string>
#include <vector>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/sparse/converted_nest.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse::detail {

using namespace tilewright::ir;

/// What the loops of a nest are around.
inline stmt innermost(stmt nest) {
  while (const loop_node* loop = as_loop(nest)) nest = loop->body;
  return nest;
}

/// The store of a nest's block; null when there is no single one.
inline const store_node* store_of(const stmt& nest) {
  const block_realize_node* realize = as_realize(innermost(nest));
  return realize ? as_store(realize->block->body) : nullptr;
}

/// What a nest's block says of the patterns that meet in it; null where none do.
inline const attr::list* walk_of(const stmt& nest) {
  const block_realize_node* realize = as_realize(innermost(nest));
  if (!realize) return nullptr;
  const auto found = realize->block->annotations.find(walk_attribute);
  return found == realize->block->annotations.end() ? nullptr
                                                    : std::get_if<attr::list>(&found->second.value);
}

inline std::string word(const attr::list& note, std::size_t at) {
  return at < note.size() ? std::get<std::string>(note[at].value) : std::string();
}

/// The same element of a pattern of `axes` dimensions.
inline bool same_element(const std::vector<expr>& a, const std::vector<expr>& b, std::size_t axes) {
  for (std::size_t d = 0; d < axes; ++d)
    if (d >= a.size() || d >= b.size() || !a[d].same(b[d])) return false;
  return true;
}

/// The block of a nest that reads a sparse parameter.
inline const block_node& block_of(const stmt& nest, const buffer& read) {
  const block_realize_node* realize = as_realize(innermost(nest));
  if (!realize)
    throw argument_error("with_storage: \"" + read->name +
                         "\" is read outside of a nest of loops around one block");
  return *realize->block;
}

inline bool is_reduced(const block_node& b, const expr& v) {
  return support::any(
      b.iters, [&](const iter_var& i) { return i.var.same(v) && i.kind == iter_kind::reduce; });
}

/// The sum is along the columns of a matrix that is stored by columns: it adds a multiple of each to the
/// result.
inline bool adds_columns(const block_node& b, const converted_parameter& a,
                         const std::vector<expr>& at) {
  return a.format.by_columns && !is_reduced(b, at[0]);
}

/// Rows of a rule may be missing where they depend on a sparse axis, and come up again below each position of an axis
/// that reduces where a sparse one stands below that.
inline bool may_miss_rows(const stored_parameter& format) {
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

/// The initialization of all results, as a nest of its own.
inline stmt nest_of_init(const block_node& of) {
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

/// Gives the block of a part variables of its own.
inline void name_part(block_node& b, std::vector<expr>& at, int number) {
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
}

[[noreturn]] inline void refuse_meeting(const std::string& name) {
  throw argument_error("with_storage: \"" + name +
                       "\" is merged or looked up, which compressed rows are for");
}

}  // namespace tilewright::sparse::detail
