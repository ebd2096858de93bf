#pragma once

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/search/mutators/thread_binding.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::optional<trace> mutate_thread_binding(const trace& t, const ir::function&,
                                                             support::random& random) {
  return detail::redraw(t, random, [&](std::size_t i) { return detail::feeds_threads(t, i); });
}

}  // namespace tilewright::search
