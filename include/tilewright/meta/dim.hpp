// One dimension of a tensor as a template argument: a name bound at the call, or a number, and how
// the elements along it are stored.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tilewright/meta/name.hpp>

namespace tilewright {

/// Which elements along a dimension have a place in memory.
enum class dim_storage : std::uint8_t {
  dense,       // all of them
  compressed,  // some; those below one element of the dimensions before lie side by side, between
               // two offsets, and each has its coordinate in an array of indices
  sell,        // some; a number of rows stands side by side, padded to the longest of them
  bsr,         // blocks of as many rows as columns, each stored whole
  ell,         // some; each row has as many places
  stored_like  // those that another tensor stores, in its order
};

/// "M" or 64. The constructors are constexpr, not consteval, for clang 14.
struct dim {
  static constexpr std::size_t capacity = 32;
  char text[capacity]{};
  std::int64_t extent = 0;  // elements; 0 when the dimension is named
  std::size_t length = 0;   // characters of text
  dim_storage storage = dim_storage::dense;
  int index_bits = 0;        // width of offsets and indices
  int group = 1;             // sell: rows side by side; bsr: rows of a block; ell: places of a row
  char pattern[capacity]{};  // stored_like: name of the other tensor
  std::size_t pattern_length = 0;  // characters of it

  template <std::size_t N>
  requires(N <= capacity) constexpr dim(const char (&literal)[N]) : length(N - 1) {  // NOLINT
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  template <std::integral T>
  constexpr dim(T value) : extent(static_cast<std::int64_t>(value)) {}  // NOLINT
};

namespace detail {
template <class Index>
constexpr dim store_some(dim whole, dim_storage storage, int group) {
  static_assert(std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>,
                "tilewright: the indices of a compressed dimension are std::int32_t or "
                "std::int64_t");
  whole.storage = storage;
  whole.group = group;
  whole.index_bits = static_cast<int>(8 * sizeof(Index));
  return whole;
}

constexpr dim store_where(dim whole, std::string_view pattern) {
  whole.storage = dim_storage::stored_like;
  for (std::size_t k = 0; k < pattern.size(); ++k) whole.pattern[k] = pattern[k];
  whole.pattern_length = pattern.size();
  return whole;
}
}  // namespace detail

/// A dimension of which only some elements are stored: `in<"A", float, "M", compressed<"K">>` is a
/// matrix of compressed sparse rows (CSR), with its offsets and indices of type `Index`.
template <dim Whole, class Index = std::int32_t>
inline constexpr dim compressed = detail::store_some<Index>(Whole, dim_storage::compressed, 1);

/// The same elements as those of `compressed`, for vectors: `in<"A", float, "M", sell<"K", 8>>` takes a
/// `sell_matrix<float, 8>`, in which eight rows stand side by side (SELL-C-sigma).
template <dim Whole, int Lanes = 8, class Index = std::int32_t>
inline constexpr dim sell = detail::store_some<Index>(Whole, dim_storage::sell, Lanes);

/// Blocks of `Block` rows and columns, of which each is stored whole: `in<"A", float, "M", bsr<"K", 16>>`
/// takes a `bsr_matrix<float, 16>`.
template <dim Whole, int Block, class Index = std::int32_t>
inline constexpr dim bsr = detail::store_some<Index>(Whole, dim_storage::bsr, Block);

/// As many places for each row, of which the first hold its elements: `in<"A", float, "M", ell<"K", 27>>`
/// takes an `ell_matrix<float, 27>`.
template <dim Whole, int Width, class Index = std::int32_t>
inline constexpr dim ell = detail::store_some<Index>(Whole, dim_storage::ell, Width);

/// The elements that the compressed parameter `Pattern` stores: `out<"S", float, "M",
/// stored_like<"N", "A">>` is the matrix of values for the offsets and indices of `A`, whose dimensions
/// are "M" and "N".
template <dim Whole, fixed_string Pattern>
inline constexpr dim stored_like = detail::store_where(Whole, Pattern.view());

namespace meta {

/// What a dense dimension says of its storage.
struct dense_storage {
  static constexpr dim_storage storage = dim_storage::dense;
  static constexpr int index_bits = 0, group = 1;
  static constexpr std::string_view pattern{};
};

/// Named dimension as a type.
template <class Name>
struct dim_name : dense_storage {
  static constexpr std::string_view text = text_of<Name>;
  static constexpr std::int64_t extent = 0;
};

/// Static dimension as a type.
template <std::int64_t Extent>
struct dim_extent : dense_storage {
  static_assert(Extent > 0, "tilewright: a static extent needs to be positive");
  static constexpr std::string_view text{};
  static constexpr std::int64_t extent = Extent;
};

/// Compressed dimension as a type; Whole is the dense one.
template <class Whole, int IndexBits>
struct dim_compressed {
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = dim_storage::compressed;
  static constexpr int index_bits = IndexBits, group = 1;
  static constexpr std::string_view pattern{};
};

/// Dimension of which a format of ours stores some elements as a type; Whole is the dense one.
template <class Whole, dim_storage Storage, int Group, int IndexBits>
struct dim_converted {
  static_assert(Storage != dim_storage::sell || (Group > 1 && Group <= 64),
                "tilewright: sell<\"K\", lanes> has 2 to 64 lanes");
  static_assert(Storage != dim_storage::bsr || (Group > 1 && Group <= 64),
                "tilewright: bsr<\"K\", block> has blocks of 2 to 64 rows and columns");
  static_assert(Storage != dim_storage::ell || (Group > 0 && Group <= 4096),
                "tilewright: ell<\"K\", width> has 1 to 4096 places for each row");
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = Storage;
  static constexpr int index_bits = IndexBits, group = Group;
  static constexpr std::string_view pattern{};
};

/// Dimension of which another tensor says what is stored; Whole is the dense one, Pattern its name.
template <class Whole, class Pattern>
struct dim_stored_like {
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = dim_storage::stored_like;
  static constexpr int index_bits = 0, group = 1;
  static constexpr std::string_view pattern = text_of<Pattern>;
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

template <dim D>
using whole_dim = typename dim_type<D, D.length != 0, std::make_index_sequence<D.length>>::type;
template <dim D, dim_storage Storage>
struct stored_dim {
  using type = dim_converted<whole_dim<D>, Storage, D.group, D.index_bits>;
};
template <dim D>
struct stored_dim<D, dim_storage::dense> {
  using type = whole_dim<D>;
};
template <dim D>
struct stored_dim<D, dim_storage::compressed> {
  using type = dim_compressed<whole_dim<D>, D.index_bits>;
};
template <dim D, class Indices>
struct pattern_name;
template <dim D, std::size_t... I>
struct pattern_name<D, std::index_sequence<I...>> {
  using type = name<D.pattern[I]...>;
};
template <dim D>
struct stored_dim<D, dim_storage::stored_like> {
  using type =
      dim_stored_like<whole_dim<D>,
                      typename pattern_name<D, std::make_index_sequence<D.pattern_length>>::type>;
};
}  // namespace detail

/// dim{"M"} -> dim_name<name<'M'>>, dim{64} -> dim_extent<64>, compressed<"K"> ->
/// dim_compressed<dim_name<name<'K'>>, 32>.
template <dim D>
using to_dim = typename detail::stored_dim<D, D.storage>::type;

}  // namespace meta
}  // namespace tilewright
