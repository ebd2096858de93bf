// Sketches: what traces that differ in their decisions alone have in common.
#pragma once

#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

inline support::hash128 sketch_of(const trace& t) {
  support::hasher h;
  h.add(t.without_decisions().print());
  return h.finish();
}

}  // namespace tilewright::search::detail
