// Index maps and the function they are applied to: the type of the indices, and names in a map that
// stand for symbolic extents and scalars of the function.
#pragma once

#include <string>

#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive::detail {

/// The scalar parameter or symbolic extent of that name; null when there is none.
inline ir::var scalar_named(const ir::function& f, const std::string& name) {
  for (const ir::param& p : f.params) {
    if (p.scalar && p.scalar->name == name) return p.scalar;
    if (!p.buffer) continue;
    for (const ir::expr& extent : p.buffer->shape)
      for (const ir::var& v : ir::free_vars(extent))
        if (v->name == name) return v;
  }
  return {};
}

/// The map with inputs of `type`, and its other variables taken from the function.
/// @throws argument_error for a name that the function does not know
inline ir::index_map bind_map(const ir::index_map& map, const ir::function& f, dtype type) {
  ir::index_map out = ir::with_index_type(map, type);
  ir::var_map known;
  for (const ir::var& v : out.inputs) known.emplace(v, v);
  for (ir::expr& e : out.outputs) {
    for (const ir::var& v : ir::free_vars(e)) {
      if (known.count(v) != 0) continue;
      const ir::var meant = scalar_named(f, v->name);
      if (!meant)
        throw argument_error("index map: \"" + v->name + "\" is no index and no scalar of " +
                             "function " + f.name);
      known.emplace(v, meant);
    }
    e = ir::substitute(e, known);
    if (e.type() != type && ir::is_int(e)) e = ir::integer(type, ir::as_int(e));
  }
  return out;
}

}  // namespace tilewright::primitive::detail
