// An output's expected elements in the memory of a device, and the kernel that compares with them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// Elements that differ.
struct difference_count {
  std::int64_t count = 0;
  std::int64_t first =
      0;  // in the order of memory; where there is none, how many elements there are
};

class device_comparison {
 public:
  /// @param expected memory of the host, of `bytes`
  /// @throws build_error when the device has not enough memory for it, or does not take the code
  device_comparison(const backend::cuda::device& on, output_comparison how, const void* expected,
                    std::size_t bytes)
      : on_(on),
        how_(std::move(how)),
        parts_(static_cast<std::size_t>(comparison_parts(how_.elements))),
        expected_(on, bytes),
        tolerance_(on, 2 * sizeof(double)),
        counts_(on, parts_ * sizeof(std::int64_t)),
        firsts_(on, parts_ * sizeof(std::int64_t)),
        code_(on, how_.code) {
    on.copy_in(expected_.get(), expected, bytes);
    const double tolerance[] = {how_.relative, how_.scale};
    on.copy_in(tolerance_.get(), tolerance, sizeof tolerance);
  }

  std::size_t argument() const noexcept { return how_.argument; }
  backend::cuda::device_pointer expected() const noexcept { return expected_.get(); }

  /// Waits for what was started before. @throws build_error
  difference_count with(backend::cuda::device_pointer actual) const {
    // what the kernel does not write shall not look like an answer
    on_.fill(counts_.get(), 0xff, parts_ * sizeof(std::int64_t));
    on_.fill(firsts_.get(), 0xff, parts_ * sizeof(std::int64_t));
    void* const data[] = {expected_.data(), std::bit_cast<void*>(actual), tolerance_.data(),
                          counts_.data(), firsts_.data()};
    code_.start(data, nullptr, 0);
    std::vector<std::int64_t> counts(parts_), firsts(parts_);
    on_.copy_out(counts.data(), counts_.get(), parts_ * sizeof(std::int64_t));
    on_.copy_out(firsts.data(), firsts_.get(), parts_ * sizeof(std::int64_t));
    difference_count out{0, how_.elements};
    for (std::size_t i = 0; i < parts_; ++i) {
      if (counts[i] < 0 || firsts[i] < 0)
        throw build_error("a comparison of outputs on the device has not ended");
      out.count += counts[i];
      out.first = std::min(out.first, firsts[i]);
    }
    return out;
  }

 private:
  const backend::cuda::device& on_;
  output_comparison how_;
  std::size_t parts_;
  backend::cuda::device_memory expected_, tolerance_, counts_, firsts_;
  backend::cuda::device_code code_;
};

}  // namespace tilewright::search::detail
