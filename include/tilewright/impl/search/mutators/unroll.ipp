#pragma once

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/search/mutators/unroll.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::optional<trace> mutate_unroll(const trace& t, const ir::function&,
                                                     support::random& random) {
  return detail::redraw(t, random, [&](std::size_t i) { return detail::feeds_unroll(t, i); });
}

}  // namespace tilewright::search
