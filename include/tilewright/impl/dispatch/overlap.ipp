#pragma once

#include <algorithm>
#include <array>

#include <tilewright/dispatch/overlap.hpp>

namespace tilewright::dispatch {
namespace detail {

/// Which differences between addresses of two tensors there are: `from` plus a multiple from 0 to
/// `most` of each step.
class address_differences {
 public:
  address_differences(const strided_memory& a, const strided_memory& b)
      : from_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data) -
                                        reinterpret_cast<std::uintptr_t>(b.data))) {
    for (std::size_t d = 0; d < a.rank; ++d) add(a.strides[d] * a.element_bytes, a.extents[d]);
    for (std::size_t d = 0; d < b.rank; ++d) add(-b.strides[d] * b.element_bytes, b.extents[d]);
    std::sort(terms_.begin(), terms_.begin() + count_,
              [](const term& x, const term& y) { return x.step > y.step; });
  }

  /// Whether one of them lies in [lo, hi]; true when that is not clear after many attempts.
  bool meet(std::int64_t lo, std::int64_t hi) {
    std::int64_t reach = 0;  // of this and all smaller steps
    for (std::ptrdiff_t t = count_; t-- > 0;) {
      reach += terms_[static_cast<std::size_t>(t)].step * terms_[static_cast<std::size_t>(t)].most;
      terms_[static_cast<std::size_t>(t)].reach = reach;
    }
    attempts_ = 1000;
    return meet(0, lo - from_, hi - from_);
  }

 private:
  struct term {
    std::int64_t step, most, reach;
  };

  void add(std::int64_t step, std::int64_t extent) {
    if (extent <= 1 || step == 0) return;
    if (step < 0) {
      from_ += step * (extent - 1);
      step = -step;
    }
    const auto end = terms_.begin() + count_;
    const auto same =
        std::find_if(terms_.begin(), end, [&](const term& t) { return t.step == step; });
    if (same != end)
      same->most += extent - 1;
    else
      terms_[static_cast<std::size_t>(count_++)] = {step, extent - 1, 0};
  }

  /// With the terms from `first` on.
  bool meet(std::ptrdiff_t first, std::int64_t lo, std::int64_t hi) {
    if (first == count_) return lo <= 0 && 0 <= hi;
    if (--attempts_ < 0) return true;
    const term& t = terms_[static_cast<std::size_t>(first)];
    const std::int64_t rest = t.reach - t.step * t.most;
    // the largest steps first: the others reach from one multiple of them to a few next ones
    const std::int64_t least = lo - rest <= 0 ? 0 : (lo - rest - 1) / t.step + 1;
    const std::int64_t last = hi < 0 ? -1 : std::min(t.most, hi / t.step);
    for (std::int64_t k = least; k <= last; ++k)
      if (meet(first + 1, lo - k * t.step, hi - k * t.step)) return true;
    return false;
  }

  std::int64_t from_;
  std::array<term, 16> terms_{};
  std::ptrdiff_t count_ = 0;
  int attempts_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE bool share_memory(const strided_memory& a, const strided_memory& b) {
  return detail::address_differences(a, b).meet(1 - a.element_bytes, b.element_bytes - 1);
}

}  // namespace tilewright::dispatch
