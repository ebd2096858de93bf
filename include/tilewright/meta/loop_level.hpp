// A loop of a tiled axis as a template argument: i[0] is the outermost of the loops that i became.
#pragma once

#include <cstddef>
#include <string_view>

namespace tilewright::meta {

/// Axis name and level; a structural type, so that `reorder<i[0], j[0], i[1]>` can be written.
struct loop_level {
  static constexpr std::size_t capacity = 32;
  char text[capacity]{};
  std::size_t length = 0;  // characters of text
  int level = 0;           // 0 outermost

  constexpr loop_level(std::string_view name, int which) : length(name.size()), level(which) {
    for (std::size_t i = 0; i < length && i < capacity; ++i) text[i] = name[i];
  }
  constexpr std::string_view axis() const { return {text, length}; }
  friend constexpr bool operator==(const loop_level&, const loop_level&) = default;
};

}  // namespace tilewright::meta
