#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/schedule/primitive/loops/add_unit_loop.hpp>

namespace tilewright::primitive {
namespace detail::unit_loops {

inline new_loop around(const ir::function& f, const path& at) {
  const ir::var u = ir::make_var("u");
  return {replace(f, at, ir::make_loop(u, 0, 1, at.target())), u};
}

}  // namespace detail::unit_loops

TILEWRIGHT_INLINE new_loop add_unit_loop(const ir::function& f, std::uint64_t block) {
  const path at = need_block(f, block, "add_unit_loop");
  if (!at.scope())
    refusal{"add_unit_loop"}(1, "there is no place for a loop around the root block");
  return detail::unit_loops::around(f, at);
}

TILEWRIGHT_INLINE new_loop add_unit_loop(const ir::function& f, const ir::var& loop) {
  return detail::unit_loops::around(f, need_loop(f, loop, "add_unit_loop"));
}

}  // namespace tilewright::primitive
