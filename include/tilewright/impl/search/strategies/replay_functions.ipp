#pragma once

#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/strategies/replay_functions.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

class function_replayer final : public drawing_strategy {
 public:
  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    if (!task_.generate) return {};
    return collect(count, over, [&](support::random r) { return generated(r); });
  }

 private:
  /// Control flow of the function may have followed from what was drawn: the decisions stay.
  std::optional<candidate> generated(support::random r) {
    try {
      return replayed(task_.generate(r.next()).trace().simplified(), r);
    } catch (const schedule_error& e) {
      last_refusal_ = e.what();
      return std::nullopt;
    }
  }
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> replay_functions() {
  return std::make_unique<detail::function_replayer>();
}

}  // namespace tilewright::search
