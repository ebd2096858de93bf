#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include <tilewright/model/memory_plan.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::network {
namespace detail {

inline std::int64_t whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Every value in turn at the lowest place that is free for as long as it lives.
inline memory_plan plan_in_order(const std::vector<lifetime>& values,
                                 const std::vector<std::size_t>& order) {
  memory_plan out;
  out.offsets.assign(values.size(), 0);
  std::vector<std::size_t> placed;
  for (const std::size_t k : order) {
    const std::int64_t size = whole_lines(values[k].bytes);
    std::map<std::int64_t, std::int64_t> taken;  // begin to end
    for (const std::size_t other : placed)
      if (values[other].first <= values[k].last && values[k].first <= values[other].last) {
        std::int64_t& end = taken[out.offsets[other]];
        end = std::max(end, out.offsets[other] + whole_lines(values[other].bytes));
      }
    std::int64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - at >= size) break;
      at = std::max(at, end);
    }
    out.offsets[k] = at;
    out.size = std::max(out.size, at + size);
    placed.push_back(k);
  }
  return out;
}

}  // namespace detail

/// Large values first; then, as long as the plan is larger than it has to be, whatever stands at its end
/// is placed before all others.
TILEWRIGHT_INLINE memory_plan plan_memory(const std::vector<lifetime>& values) {
  constexpr int most_tries = 64;
  std::vector<std::size_t> order(values.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  support::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return values[a].bytes > values[b].bytes; });
  memory_plan best = detail::plan_in_order(values, order), last = best;
  const std::int64_t least = least_memory(values);
  for (int k = 0; k < most_tries && best.size > least; ++k) {
    const auto at_end = support::find(order, [&](std::size_t v) {
      return last.offsets[v] + detail::whole_lines(values[v].bytes) == last.size;
    });
    std::rotate(order.begin(), at_end, at_end + 1);
    last = detail::plan_in_order(values, order);
    if (last.size < best.size) best = last;
  }
  return best;
}

TILEWRIGHT_INLINE std::int64_t least_memory(const std::vector<lifetime>& values) {
  std::int64_t out = 0;
  for (const lifetime& at : values) {
    std::int64_t alive = 0;  // when `at` begins: the sum grows at no other step
    for (const lifetime& v : values)
      if (v.first <= at.first && at.first <= v.last) alive += detail::whole_lines(v.bytes);
    out = std::max(out, alive);
  }
  return out;
}

}  // namespace tilewright::network
