// Calls of a kernel in several formats of its matrix, timed in turns.
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

struct formatted_call {
  std::size_t choice;                 // of the kernel's formats
  const converted_arrays* converted;  // null: compressed rows
};

/// What calls take in each of several formats, with what moves values to their places and back. // [formats]
/// @param seconds that this may take, beside two turns
inline std::vector<search::measurement> timed_in_turns(const formatted_kernel& kernel,
                                                       const std::vector<formatted_call>& among,
                                                       const dispatch::call_argument* a,
                                                       double seconds) {
  constexpr int most_turns = 25;
  constexpr double slow = 0.01;  // s: a call that needs none before it
  copied_results own(kernel.code(0).signature(), a);
  std::vector<search::measurement> out(among.size());
  const double start = seconds_now();
  const auto once = [&](const formatted_call& f) {
    own.restore();
    const double before = seconds_now();
    kernel.with(
        f.choice, f.converted, own.list(),
        [](dispatch::dispatcher& d, const dispatch::call_argument* all) { d.call(all); }, true);
    return seconds_now() - before;
  };
  for (int turn = 0; turn < most_turns; ++turn) {
    for (std::size_t i = 0; i < among.size(); ++i) {
      double best = once(among[i]);
      for (int again = 0; again < 2 && best < slow; ++again) best = std::min(best, once(among[i]));
      out[i].seconds.push_back(best);
    }
    if (turn > 0 && seconds_now() - start > seconds) break;
  }
  return out;
}

}  // namespace tilewright::detail
