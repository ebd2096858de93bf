// What a call brings that a tuning session takes over: where its data lie, and copies of their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright::dispatch::detail {

/// Where a caller's data lie in their cache line: candidates are timed on data that lie the same,
/// since loads across lines cost more. What is yet to come may lie as `malloc` lets it.
inline search::placement placement_of(const call_argument& a) {
  constexpr std::size_t line = 64;
  return {line,
          a.data ? reinterpret_cast<std::uintptr_t>(a.data) % line : alignof(std::max_align_t)};
}

/// Copies of what a call brings: the patterns of its sparse arguments, which decide what a schedule
/// is worth, and where the options ask for it all the rest.
inline search::given_values values_of(const kernel_signature& kernel, const search::workload& w,
                                      const call_argument* arguments, search::timing_data wanted) {
  search::given_values out;
  const std::vector<search::operand> all = search::operands(w.function);
  std::vector<bool> copied(all.size(), wanted == search::timing_data::copied);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].offsets)
      copied[i] = copied[all[i].offsets->parameter] = true;
    else if (kernel.params[i].checked)
      copied[i] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::int64_t>& strides = w.layouts[i].strides;  // empty: dense, as declared
    out.emplace_back();
    if (arguments[i].data && copied[i])
      out.back() = packed_elements(all[i], static_cast<const std::byte*>(arguments[i].data),
                                   strides.empty() ? all[i].strides : strides);
  }
  return out;
}

}  // namespace tilewright::dispatch::detail
