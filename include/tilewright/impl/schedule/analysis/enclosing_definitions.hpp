// What stands around a place: variables that it defines, buffers that it loads.
#pragma once

#include <cstddef>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// Kinds of statements that define variables.
namespace enclosing_definitions {
inline constexpr unsigned loops = 1, lets = 2, blocks = 4;
}

/// The variables that these kinds of statements define, from slot `first` of the path to `last`,
/// exclusive.
inline ir::var_set defined_by(unsigned kinds, const path& at, std::size_t first, std::size_t last) {
  ir::var_set out;
  for (std::size_t i = first; i < last; ++i) {
    const ir::stmt& s = *at.slots[i];
    if (const ir::loop_node* loop = ir::as_loop(s); loop && (kinds & enclosing_definitions::loops))
      out.insert(loop->var);
    if (const ir::let_node* let = ir::as_let(s); let && (kinds & enclosing_definitions::lets))
      out.insert(let->var);
    if (const ir::block_realize_node* r = ir::as_realize(s);
        r && (kinds & enclosing_definitions::blocks))
      for (const ir::iter_var& v : r->block->iters) out.insert(v.var);
  }
  return out;
}

/// The first slot inside of the scope of what stands at the end of the path.
inline std::size_t begin_of_scope(const path& at) {
  std::size_t first = at.slots.size() - 1;
  while (first > 0 && !ir::as_realize(*at.slots[first - 1])) --first;
  return first;
}

/// The variables that lets on the way to the end of the path, from its scope on, give a value.
inline ir::var_set lets_around(const path& at) {
  return defined_by(enclosing_definitions::lets, at, begin_of_scope(at), at.slots.size() - 1);
}

/// These and the variables of the loops there: another statement of the scope does not see them.
inline ir::var_set defined_around(const path& at) {
  return defined_by(enclosing_definitions::loops | enclosing_definitions::lets, at,
                    begin_of_scope(at), at.slots.size() - 1);
}

/// One of the loops and lets around the end of the path, up to the root, that the block uses where it
/// stands there, as blocks without variables may; null when there is none. No block with variables can
/// take such a body.
inline ir::var used_from_outside(const ir::block_node& block, const path& at) {
  return used_inside(block, defined_by(enclosing_definitions::loops | enclosing_definitions::lets,
                                       at, 0, at.slots.size() - 1));
}
/// The same of the block at the end of the path.
inline ir::var used_from_outside(const path& at) {
  return used_from_outside(*ir::as_realize(at.target())->block, at);
}

/// Variables of what is around the scope of the block at the end of the path, and of the scope. Where
/// one occurs in the value of an iteration variable, it decides which instances run, and loops over
/// the domain would run all of them each time.
inline ir::var_set variables_outside(const path& at) {
  return defined_by(
      enclosing_definitions::loops | enclosing_definitions::lets | enclosing_definitions::blocks,
      at, 0, begin_of_scope(at));
}

/// Whether a bound of a loop, a condition or a let on the way to the end of the path, from its scope
/// on, loads the buffer.
inline bool loaded_above(const path& at, const ir::buffer& x) {
  const auto loads = [&](const ir::stmt& s) {
    if (const ir::loop_node* l = ir::as_loop(s)) return bounds_load(*l, x);
    if (const ir::if_node* n = ir::as_if(s)) return ir::loads_from(n->condition, x);
    if (const ir::let_node* n = ir::as_let(s)) return ir::loads_from(n->value, x);
    return false;
  };
  for (std::size_t i = at.slots.size(); i-- > 0 && !ir::as_realize(*at.slots[i]);)
    if (loads(*at.slots[i])) return true;
  return false;
}

}  // namespace tilewright::primitive::detail
