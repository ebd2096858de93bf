// Digits of loops that bindings are made of, as quotients and remainders of a fused loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <tilewright/impl/dependence/binding/digit.hpp>
#include <tilewright/impl/dependence/nest.hpp>

namespace tilewright::dependence {

/// Digits of loops around a block. Where those of each loop are all of it, they are as good as loops of their own.
class taken_digits {
 public:
  explicit taken_digits(const loop_nest& loops) : loops_(loops) {}

  /// How many values it takes, all of them; nothing for what is no digit of a loop with constant bounds.
  std::optional<std::int64_t> take(const ir::expr& term) {
    const std::optional<digit> d = digit_of(term);
    const int at = d ? loop_index(loops_, d->v) : -1;
    if (at < 0) return std::nullopt;
    const ir::loop_node& loop = *loops_[static_cast<std::size_t>(at)];
    if (!ir::is_int(loop.extent) || !ir::is_int(loop.min, 0)) return std::nullopt;
    const std::int64_t extent = ir::as_int(loop.extent), by = d->divisor;
    const std::int64_t count = d->count > 0 ? d->count : extent / by;
    if (count < 1 || extent < by * count || extent % (by * count) != 0) return std::nullopt;
    digits_.push_back({static_cast<std::size_t>(at), by, count});
    return count;
  }

  /// Whether those of each loop are all digits that it has, each once, and the loop occurs nowhere else.
  /// @param whole  other than 0 for loops that do
  bool are_complete(const std::vector<int>& whole) {
    std::sort(digits_.begin(), digits_.end(), [](const part& a, const part& b) {
      return std::tie(a.loop, a.divisor, a.count) < std::tie(b.loop, b.divisor, b.count);
    });
    for (std::size_t i = 0; i < digits_.size();) {
      const std::size_t loop = digits_[i].loop;
      std::int64_t reach = 1;
      for (; i < digits_.size() && digits_[i].loop == loop; ++i) {
        if (digits_[i].divisor != reach) return false;
        reach *= digits_[i].count;
      }
      if (whole[loop] != 0 || reach != ir::as_int(loops_[loop]->extent)) return false;
    }
    return true;
  }

 private:
  struct part {
    std::size_t loop;
    std::int64_t divisor, count;
  };
  const loop_nest& loops_;
  std::vector<part> digits_;
};

}  // namespace tilewright::dependence
