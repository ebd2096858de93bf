// Strings as template arguments.
//
// A fixed_string exists only at the surface, where users write "A"; inside, names are character
// packs (meta/name.hpp), since clang 14 prints a fixed_string argument as a list of numbers.
#pragma once

#include <cstddef>
#include <string_view>

namespace tilewright {

/// String literal that may stand as a template argument; N counts the terminating zero.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  constexpr fixed_string(const char (&literal)[N]) {  // NOLINT: implicit, so that "A" works
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::size_t size() const { return N - 1; }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace tilewright
