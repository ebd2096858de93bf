// Parts of programs with variables replaced by expressions.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {

inline range substitute(const range& r, const var_map& map) {
  return {substitute(r.min, map), substitute(r.extent, map)};
}

inline std::vector<expr> substitute(std::vector<expr> list, const var_map& map) {
  for (expr& e : list) e = substitute(e, map);
  return list;
}

inline std::vector<range> substitute(std::vector<range> box, const var_map& map) {
  for (range& r : box) r = substitute(r, map);
  return box;
}

inline buffer_region substitute(const buffer_region& r, const var_map& map) {
  return {r.buffer, substitute(r.box, map)};
}

/// What the iteration variables of the block stand for where it is realized.
inline var_map bindings(const block_realize_node& r) {
  var_map out;
  for (std::size_t i = 0; i < r.values.size(); ++i) out.emplace(r.block->iters[i].var, r.values[i]);
  return out;
}

}  // namespace tilewright::ir
