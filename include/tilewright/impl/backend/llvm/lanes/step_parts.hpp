// Elements a few steps apart, out of the vectors that hold them and those between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>

namespace tilewright::backend::llvm::detail {

/// One group of `width` elements out of each `vectors.size()` groups that lie behind each other in the vectors: a vector.
inline value_ref every_group(const builder& b, std::int64_t lanes,
                             const std::vector<value_ref>& vectors, std::int64_t width,
                             std::int64_t group) {
  const std::int64_t step = width * static_cast<std::int64_t>(vectors.size());
  value_ref out = vectors[0];
  for (std::size_t v = 1; v < vectors.size(); ++v) {
    const auto number = static_cast<std::int64_t>(v);
    std::vector<std::int64_t> from;  // what `out` has, else what the next vector brings
    for (std::int64_t i = 0; i < lanes; ++i) {
      const std::int64_t element = i / width * step + group * width + i % width;
      if (element / lanes == number)
        from.push_back(lanes + element % lanes);
      else
        from.push_back(number == 1 && element < lanes ? element : i);
    }
    out = b.c.BuildShuffleVector(b.b, out, vectors[v], b.integers(b.i32, from), "");
  }
  return out;
}

/// The element at place `at` of each `vectors.size()` that lie behind each other in the vectors. Steps that are even come
/// down to pairs and so on first: what is shuffled for one element of a pair is what the other one needs, so that all
/// of six take 18 shuffles, where one after the other takes 30.
inline value_ref every(const builder& b, std::int64_t lanes, std::vector<value_ref> vectors,
                       std::int64_t at) {
  while (vectors.size() > 1) {
    auto step = static_cast<std::int64_t>(vectors.size()), width = step & -step;
    if (width == step) width /= 2;
    if (width > 1 && lanes % width != 0) width = 1;
    const auto count = static_cast<std::size_t>(step / width);
    std::vector<value_ref> groups;
    for (auto first = vectors.begin(); first != vectors.end();) {
      const auto next = first + static_cast<std::ptrdiff_t>(count);
      groups.push_back(every_group(b, lanes, {first, next}, width, at / width));
      first = next;
    }
    at %= width;
    vectors = std::move(groups);
  }
  return vectors[0];
}

}  // namespace tilewright::backend::llvm::detail
