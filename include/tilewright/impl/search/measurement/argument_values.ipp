#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::search {
namespace detail {

/// What values a parameter gets.
struct value_range {
  double low = -1, high = 1;          // floats
  std::int64_t first = -8, last = 8;  // integers
};

/// Factor of all floats, so that exponents that are sums of products are of middling size.
inline double scale_of(const value_needs& needs) {
  if (!needs.exponential) return 1;
  return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, needs.reduction)));
}

inline value_range values_for(const operand& o, const value_needs& needs) {
  value_range v;
  if (needs.positive) v.low = 0.25, v.high = 1.25;
  v.low *= scale_of(needs), v.high *= scale_of(needs);
  if (is_unsigned(o.type)) v.first = 0, v.last = 15;
  if (needs.integer_divisor) v.first = 1;
  if (o.type == dtype::boolean) v.first = 0, v.last = 1;
  if (o.index) {
    const int width = std::min(31, bits(o.type) - (is_unsigned(o.type) ? 0 : 1));
    const std::int64_t most = std::min(o.index->last, (std::int64_t{1} << width) - 1);
    const bool is_narrow = most < (1LL << 30) && o.index->first > -(1LL << 30);
    v.first = std::max<std::int64_t>(o.index->first, is_narrow ? o.index->first : 0);
    v.last = std::max(v.first, most);
    if (v.last - v.first > (1LL << 20)) v.first = 0, v.last = 8;  // no bound was found
  }
  return v;
}

inline void put_integer(std::byte* at, dtype type, std::int64_t value) {
  value = ir::wrap_to(type, value);
  std::memcpy(at, &value, static_cast<std::size_t>(bytes(type)));  // little-endian: the low bytes
}

inline void put_float(std::byte* at, dtype type, double real) {
  const auto store = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (type) {
    case dtype::f64: store(real); return;
    case dtype::f32: store(static_cast<float>(real)); return;
    case dtype::f16: store(float16(static_cast<float>(real)).bits); return;
    case dtype::bf16: store(bfloat16(static_cast<float>(real)).bits); return;
    default: store(round_to_narrow(type, real));
  }
}

inline void put_value(std::byte* at, dtype type, const value_range& v, support::random& r) {
  if (is_float(type)) return put_float(at, type, v.low + (v.high - v.low) * r.unit());
  const auto range = static_cast<std::uint64_t>(v.last - v.first) + 1;
  put_integer(at, type, v.first + static_cast<std::int64_t>(r.below(range)));
}

/// Half of the values are an end of the range, some are next to zero, the others anything.
inline void put_extreme_integer(std::byte* at, dtype type, support::random& r) {
  const int width = bits(type) - (is_unsigned(type) ? 0 : 1);
  const std::uint64_t last = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t draw = r.next();
  switch (draw & 7) {
    case 0:
    case 1: return put_integer(at, type, static_cast<std::int64_t>(last));
    case 2:
    case 3: return put_integer(at, type, is_unsigned(type) ? 0 : static_cast<std::int64_t>(~last));
    case 4: return put_integer(at, type, static_cast<std::int64_t>(draw >> 8 & 3) - 1);
    default: return put_integer(at, type, static_cast<std::int64_t>(draw >> 3));
  }
}

/// How extreme floats of one parameter are made.
class extreme_floats {
 public:
  extreme_floats(dtype type, const value_needs& needs, std::size_t number)
      : type_(type),
        positive_(needs.positive),
        scale_(scale_of(needs)),
        coarse_(!needs.product && !needs.joint) {
    // so that products of two parameters are of middling size, and nothing overflows that should not; the exponential of a
    // sum of products of three would show no more than how that was rounded
    const bool middling = type == dtype::f16 || needs.product || needs.exponential;
    const int reach = middling ? 0 : needs.positive ? 6 : 18;
    exponent_ = number % 2 == 0 ? reach : -reach;
    spread_ = needs.reduction > 1 ? 0 : type == dtype::f16 ? 6 : reach;
  }

