// One dimension of a tensor as a template argument: a name bound at the call, or a number.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tilewright/meta/name.hpp>

namespace tilewright {

/// "M" or 64. The constructors are constexpr, not consteval, for clang 14.
struct dim {
  static constexpr std::size_t capacity = 32;
  char text[capacity]{};
  std::int64_t extent = 0;  // elements; 0 when the dimension is named
  std::size_t length = 0;   // characters of text

  template <std::size_t N>
  requires(N <= capacity) constexpr dim(const char (&literal)[N]) : length(N - 1) {  // NOLINT
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  template <std::integral T>
  constexpr dim(T value) : extent(static_cast<std::int64_t>(value)) {}  // NOLINT
};

namespace meta {

/// Named dimension as a type.
template <class Name>
struct dim_name {
  static constexpr std::string_view text = text_of<Name>;
  static constexpr std::int64_t extent = 0;
};

/// Static dimension as a type.
template <std::int64_t Extent>
struct dim_extent {
  static_assert(Extent > 0, "tilewright: a static extent needs to be positive");
  static constexpr std::string_view text{};
  static constexpr std::int64_t extent = Extent;
};

namespace detail {
template <dim D, bool Named, class Indices>
struct dim_type {
  using type = dim_extent<D.extent>;
};
template <dim D, std::size_t... I>
struct dim_type<D, true, std::index_sequence<I...>> {
  using type = dim_name<name<D.text[I]...>>;
};
}  // namespace detail

/// dim{"M"} -> dim_name<name<'M'>>, dim{64} -> dim_extent<64>.
template <dim D>
using to_dim =
    typename detail::dim_type<D, D.length != 0, std::make_index_sequence<D.length>>::type;

}  // namespace meta
}  // namespace tilewright
