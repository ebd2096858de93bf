// What the inspector of a kernel has computed of the patterns that calls came with, beside the code that reads it.
//
// Code whose elements list their rows (sparse_fuse) reads a list that depends on offsets alone. It is made once for a
// pattern (SparseTIR, ASPLOS 23: preprocessing) and kept with a number for the content of the offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::dispatch {

/// Any number of threads may ask at once.
class pattern_lists {
 public:
  static constexpr std::size_t most_kept = 8;  // patterns

  /// The lists of a pattern, made where it is none of those that calls came with last.
  /// @param pattern its number
  std::shared_ptr<const packed_weights> of(std::uint64_t pattern,
                                           const std::function<packed_weights()>& make) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = support::find(kept_, [&](const auto& k) { return k.first == pattern; });
      if (known != kept_.end()) {
        std::rotate(kept_.begin(), known, known + 1);
        return kept_.front().second;
      }
    }
    auto made = std::make_shared<const packed_weights>(make());
    const std::lock_guard lock(mutex_);
    if (kept_.size() == most_kept) kept_.pop_back();
    kept_.insert(kept_.begin(), {pattern, made});
    return made;
  }

 private:
  support::fork_mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const packed_weights>>>
      kept_;  // the last used one first
};

}  // namespace tilewright::dispatch
