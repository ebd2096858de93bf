#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/argument_checks.hpp>
#include <tilewright/dispatch/overlap.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch {
namespace detail {

[[noreturn]] inline void refuse_call(const kernel_signature& kernel, const std::string& what) {
  throw argument_error(kernel.name + ": " + what);
}

/// Between one that is written and another one.
[[noreturn]] inline void refuse_overlap(const kernel_signature& kernel,
                                        const parameter_signature& written,
                                        const parameter_signature& other) {
  const bool in_place = !written.updated && !other.written;
  refuse_call(kernel,
              (written.updated ? "inout \"" : "output \"") + written.name + "\" overlaps \"" +
                  other.name + "\"; give it memory of its own" +
                  (in_place ? ", or declare one parameter inout in the place of both" : ""));
}

/// Whether all of `count` elements side by side are in [lo, hi]. The inner loop has a constant length, for compilers
/// that make vectors of such loops alone, and is so long that adding up the lanes after it takes no time.
template <class T>
[[gnu::always_inline]] inline bool all_within_vectors(const T* data, std::int64_t count, T lo,
                                                      T hi) {
  constexpr std::int64_t step = 256;
  std::int64_t k = 0;
  for (; k + step <= count; k += step) {
    T outside = 0;
    for (std::int64_t t = 0; t < step; ++t)
      outside = static_cast<T>(outside | static_cast<T>(data[k + t] < lo) |
                               static_cast<T>(data[k + t] > hi));
    if (outside != 0) return false;
  }
  for (; k < count; ++k)
    if (data[k] < lo || data[k] > hi) return false;
  return true;
}

#if TILEWRIGHT_X86
template <class T>
[[gnu::target("avx2")]] inline bool all_within_avx2(const T* data, std::int64_t count, T lo, T hi) {
  return all_within_vectors(data, count, lo, hi);
}
#endif

/// The same, with the vectors of this machine whatever the program was compiled for: 65,536 indices take 3 us
/// instead of 20.
template <class T>
inline bool all_within(const T* data, std::int64_t count, T lo, T hi) {
#if TILEWRIGHT_X86
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return all_within_avx2(data, count, lo, hi);
#endif
  return all_within_vectors(data, count, lo, hi);
}

/// True when the elements lie side by side in row-major order and all are in the range, or when the
/// type has no others.
template <class T>
inline bool surely_inside(const search::operand& o, const T* data, const std::int64_t* strides) {
  using limits = std::numeric_limits<T>;
  const search::operand::index_range& range = *o.index;
  if (range.last < 0 || std::cmp_greater(range.first, limits::max())) return false;
  const T lo = std::cmp_less(range.first, limits::min()) ? limits::min()
                                                         : static_cast<T>(range.first),
          hi = std::cmp_greater(range.last, limits::max()) ? limits::max()
                                                           : static_cast<T>(range.last);
  if (lo == limits::min() && hi == limits::max()) return true;
  std::int64_t count = 1;
  for (std::size_t d = o.extents.size(); d-- > 0;) {
    if (o.extents[d] > 1 && strides[d] != count) return false;
    count *= o.extents[d];
  }
  return all_within(data, count, lo, hi);
}

/// First element of a strided tensor that is outside the range, as text; empty when there is none.
template <class T>
inline std::string find_outside(const search::operand& o, const T* data,
                                const std::int64_t* strides) {
  if (surely_inside(o, data, strides)) return {};
  const std::size_t rank = o.extents.size();
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t n = o.elements(), k = 0; k < n; ++k) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset += index[d] * strides[d];
    const T raw = data[offset];
    const bool huge = std::is_unsigned_v<T> && sizeof(T) == 8 && raw > static_cast<T>(INT64_MAX);
    const auto value = static_cast<std::int64_t>(raw);
    if (huge || value < o.index->first || value > o.index->last) {
      std::string out = "\"" + o.name + "\"[";
      for (std::size_t d = 0; d < rank; ++d) out += (d ? ", " : "") + std::to_string(index[d]);
      return out + "] is " + (huge ? std::string("beyond every extent") : std::to_string(value));
    }
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < o.extents[d]) break;
      index[d] = 0;
    }
  }
  return {};
}

inline std::string find_outside(const search::operand& o, const void* data,
                                const std::int64_t* strides) {
  switch (o.type) {
    case dtype::i8: return find_outside(o, static_cast<const std::int8_t*>(data), strides);
    case dtype::i16: return find_outside(o, static_cast<const std::int16_t*>(data), strides);
    case dtype::i32: return find_outside(o, static_cast<const std::int32_t*>(data), strides);
    case dtype::i64: return find_outside(o, static_cast<const std::int64_t*>(data), strides);
    case dtype::u8: return find_outside(o, static_cast<const std::uint8_t*>(data), strides);
    case dtype::u16: return find_outside(o, static_cast<const std::uint16_t*>(data), strides);
    case dtype::u32: return find_outside(o, static_cast<const std::uint32_t*>(data), strides);
    case dtype::u64: return find_outside(o, static_cast<const std::uint64_t*>(data), strides);
    default: return {};
  }
}

inline strided_memory memory_of(const kernel_signature& kernel, const call_argument* a,
                                std::size_t i) {
  return {a[i].data, a[i].extents, a[i].strides, kernel.params[i].dims.size(),
          bytes(kernel.params[i].type)};
}

}  // namespace detail

