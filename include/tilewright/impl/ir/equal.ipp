#pragma once

#include <vector>

#include <tilewright/impl/ir/text/structure.hpp>
#include <tilewright/ir/equal.hpp>

namespace tilewright::ir {
namespace detail {

/// Records a structure for comparison within the process.
template <bool FreeByIdentity>
struct word_sink {
  static constexpr bool block_names = false;
  static constexpr bool free_by_identity = FreeByIdentity;
  std::vector<std::uint64_t> words;
  void word(std::uint64_t w) { words.push_back(w); }
  void text(std::string_view t) {
    word(t.size());
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      packed = packed << 8 | static_cast<unsigned char>(t[i]);
      if (i % 8 == 7 || i + 1 == t.size()) word(std::exchange(packed, 0));
    }
  }
};

template <bool FreeByIdentity, class Tree>
bool same_structure(const Tree& a, const Tree& b) {
  using sink = word_sink<FreeByIdentity>;
  sink of_a, of_b;
  structure_writer<sink>(of_a).write(a);
  of_b.words.reserve(of_a.words.size());
  structure_writer<sink>(of_b).write(b);
  return of_a.words == of_b.words;
}

}  // namespace detail

TILEWRIGHT_INLINE bool equal(const function& a, const function& b) {
  return detail::same_structure<false>(a, b);
}
TILEWRIGHT_INLINE bool equal(const stmt& a, const stmt& b) {
  return a == b || detail::same_structure<true>(a, b);
}
TILEWRIGHT_INLINE bool equal(const expr& a, const expr& b) {
  return a.same(b) || detail::same_structure<true>(a, b);
}

}  // namespace tilewright::ir
