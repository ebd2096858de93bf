#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/sparse/row_group.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

/// Takes the initialization out of an iteration with several variable axes, whose inner blocks run it again;
/// null where it stays.
inline stmt take_init(const sparse_function& f, sparse_iteration& it) {
  const auto variable = [](const sparse_iter& i) { return i.axis->variable(); };
  if (!it.init || co_iteration(f, it).needed() ||
      std::count_if(it.iters.begin(), it.iters.end(), variable) < 2)
    return {};
  block_node b;
  b.name = it.name + "_init";
  std::vector<var> loops;
  std::vector<expr> values, extents;
  var_map own;
  for (const sparse_iter& i : it.iters) {
    if (i.kind != iter_kind::spatial) continue;
    if (i.axis->kind != axis_kind::dense_fixed)
      throw argument_error("lower: iteration \"" + it.name +
                           "\" initializes a result along axis \"" + i.axis->name +
                           "\", which is stored (requirement 1)");
    const dtype index = i.var.type();
    const var fresh = make_var(i.var->name, index);
    own[i.var] = fresh;
    b.iters.push_back({fresh, {integer(index, 0), cast(index, i.axis->length)}, i.kind});
    loops.push_back(make_var(i.var->name + "_loop", index));
    values.push_back(loops.back());
    extents.push_back(cast(index, i.axis->length));
  }
  b.body = substitute(it.init, own);
  it.init = {};
  ir::detail::infer_regions(b, true, true);
  stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
  for (std::size_t k = loops.size(); k-- > 0;)
    out = make_loop(loops[k], integer(loops[k].type(), 0), extents[k], out);
  return out;
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

inline attr offsets_of(const sparse_function& f) {
  const bool patterns_meet = support::any(f.body, [&](const auto& part) {
    const auto* it = std::get_if<sparse_iteration>(&part);
    return it && co_iteration(f, *it).needed();
  });
  attr::dict out;
  for (const sparse_axis& axis : f.axes) {
    if (!axis->variable() || !is_int(axis->nnz)) continue;
    attr::list note{attr(indices_below(f, axis)), attr(as_int(axis->nnz))};
    if (patterns_meet && axis->sparse() && is_int(axis->length))
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
  detail::row_group group(f);
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
    const ir::stmt init = detail::take_init(f, whole);
    if (init || !group.takes(whole)) end_group();
    if (init) body.push_back(init);
    group.add(whole);
  }
  end_group();
  out.body = ir::make_root(ir::make_seq(std::move(body)), std::move(allocated));
  return out;
}

}  // namespace tilewright::sparse
