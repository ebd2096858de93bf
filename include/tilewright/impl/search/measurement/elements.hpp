// Elements of outputs as the comparisons see them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <tilewright/impl/search/measurement/element_parts.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::search::detail {

inline double float_at(dtype type, const std::byte* at) {
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case dtype::f64: return as(0.0);
    case dtype::f32: return static_cast<double>(as(0.0f));
    case dtype::f16: return static_cast<double>(static_cast<float>(as(float16{})));
    case dtype::bf16: return static_cast<double>(static_cast<float>(as(bfloat16{})));
    default: return is_narrow_float(type) ? widen_narrow(type, as(std::uint8_t{})) : 0;
  }
}

/// What `use` makes of a function that reads an element at an address: one for each common type, so that loops
/// need not ask for it.
template <class Use>
auto with_reader(dtype type, const Use& use) {
  if (type == dtype::f32)
    return use([](const std::byte* at) {
      float value;
      std::memcpy(&value, at, sizeof value);
      return static_cast<double>(value);
    });
  if (type == dtype::f16) return use([](const std::byte* at) { return float_at(dtype::f16, at); });
  return use([type](const std::byte* at) { return float_at(type, at); });
}

/// The index of an element by its number in row-major order.
inline std::vector<std::int64_t> unflatten(std::int64_t position,
                                           const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> out(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    out[d] = position % extents[d];
    position /= extents[d];
  }
  return out;
}

inline std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& extents) {
  std::string out;
  for (std::size_t d = extents.size(); d-- > 0;) {
    out = std::to_string(flat % extents[d]) + (out.empty() ? "" : ", ") + out;
    flat /= extents[d];
  }
  return "[" + out + "]";
}

/// Calls `f(offset)` for each element in row-major order. // elements
template <class F>
inline void each_offset(const std::vector<std::int64_t>& extents,
                        const std::vector<std::int64_t>& strides, const F& f) {
  const std::size_t rank = extents.size();
  if (support::any(extents, [](std::int64_t e) { return e <= 0; })) return;
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (;;) {
    f(offset);
    std::size_t d = rank;
    while (d-- > 0) {
      offset += strides[d];
      if (++index[d] < extents[d]) break;
      offset -= index[d] * strides[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

/// Nothing rounds.
inline bool has_no_floats(const std::vector<operand>& all) {
  return support::none(all, [](const operand& o) { return is_float(o.type); });
}

/// Of the finite elements.
inline double root_mean_square(dtype type, std::span<const std::byte> elements) {
  const auto size = static_cast<std::size_t>(bytes(type));
  struct sum {
    double squares = 0;
    std::size_t finite = 0;
  };
  std::vector<sum> sums(parts_of(elements.size() / size));
  with_reader(type, [&](const auto& read) {
    in_parts(elements.size() / size, [&](std::size_t part, std::size_t first, std::size_t end) {
      sum s;
      for (std::size_t i = first; i < end; ++i)
        if (const double v = read(&elements[i * size]); std::isfinite(v))
          s.squares += v * v, ++s.finite;
      sums[part] = s;
    });
  });
  sum all;
  for (const sum& s : sums) all.squares += s.squares, all.finite += s.finite;
  return all.finite ? std::sqrt(all.squares / static_cast<double>(all.finite)) : 0;
}

inline double relative_tolerance(dtype type, const value_needs& needs) {
  const double usual = std::max(epsilon_of(type), needs.epsilon) *
                       (16 + 4 * std::sqrt(static_cast<double>(needs.reduction)));
  return std::max(usual, needs.error);
}

}  // namespace tilewright::search::detail
