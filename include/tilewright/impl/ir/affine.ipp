#pragma once

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/ir/equal.hpp>

namespace tilewright::ir {
namespace detail {

inline std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Adds up what is equal.
struct affine_sink {
  affine& to;

  void add(std::int64_t number) { to.constant = wrapping_sum(to.constant, number); }
  void add(std::int64_t factor, const expr& atom) {
    for (auto term = to.terms.begin(); term != to.terms.end(); ++term) {
      if (!equal(term->first, atom)) continue;
      term->second = wrapping_sum(term->second, factor);
      if (term->second == 0) to.terms.erase(term);
      return;
    }
    if (factor != 0) to.terms.emplace_back(atom, factor);
  }
};

inline void accumulate(affine& to, const expr& e, std::int64_t factor) {
  affine_sink sink{to};
  add_parts(e, factor, sink);
}

}  // namespace detail

TILEWRIGHT_INLINE detail::affine detail::to_affine(const expr& e) {
  affine out;
  out.type = e.type();
  accumulate(out, e, 1);
  return out;
}

TILEWRIGHT_INLINE expr detail::from_affine(const affine& a) {
  expr out = integer(a.type, 0);
  for (const auto& [atom, factor] : a.terms) out = out + atom * integer(a.type, factor);
  return a.constant < 0 ? out - integer(a.type, -a.constant) : out + integer(a.type, a.constant);
}

TILEWRIGHT_INLINE expr detail::affine_difference(const expr& a, const expr& b) {
  affine out = to_affine(a);
  accumulate(out, b, -1);
  return from_affine(out);
}

TILEWRIGHT_INLINE std::optional<std::int64_t> detail::literal_difference(const expr& a,
                                                                         const expr& b) {
  affine out = to_affine(a);
  accumulate(out, b, -1);
  return out.terms.empty() ? std::optional(from_affine(out)->integer) : std::nullopt;
}

TILEWRIGHT_INLINE expr detail::extent_between(const expr& start, const expr& stop) {
  if (is_int(start, 0)) return stop;
  if (is_int(start) && is_int(stop)) return stop - start;
  // The printer writes `min + extent`; this recovers the extent as it was.
  if (stop->op == op::add && equal(stop->args[0], start)) return stop->args[1];
  return affine_difference(stop, start);
}

}  // namespace tilewright::ir