TILEWRIGHT_INLINE search::extent_map bound_extents(const kernel_signature& kernel,
                                                   const call_argument* a) {
  search::extent_map out;
  std::map<std::string, std::string, std::less<>> from;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const parameter_signature& p = kernel.params[i];
    for (std::size_t d = 0; d < p.extent_count(); ++d) {
      const parameter_signature::dimension& dim = p.dim(d);
      const std::int64_t given = a[i].extents[d] - dim.more;
      const std::string place = !dim.place.empty()
                                    ? dim.place
                                    : "dimension " + std::to_string(d) + " of \"" + p.name + "\"";
      if (given < 0)
        detail::refuse_call(
            kernel, place + " has extent " + std::to_string(given) + "; extents are not negative");
      if (dim.name.empty()) {
        if (given != dim.extent)
          detail::refuse_call(kernel, place + " has extent " + std::to_string(given) +
                                          "; the kernel says " + std::to_string(dim.extent));
        continue;
      }
      const auto [at, fresh] = out.emplace(dim.name, given);
      if (fresh) from[dim.name] = place;
      if (at->second != given)
        detail::refuse_call(kernel, "extent \"" + dim.name + "\" is " + std::to_string(at->second) +
                                        " at " + from[dim.name] + " and " + std::to_string(given) +
                                        " at " + place + "; they must agree");
    }
  }
  return out;
}

TILEWRIGHT_INLINE void check_strides(const kernel_signature& kernel, const call_argument* a) {
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const parameter_signature& p = kernel.params[i];
    std::vector<std::pair<std::int64_t, std::int64_t>> by_stride;  // |stride|, extent
    long double reach = 0;
    for (std::size_t d = 0; d < p.dims.size(); ++d) {
      if (a[i].extents[d] <= 1) continue;
      reach += static_cast<long double>(a[i].extents[d] - 1) *
               std::abs(static_cast<long double>(a[i].strides[d]));
      by_stride.emplace_back(a[i].strides[d] < 0 ? -a[i].strides[d] : a[i].strides[d],
                             a[i].extents[d]);
    }
    if (reach * static_cast<long double>(bytes(p.type)) > 0x1p62L)
      detail::refuse_call(kernel,
                          "the strides of \"" + p.name + "\" reach beyond what memory can hold");
    const bool empty = std::any_of(a[i].extents, a[i].extents + p.dims.size(),
                                   [](std::int64_t e) { return e == 0; });
    if (!p.written || empty) continue;
    std::sort(by_stride.begin(), by_stride.end());
    std::int64_t inner = 0;  // offset of the last element of the dimensions so far
    for (const auto& [stride, extent] : by_stride) {
      if (stride <= inner)
        detail::refuse_call(kernel, "the strides of output \"" + p.name +
                                        "\" put several elements into one place; a stride of " +
                                        std::to_string(stride) + " needs to be at least " +
                                        std::to_string(inner + 1));
      inner += stride * (extent - 1);
    }
  }
}

TILEWRIGHT_INLINE std::vector<touched_bytes> touched_bytes_of(const kernel_signature& kernel,
                                                              const call_argument* a) {
  std::vector<touched_bytes> out;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::size_t rank = kernel.params[i].dims.size();
    const search::memory_span s =
        search::span_of({a[i].extents, a[i].extents + rank}, {a[i].strides, a[i].strides + rank});
    touched_bytes t;
    t.element_bytes = bytes(kernel.params[i].type);
    t.written = kernel.params[i].written;
    if (s.first <= s.last) {
      t.first = s.first * t.element_bytes;
      t.last = s.last * t.element_bytes + t.element_bytes - 1;
    }
    out.push_back(t);
  }
  return out;
}

TILEWRIGHT_INLINE void check_memory(const kernel_signature& kernel,
                                    const std::vector<touched_bytes>& touched,
                                    const call_argument* a) {
  const std::size_t n = touched.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (touched[i].none()) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(a[i].data);
    if (address == 0)
      detail::refuse_call(kernel,
                          "the data of \"" + kernel.params[i].name + "\" are a null pointer");
    if ((address & static_cast<std::uintptr_t>(touched[i].element_bytes - 1)) != 0)
      detail::refuse_call(kernel, "the data of \"" + kernel.params[i].name +
                                      "\" are not aligned to its element type");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!touched[i].written || touched[i].none()) continue;
    const auto* at = static_cast<const char*>(a[i].data);
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i || (touched[k].written && k < i) || touched[k].none()) continue;
      const auto* other = static_cast<const char*>(a[k].data);
      if (at + touched[i].first <= other + touched[k].last &&
          other + touched[k].first <= at + touched[i].last &&
          share_memory(detail::memory_of(kernel, a, i), detail::memory_of(kernel, a, k)))
        detail::refuse_overlap(kernel, kernel.params[i], kernel.params[k]);
    }
  }
}

TILEWRIGHT_INLINE void check_indices(const kernel_signature& kernel,
                                     const std::vector<search::operand>& operands,
                                     const call_argument* a) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const search::operand& o = operands[i];
    if (!o.index) continue;
    const std::string outside = detail::find_outside(o, a[i].data, a[i].strides);
    if (!outside.empty())
      detail::refuse_call(kernel, outside + "; as an index it must be in [" +
                                      std::to_string(o.index->first) + ", " +
                                      std::to_string(o.index->last) + "]");
  }
}

}  // namespace tilewright::dispatch
