// A stable sort of vectors that is small to compile: std::stable_sort is a dozen functions for
// every type and order, and clang 19 calls a part of libstdc++'s deprecated at each use.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// The numbers 0 to count - 1 in the order of `before`, equal ones ascending.
std::vector<std::size_t> sorted_order(std::size_t count, const void* context,
                                      bool (*before)(const void* context, std::size_t a,
                                                     std::size_t b));

/// Sorts a vector, or a short_vector, by `before`, a strict weak order; equal elements keep their
/// order.
template <class List, class Before>
void stable_sort(List& list, const Before& before) {
  struct view {
    const List& list;
    const Before& before;
  };
  const view all{list, before};
  const std::vector<std::size_t> order = sorted_order(
      list.size(), &all, [](const void* context, std::size_t a, std::size_t b) -> bool {
        const view& v = *static_cast<const view*>(context);
        return v.before(v.list[a], v.list[b]);
      });
  List sorted;
  sorted.reserve(list.size());
  for (const std::size_t from : order) sorted.push_back(std::move(list[from]));
  list = std::move(sorted);
}

}  // namespace tilewright::support
