#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/sparse/row_group.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::sparse {
namespace detail {

/// Whether the initialization is a nest of its own: where an iteration has several variable axes, whose inner
/// blocks would run it again, or one loop that walks elements of several sums, and where it asks for that.
inline bool is_initialized_apart(const sparse_function& f, const sparse_iteration& it) {
  bool fused_sum = false;
  int walks = 0;  // loops whose extents are read
  for (std::size_t k = 0; k < it.iters.size(); ++k) {
    const bool fused = in_fused_group(it.iters, k);
    fused_sum = fused_sum || (fused && it.iters[k].kind == iter_kind::reduce);
    if (it.iters[k].axis->variable() && !fused) ++walks;
  }
  const bool asked = it.annotations.count(initialized_apart_annotation) != 0;
  return it.init && !co_iteration(f, it).needed() && (fused_sum || walks > 1 || asked);
}

/// Some axis that does not reduce is stored: a result is initialized where it has elements.
inline bool has_stored_result(const sparse_iteration& it) {
  return support::any(it.iters, [](const sparse_iter& i) {
    return i.kind == iter_kind::spatial && i.axis->kind != axis_kind::dense_fixed;
  });
}

/// The initialization as an iteration over the axes that do not reduce.
inline sparse_iteration init_at_elements(const sparse_iteration& it) {
  sparse_iteration out;
  out.name = it.name + "_init";
  var_map own;
  for (std::size_t k = 0; k < it.iters.size(); ++k) {
    if (it.iters[k].kind != iter_kind::spatial) continue;
    sparse_iter i = it.iters[k];
    i.fused = i.fused && it.iters[k + 1].kind == iter_kind::spatial;
    i.var = make_var(i.var->name, i.var.type());
    own[it.iters[k].var] = i.var;
    out.iters.push_back(std::move(i));
  }
  out.body = substitute(it.init, own);
  return out;
}

/// The initialization as a nest over the axes that do not reduce, all of which are dense.
inline stmt init_of_all(const sparse_iteration& it) {
  block_node b;
  b.name = it.name + "_init";
  std::vector<var> loops;
  std::vector<expr> values, extents;
  var_map own;
  for (const sparse_iter& i : it.iters) {
    if (i.kind != iter_kind::spatial) continue;
    const dtype index = i.var.type();
    const var fresh = make_var(i.var->name, index);
    own[i.var] = fresh;
    b.iters.push_back({fresh, {integer(index, 0), cast(index, i.axis->length)}, i.kind});
    loops.push_back(make_var(i.var->name + "_loop", index));
    values.push_back(loops.back());
    extents.push_back(cast(index, i.axis->length));
  }
  b.body = substitute(it.init, own);
  ir::detail::infer_regions(b, true, true);
  stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
  for (std::size_t k = loops.size(); k-- > 0;)
    out = make_loop(loops[k], integer(loops[k].type(), 0), extents[k], out);
  return out;
}

/// Lists below which element of its parent each element of the axis lies: a nest over the rows of elements.
inline stmt list_parents(const sparse_axis_node& axis, const buffer& parents) {
  const dtype index = parents->type;
  const expr zero = integer(index, 0);
  const var row = make_var("vr", index), place = make_var("vp", index);
  const auto in_loop = [&](const std::string& name, const var& v, const expr& extent, stmt body) {
    block_node b;
    b.name = name;
    b.iters.push_back({v, {zero, extent}, iter_kind::spatial});
    b.body = std::move(body);
    ir::detail::infer_regions(b, true, true);
    const var loop = make_var(v->name.substr(1), index);
    return make_loop(loop, zero, extent,
                     make_realize({loop}, boolean(true), make_block(std::move(b))));
  };
  const expr above = axis.parent->variable() ? axis.parent->nnz : axis.parent->length;
  const expr first = cast(index, load(axis.indptr, {row}));
  stmt out = in_loop(parents->name, place, fibre_extent(axis, row, index),
                     make_store(parents, {first + place}, row));
  return in_loop(parents->name + "_o", row, cast(index, above), std::move(out));
}

/// Lists below which element of its parent each element of the axis lies: a loop over the elements, each of which
/// searches the offsets. The parent is the first one that ends behind the element.
inline stmt search_parents(const sparse_axis_node& axis, const buffer& parents) {
  const dtype index = parents->type;
  const auto number = [&](std::int64_t n) { return integer(index, n); };
  const buffer low = make_buffer(axis.name + "_low", index, {number(1)}, "local"),
               high = make_buffer(axis.name + "_high", index, {number(1)}, "local");
  const auto at = [&](const buffer& b) { return load(b, {number(0)}); };
  const auto set = [&](const buffer& b, const expr& to) { return make_store(b, {number(0)}, to); };
  const var element = make_var("vp", index), middle = make_var(axis.name + "_middle", index);
  const expr rows = axis.parent->variable() ? axis.parent->nnz : axis.parent->length;
  const expr end = cast(index, load(axis.indptr, {middle + number(1)}));
  const stmt halve =
      make_let(middle, at(low) + floordiv(at(high) - at(low), number(2)),
               make_if(le(end, element), set(low, middle + number(1)), set(high, middle)));
  block_node b;
  b.name = parents->name;
  b.iters.push_back({element, {number(0), cast(index, axis.nnz)}, iter_kind::spatial});
  b.alloc_buffers = {low, high};
  b.body =
      make_seq({set(low, number(0)), set(high, cast(index, rows)),
                make_while(lt(at(low), at(high)), halve), make_store(parents, {element}, at(low))});
  ir::detail::infer_regions(b, true, true);
  const var loop = make_var("p", index);
  return make_loop(loop, number(0), cast(index, axis.nnz),
                   make_realize({loop}, boolean(true), make_block(std::move(b))));
}

/// Coordinates that are listed along the axis, or along one below it; "" when all are counted.
inline std::string indices_below(const sparse_function& f, const sparse_axis& axis) {
  for (const sparse_axis& below : f.axes) {
    const std::vector<sparse_axis> above = ancestry(below);
    if (below->indices && std::find(above.begin(), above.end(), axis) != above.end())
      return below->indices->name;
  }
  return {};
}

/// Whether a temporary has values inside of the elements along the axis, as inside of blocks: a row of it is kept, which
/// has as many of them as there are coordinates.
inline bool is_kept_inside(const sparse_function& f, const sparse_axis& axis) {
  return support::any(f.buffers, [&](const sparse_buffer& b) {
    return b.axes.back() != axis && support::contains(b.axes, axis) &&
           support::contains(f.alloc_buffers, b.storage);
  });
}

inline attr offsets_of(const sparse_function& f) {
  const bool patterns_meet = support::any(f.body, [&](const auto& part) {
    const auto* it = std::get_if<sparse_iteration>(&part);
    return it && co_iteration(f, *it).needed();
  });
  attr::dict out;
  for (const sparse_axis& axis : f.axes) {
    if (!axis->variable() || !is_int(axis->nnz)) continue;
    attr::list note{attr(indices_below(f, axis)), attr(as_int(axis->nnz))};
    if ((patterns_meet || is_kept_inside(f, axis)) && axis->sparse() && is_int(axis->length))
      note.push_back(as_int(axis->length));
    out[axis->indptr->name] = std::move(note);
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::function lower(const ir::sparse_function& f) {
  ir::function out;
  out.name = f.name;
  out.params = f.params;
  out.attrs = f.attrs;
  ir::attr offsets = detail::offsets_of(f);
  if (!std::get<ir::attr::dict>(offsets.value).empty())
    out.attrs[ir::offsets_attribute] = std::move(offsets);
  std::vector<ir::buffer> allocated = f.alloc_buffers;
  std::vector<ir::stmt> body;
  detail::parent_lists parents;
  for (const auto& part : f.body) {
    const auto* it = std::get_if<ir::sparse_iteration>(&part);
    for (std::size_t k = 1; it && k < it->iters.size(); ++k) {
      const ir::sparse_axis& axis = it->iters[k].axis;
      if (!it->iters[k - 1].fused || parents.count(axis.get())) continue;
      allocated.push_back(
          ir::make_buffer(axis->name + "_parent", it->iters[k].var.type(), {axis->nnz}));
      parents[axis.get()] = allocated.back();
      body.push_back(it->annotations.count(ir::searched_rows_annotation) > 0
                         ? detail::search_parents(*axis, allocated.back())
                         : detail::list_parents(*axis, allocated.back()));
    }
  }
  detail::row_group group(f, parents);
  const auto end_group = [&] {
    if (!group.empty()) body.push_back(group.lower(allocated));
  };
  for (const auto& part : f.body) {
    const auto* it = std::get_if<ir::sparse_iteration>(&part);
    if (!it) {
      end_group();
      body.push_back(std::get<ir::stmt>(part));
      continue;
    }
    ir::sparse_iteration whole = *it;
    const bool apart = detail::is_initialized_apart(f, whole);
    if (apart || !group.takes(whole)) end_group();
    if (apart && detail::has_stored_result(whole)) {
      group.add(detail::init_at_elements(whole));
      end_group();
    } else if (apart) {
      body.push_back(detail::init_of_all(whole));
    }
    if (apart) whole.init = {};
    group.add(whole);
  }
  end_group();
  out.body = ir::make_root(ir::make_seq(std::move(body)), std::move(allocated));
  return out;
}

}  // namespace tilewright::sparse
