#pragma once

#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/pipeline.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::pass {
namespace detail::lower {

inline const pipeline& standard() {
  const support::fork_pass inside;
  static const pipeline& p = *new pipeline(pipeline::standard());  // outlives static destruction
  return p;
}

}  // namespace detail::lower

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::cpu& target) {
  return detail::lower::standard().run(f, target);
}

TILEWRIGHT_INLINE prepared lower_prepared(const ir::function& f, const target::cpu& target) {
  return detail::lower::standard().run_prepared(f, target);
}

}  // namespace tilewright::pass
