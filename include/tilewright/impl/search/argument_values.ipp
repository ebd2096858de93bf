#pragma once

#include <algorithm>
#include <cstring>

#include <tilewright/search/argument_values.hpp>
#include <tilewright/support/float16.hpp>
#include <tilewright/support/narrow_float.hpp>

namespace tilewright::search {
namespace detail {

/// What values a parameter gets.
struct value_range {
  double low = -1, high = 1;          // floats
  std::int64_t first = -8, last = 8;  // integers
};

inline value_range values_for(const operand& o, const value_needs& needs) {
  value_range v;
  if (needs.positive) v.low = 0.25, v.high = 1.25;
  if (is_unsigned(o.type)) v.first = 0, v.last = 15;
  if (needs.integer_divisor) v.first = 1;
  if (o.type == dtype::boolean) v.first = 0, v.last = 1;
  if (o.index) {
    const int width = std::min(31, bits(o.type) - (is_unsigned(o.type) ? 0 : 1));
    const std::int64_t most = std::min(o.index->last, (std::int64_t{1} << width) - 1);
    v.first = std::max<std::int64_t>(o.index->first, most < (1LL << 30) ? o.index->first : 0);
    v.last = std::max(v.first, most);
    if (v.last - v.first > (1LL << 20)) v.first = 0, v.last = 8;  // no bound was found
  }
  return v;
}

inline void put_value(std::byte* at, dtype type, const value_range& v, support::random& r) {
  const auto whole = [&] {
    return v.first +
           static_cast<std::int64_t>(r.below(static_cast<std::uint64_t>(v.last - v.first) + 1));
  };
  const auto store = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  const double real = is_float(type) ? v.low + (v.high - v.low) * r.unit() : 0;
  switch (type) {
    case dtype::f64: store(real); return;
    case dtype::f32: store(static_cast<float>(real)); return;
    case dtype::f16: store(float16(static_cast<float>(real)).bits); return;
    case dtype::bf16: store(bfloat16(static_cast<float>(real)).bits); return;
    default: break;
  }
  if (is_narrow_float(type)) return store(round_to_narrow(type, real));
  const std::int64_t value = ir::wrap_to(type, whole());
  std::memcpy(at, &value, static_cast<std::size_t>(bytes(type)));  // little-endian: the low bytes
}

/// Calls `f(offset)` for each element in row-major order. // elements
template <class F>
inline void each_offset(const std::vector<std::int64_t>& extents,
                        const std::vector<std::int64_t>& strides, const F& f) {
  const std::size_t rank = extents.size();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e <= 0; })) return;
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

}  // namespace detail

TILEWRIGHT_INLINE void make_up(const operand& o, const value_needs& needs, std::byte* element0,
                               const std::vector<std::int64_t>& strides, support::random random) {
  const detail::value_range range = detail::values_for(o, needs);
  const std::int64_t size = bytes(o.type);
  detail::each_offset(o.extents, strides, [&](std::int64_t at) {
    detail::put_value(element0 + at * size, o.type, range, random);
  });
}

TILEWRIGHT_INLINE std::vector<std::byte> packed_elements(const operand& o,
                                                         const std::byte* element0,
                                                         const std::vector<std::int64_t>& strides) {
  const std::int64_t size = bytes(o.type);
  std::vector<std::byte> out(static_cast<std::size_t>(o.elements() * size));
  std::byte* to = out.data();
  detail::each_offset(o.extents, strides, [&](std::int64_t at) {
    std::memcpy(to, element0 + at * size, static_cast<std::size_t>(size));
    to += size;
  });
  return out;
}

TILEWRIGHT_INLINE void unpack_elements(const operand& o, std::byte* element0,
                                       const std::vector<std::int64_t>& strides,
                                       const std::vector<std::byte>& elements) {
  const std::int64_t size = bytes(o.type);
  const std::byte* from = elements.data();
  detail::each_offset(o.extents, strides, [&](std::int64_t at) {
    std::memcpy(element0 + at * size, from, static_cast<std::size_t>(size));
    from += size;
  });
}

}  // namespace tilewright::search
