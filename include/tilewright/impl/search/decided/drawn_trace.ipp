#pragma once

#include <cstddef>
#include <utility>

#include <tilewright/impl/search/decided/trace_reader.hpp>
#include <tilewright/search/drawn_trace.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE trace drawn_within_limits(const trace& sketch, const ir::function& f,
                                            const target::gpu& gpu, support::random& random,
                                            int tries) {
  const detail::decided::trace_reader fresh(f, &gpu);
  for (int i = 0; i < tries; ++i) {
    detail::decided::trace_reader reader = fresh;
    if (!reader.run(sketch, &random).empty()) continue;
    trace out;
    auto next = reader.drawn().begin();
    for (std::size_t at = 0; at < sketch.size(); ++at) {
      const bool here = next != reader.drawn().end() && next->first == at;
      out.append(sketch[at].what, here ? next++->second : sketch[at].choice);
    }
    return out;
  }
  return sketch;
}

}  // namespace tilewright::search
