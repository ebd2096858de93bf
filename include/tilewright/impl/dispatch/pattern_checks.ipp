#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <tilewright/dispatch/pattern_checks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/content_number.hpp>
#include <tilewright/support/sparse_pattern.hpp>

namespace tilewright::dispatch {
namespace detail {

using support::pattern_view;

/// Calls `use` with each sparse argument of the call.
template <class Use>
void each_pattern(const kernel_signature& kernel, const std::vector<search::operand>& operands,
                  const call_argument* a, const Use& use) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const search::operand& o = operands[i];
    if (!o.offsets || kernel.params[i].checked) continue;
    const std::size_t k = o.offsets->parameter;
    const auto look = [&]<class Index>(const Index* offsets) {
      use(pattern_view<Index>{offsets, static_cast<const Index*>(a[k].data), a[i].extents[0] - 1,
                              a[k].extents[kernel.params[k].rank()], a[k].extents[0], o.name,
                              operands[k].name, kernel.params[i].by_columns});
    };
    if (o.type == dtype::i64)
      look(static_cast<const std::int64_t*>(a[i].data));
    else
      look(static_cast<const std::int32_t*>(a[i].data));
  }
}

template <class Index>
void check_pattern(const kernel_signature& kernel, const pattern_view<Index>& p) {
  const std::string wrong = support::wrong_pattern(p);
  if (!wrong.empty()) throw argument_error(kernel.name + ": " + wrong);
}

/// Where a pattern lies, and a sample of it.
struct known_pattern {
  const void *offsets = nullptr, *indices = nullptr;
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  std::uint64_t sample = 0;
  friend bool operator==(const known_pattern&, const known_pattern&) = default;
};

template <class Index>
std::uint64_t sample_of(const Index* data, std::int64_t count, std::uint64_t h) {
  constexpr std::int64_t looks = 64;
  const std::int64_t step = std::max<std::int64_t>(1, count / looks);
  for (std::int64_t k = 0; k < count; k += step)
    h = (h ^ static_cast<std::uint64_t>(data[k])) * 1099511628211u;
  return count > 0 ? (h ^ static_cast<std::uint64_t>(data[count - 1])) * 1099511628211u : h;
}

template <class Index>
known_pattern known_form(const pattern_view<Index>& p) {
  const std::uint64_t h = sample_of(p.offsets, p.rows + 1, 14695981039346656037u);
  return {p.offsets, p.indices, p.rows, p.columns, p.nonzeros, sample_of(p.indices, p.nonzeros, h)};
}

/// The patterns that this thread checked last.
struct pattern_memory {
  std::array<known_pattern, 8> last;
  std::size_t next = 0;

  bool knows(const known_pattern& p) const { return support::contains(last, p); }
  void keep(const known_pattern& p) { last[next++ % last.size()] = p; }
};

}  // namespace detail

TILEWRIGHT_INLINE void check_patterns(const kernel_signature& kernel,
                                      const std::vector<search::operand>& operands,
                                      const call_argument* a) {
  detail::each_pattern(kernel, operands, a,
                       [&](const auto& p) { detail::check_pattern(kernel, p); });
}

TILEWRIGHT_INLINE void check_new_patterns(const kernel_signature& kernel,
                                          const std::vector<search::operand>& operands,
                                          const call_argument* a) {
  thread_local detail::pattern_memory seen;
  detail::each_pattern(kernel, operands, a, [&](const auto& p) {
    const detail::known_pattern form = detail::known_form(p);
    if (seen.knows(form)) return;
    detail::check_pattern(kernel, p);
    seen.keep(form);
  });
}

TILEWRIGHT_INLINE std::uint64_t number_of_offsets(const std::vector<search::operand>& operands,
                                                  const call_argument* a, bool may_change) {
  std::uint64_t out = 1;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].offsets) continue;
    const auto count = a[i].extents[0];
    const auto size = static_cast<std::size_t>(bytes(operands[i].type));
    if (may_change) {
      out = support::content_number(a[i].data, static_cast<std::size_t>(count) * size, out);
      continue;
    }
    out = support::content_number(&a[i].data, sizeof a[i].data, out);
    out = operands[i].type == dtype::i64
              ? detail::sample_of(static_cast<const std::int64_t*>(a[i].data), count, out)
              : detail::sample_of(static_cast<const std::int32_t*>(a[i].data), count, out);
  }
  return out;
}

}  // namespace tilewright::dispatch
