#pragma once

#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>

namespace tilewright::search {
namespace detail {

class trace_replayer final : public drawing_strategy {
 public:
  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    return collect(count, over, [&](support::random r) { return fresh(r); });
  }
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> replay_traces() {
  return std::make_unique<detail::trace_replayer>();
}

}  // namespace tilewright::search
