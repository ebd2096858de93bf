// What a call of a kernel takes in one of several formats of its matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tilewright/dispatch/signature.hpp>
#include <tilewright/impl/model/formats/formatted_kernel.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::detail {

/// The arguments of a call, with memory of their own where it writes.
class copied_results {
 public:
  copied_results(const dispatch::kernel_signature& kernel, const dispatch::call_argument* a)
      : list_(a, a + kernel.params.size()), copies_(kernel.params.size()) {
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (kernel.params[i].written) copy(i, kernel.params[i]);
  }
  const dispatch::call_argument* list() const { return list_.data(); }
  /// Results are what they were before the first call.
  void restore() {
    for (one_copy& c : copies_)
      if (!c.bytes.empty()) std::memcpy(c.bytes.data(), c.from, c.bytes.size());
  }

 private:
  struct one_copy {
    const std::byte* from = nullptr;
    std::vector<std::byte> bytes;
  };

  void copy(std::size_t i, const dispatch::parameter_signature& p) {
    std::int64_t first = 0, last = 0;  // elements, from element 0
    for (std::size_t d = 0; d < p.rank(); ++d) {
      if (list_[i].extents[d] == 0) return;
      const std::int64_t way = (list_[i].extents[d] - 1) * list_[i].strides[d];
      (way < 0 ? first : last) += way;
    }
    const std::int64_t size = tilewright::bytes(p.type);
    one_copy& c = copies_[i];
    c.from = static_cast<const std::byte*>(list_[i].data) + first * size;
    c.bytes.resize(static_cast<std::size_t>((last - first + 1) * size));
    list_[i].data = c.bytes.data() - first * size;
  }

  std::vector<dispatch::call_argument> list_;
  std::vector<one_copy> copies_;  // [arrays]; empty for what is only read
};

/// Whole calls with the arguments of one, whose results stay as they are.
class timed_call {
 public:
  timed_call(const formatted_kernel& kernel, const dispatch::call_argument* a)
      : kernel_(kernel), own_(kernel.code(0).signature(), a) {}

  /// The fastest of three calls, or one that is so slow that it needs none before it, with what moves values to their
  /// places and back.
  /// @param converted null: compressed rows
  search::measurement visit(std::size_t choice, const converted_arrays* converted) {
    constexpr double slow = 0.01;  // s
    double best = once(choice, converted);
    for (int again = 0; again < 2 && best < slow; ++again)
      best = std::min(best, once(choice, converted));
    search::measurement out;
    out.seconds.push_back(best);
    return out;
  }

 private:
  double once(std::size_t choice, const converted_arrays* converted) {
    own_.restore();
    const double before = seconds_now();
    kernel_.with(
        choice, converted, own_.list(),
        [](dispatch::dispatcher& d, const dispatch::call_argument* all) { d.call(all); }, true);
    return seconds_now() - before;
  }

  const formatted_kernel& kernel_;
  copied_results own_;
};

}  // namespace tilewright::detail