  void put(std::byte* at, support::random& r) const {
    const std::uint64_t draw = r.next();
    double v = 0.25 + r.unit();
    if (coarse_ && !positive_) v = static_cast<double>(draw & 7) - 3.5 + ((draw & 8) ? 0.5 : -0.5);
    if (v == 0 && (draw & 16)) v = -0.0;
    if (!coarse_ && (draw & 1)) v = -v;
    const int e =
        spread_ == 0
            ? exponent_
            : static_cast<int>((draw >> 8) % (2u * static_cast<unsigned>(spread_) + 1)) - spread_;
    put_float(at, type_, std::ldexp(v * scale_, e));
  }

 private:
  dtype type_;
  bool positive_;
  double scale_;
  bool coarse_;
  int exponent_ = 0;  // of all elements, where they add up
  int spread_ = 0;    // of each element, where they do not
};

/// Calls `put(address, stream)` for each element. Those of one part have a stream of their own, so that values don't
/// depend on the number of threads, nor on strides.
template <class Put>
void put_each(const operand& o, std::byte* element0, const std::vector<std::int64_t>& strides,
              support::random random, const Put& put) {
  const auto elements = static_cast<std::size_t>(o.elements());
  const std::int64_t size = bytes(o.type);
  std::vector<support::random> streams(1, random);
  for (std::size_t p = 1; p < parts_of(elements); ++p) streams.push_back(random.split());
  if (strides == row_major(o.extents))
    return in_parts(elements, [&](std::size_t part, std::size_t first, std::size_t end) {
      support::random mine = streams[part];
      for (std::size_t i = first; i < end; ++i)
        put(element0 + static_cast<std::int64_t>(i) * size, mine);
    });
  std::size_t n = 0;
  each_offset(o.extents, strides,
              [&](std::int64_t at) { put(element0 + at * size, streams[n++ / elements_of_part]); });
}

/// Offsets of rows of random lengths, some of them empty.
inline void make_up_offsets(const operand& o, std::byte* element0,
                            const std::vector<std::int64_t>& strides, support::random& random) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(o.elements()), 0);
  for (std::int64_t& v : values)
    v = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(o.offsets->last) + 1));
  values.front() = 0;
  values.back() = o.offsets->last;
  std::sort(values.begin(), values.end());
  const std::int64_t size = bytes(o.type);
  std::size_t next = 0;
  each_offset(o.extents, strides, [&](std::int64_t at) {
    std::memcpy(element0 + at * size, &values[next++], static_cast<std::size_t>(size));
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void make_up(const operand& o, const value_needs& needs, std::byte* element0,
                               const std::vector<std::int64_t>& strides, support::random random,
                               value_set set, std::size_t number) {
  if (o.offsets) return detail::make_up_offsets(o, element0, strides, random);
  const detail::value_range range = detail::values_for(o, needs);
  if (set == value_set::extreme && is_float(o.type) && !is_narrow_float(o.type)) {
    const detail::extreme_floats floats(o.type, needs, number);
    detail::put_each(o, element0, strides, random,
                     [&](std::byte* at, support::random& r) { floats.put(at, r); });
  } else if (set == value_set::extreme && is_integer(o.type) && !o.steers && !o.index) {
    detail::put_each(o, element0, strides, random, [&](std::byte* at, support::random& r) {
      detail::put_extreme_integer(at, o.type, r);
    });
  } else {
    detail::put_each(o, element0, strides, random, [&](std::byte* at, support::random& r) {
      detail::put_value(at, o.type, range, r);
    });
  }
}

TILEWRIGHT_INLINE std::vector<std::byte> packed_elements(const operand& o,
                                                         const std::byte* element0,
                                                         const std::vector<std::int64_t>& strides) {
  const std::int64_t size = bytes(o.type);
  if (strides == row_major(o.extents)) {
    const auto whole = static_cast<std::size_t>(o.elements() * size);
    return {element0, element0 + whole};
  }
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
  if (strides == row_major(o.extents)) {
    std::copy(elements.begin(), elements.end(), element0);
    return;
  }
  detail::each_offset(o.extents, strides, [&](std::int64_t at) {
    std::memcpy(element0 + at * size, from, static_cast<std::size_t>(size));
    from += size;
  });
}

}  // namespace tilewright::search
