// One dimension of a tensor as a template argument: a name bound at the call, or a number, and how
// the elements along it are stored.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <tilewright/meta/name.hpp>

namespace tilewright {

/// Which elements along a dimension have a place in memory.
enum class dim_storage : std::uint8_t {
  dense,        // all of them
  compressed,   // some; those below one element of the dimensions before lie side by side, between
                // two offsets, and each has its coordinate in an array of indices
  sell,         // some; a number of rows stands side by side, padded to the longest of them
  bsr,          // blocks of as many rows as columns, each stored whole
  ell,          // some; each row has as many places
  dcsr,         // as compressed; only rows with elements are there, with their numbers
  csc,          // some; those of one column lie side by side, each with the number of its row
  dia,          // diagonals, each stored whole
  ragged,       // as many as there are for each element of the dimension before, from 0 on
  stored_like,  // those that another tensor stores, in its order
  parts         // some; several matrices, each in a format of its own, that add up
};

/// Format of a part of a matrix.
struct part_format {
  dim_storage storage = dim_storage::dense;
  int group = 1;  // as in dim
  friend constexpr bool operator==(const part_format&, const part_format&) = default;
};

/// Formats of the parts of a matrix.
struct part_list {
  static constexpr int most = 3;
  part_format at[most]{};
  int count = 0;
  friend constexpr bool operator==(const part_list&, const part_list&) = default;
};

/// Arrays that a matrix in one format consists of: of rows side by side offsets, lengths, order, indices and
/// values; of rows with numbers these, offsets, indices and values; of diagonals, and of rows that are
/// counted, offsets and values; of others three, which end with indices and values.
constexpr int matrix_arrays(dim_storage storage) {
  switch (storage) {
    case dim_storage::sell: return 5;
    case dim_storage::dcsr: return 4;
    case dim_storage::dia:
    case dim_storage::ragged: return 2;
    default: return 3;
  }
}
/// The same of one that may be in parts.
constexpr int matrix_arrays(dim_storage storage, const part_list& parts) {
  if (storage != dim_storage::parts) return matrix_arrays(storage);
  int out = 0;
  for (int k = 0; k < parts.count; ++k) out += matrix_arrays(parts.at[k].storage);
  return out;
}

/// What elements that are not stored count as: a number or an infinity. It is kept as bits, since not all compilers take
/// template arguments of floating-point types.
struct absent_number {
  std::uint64_t bits = 0;  // of a double

  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr absent_number(T value)  // NOLINT
      : bits(std::bit_cast<std::uint64_t>(static_cast<double>(value))) {}
  constexpr double value() const { return std::bit_cast<double>(bits); }
  constexpr bool is_number() const {
    const double own = value();
    return own == own;
  }
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
  part_list parts{};
  std::uint64_t absent_bits = 0;  // absent_number

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

/// Elements of any matrix have a place in it.
constexpr bool takes_all(const dim& d) {
  return d.storage == dim_storage::compressed || d.storage == dim_storage::dcsr;
}
constexpr bool is_part(const dim& d) {
  return takes_all(d) || d.storage == dim_storage::sell || d.storage == dim_storage::bsr ||
         d.storage == dim_storage::ell;
}

template <dim First, dim... Others>
constexpr dim store_parts() {
  static_assert(sizeof...(Others) > 0 && sizeof...(Others) < part_list::most,
                "tilewright: parts<..> takes two or three formats");
  static_assert(is_part(First) && (is_part(Others) && ...),
                "tilewright: the formats of parts<..> are compressed, dcsr, sell, bsr or ell");
  static_assert(((First.index_bits == Others.index_bits) && ...),
                "tilewright: the formats of parts<..> have one index type");
  static_assert(((First.absent_bits | ... | Others.absent_bits) == 0),
                "tilewright: absent_as<..> stands around parts<..>, not inside of it");
  constexpr dim all[] = {First, Others...};
  constexpr int before_last =
      (takes_all(First) + ... + takes_all(Others)) - takes_all(all[sizeof...(Others)]);
  static_assert(before_last == 0,
                "tilewright: compressed rows take every element; they stand last in parts<..>");
  dim whole = First;
  whole.storage = dim_storage::parts;
  whole.group = 1;
  for (const dim& d : all) whole.parts.at[whole.parts.count++] = {d.storage, d.group};
  return whole;
}

template <dim Stored, absent_number Value>
constexpr dim count_absent() {
  static_assert(Stored.storage != dim_storage::dense,
                "tilewright: absent_as<..> is about a dimension of which only some elements are "
                "stored; write absent_as<compressed<\"K\">, value>");
  static_assert(
      Value.is_number(),
      "tilewright: what is absent counts as a number or an infinity; write where_stored(A) "
      "to leave it out");
  dim whole = Stored;
  whole.absent_bits = Value.bits;
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

/// Compressed rows of which only those with elements are there: `in<"A", float, "M", dcsr<"K">>` takes a
/// `dcsr_matrix<float>`.
template <dim Whole, class Index = std::int32_t>
inline constexpr dim dcsr = detail::store_some<Index>(Whole, dim_storage::dcsr, 1);

/// Compressed columns: `in<"A", float, "M", csc<"K">>` takes a sparse matrix of Eigen's that is stored by
/// columns, `csc_of(offsets, indices, values, rows)`, or a `csc_matrix<float>`.
template <dim Whole, class Index = std::int32_t>
inline constexpr dim csc = detail::store_some<Index>(Whole, dim_storage::csc, 1);

/// Diagonals, of which each is stored whole: `in<"A", float, "M", dia<"K">>` takes a `dia_matrix<float>`.
template <dim Whole, class Index = std::int32_t>
inline constexpr dim dia = detail::store_some<Index>(Whole, dim_storage::dia, 1);

/// As many elements as there are for each element of the dimension before, such as the words of each of
/// several sentences: `in<"X", float, "B", ragged<"L">, "D">` takes `ragged_of(offsets, values)`.
template <dim Whole, class Index = std::int32_t>
inline constexpr dim ragged = detail::store_some<Index>(Whole, dim_storage::ragged, 1);

/// A sum of matrices in these formats, of which each holds the elements that suit it, and the last one the
/// rest: `in<"A", float, "M", parts<bsr<"K", 16>, compressed<"K">>>` takes a `parted_matrix`.
template <dim First, dim... Others>
inline constexpr dim parts = detail::store_parts<First, Others...>();

/// The elements that the compressed parameter `Pattern` stores: `out<"S", float, "M",
/// stored_like<"N", "A">>` is the matrix of values for the offsets and indices of `A`, whose dimensions
/// are "M" and "N".
template <dim Whole, fixed_string Pattern>
inline constexpr dim stored_like = detail::store_where(Whole, Pattern.view());

/// The same dimension, where elements that are not stored count as `Value` instead of 0:
///
///     in<"A", float, "M", absent_as<compressed<"K">, infinity>> A
///
/// are the lengths of the edges of a graph, and min<k>(A(i, k) + x(k)) is over its edges alone. An infinity stands for the
/// highest and the lowest value of types without one. It is said around any dimension of which some elements are stored,
/// of several around the last one.
template <dim Stored, absent_number Value>
inline constexpr dim absent_as = detail::count_absent<Stored, Value>();

/// Higher than all numbers: what `absent_as` counts where no way leads.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

namespace meta {

/// What a dense dimension says of its storage.
struct dense_storage {
  static constexpr dim_storage storage = dim_storage::dense;
  static constexpr int index_bits = 0, group = 1;
  static constexpr std::string_view pattern{};
  static constexpr part_list parts{};
  static constexpr double absent = 0;
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

/// Dimension whose absent elements do not count as 0 as a type; Stored is the one where they do.
template <class Stored, std::uint64_t Bits>
struct dim_absent : Stored {
  static constexpr double absent = std::bit_cast<double>(Bits);
};

/// Compressed dimension as a type; Whole is the dense one.
template <class Whole, int IndexBits>
struct dim_compressed {
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = dim_storage::compressed;
  static constexpr int index_bits = IndexBits, group = 1;
  static constexpr std::string_view pattern{};
  static constexpr part_list parts{};
  static constexpr double absent = 0;
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
  static constexpr part_list parts{};
  static constexpr double absent = 0;
};

/// Dimension of a matrix in parts as a type; Whole is the dense one.
template <class Whole, part_list Parts, int IndexBits>
struct dim_parts {
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = dim_storage::parts;
  static constexpr int index_bits = IndexBits, group = 1;
  static constexpr std::string_view pattern{};
  static constexpr part_list parts = Parts;
  static constexpr double absent = 0;
};

/// Dimension of which another tensor says what is stored; Whole is the dense one, Pattern its name.
template <class Whole, class Pattern>
struct dim_stored_like {
  static constexpr std::string_view text = Whole::text;
  static constexpr std::int64_t extent = Whole::extent;
  static constexpr dim_storage storage = dim_storage::stored_like;
  static constexpr int index_bits = 0, group = 1;
  static constexpr std::string_view pattern = text_of<Pattern>;
  static constexpr part_list parts{};
  static constexpr double absent = 0;
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
template <dim D>
struct stored_dim<D, dim_storage::parts> {
  using type = dim_parts<whole_dim<D>, D.parts, D.index_bits>;
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

template <dim D, bool Zero>
struct counted_dim {
  using type = typename stored_dim<D, D.storage>::type;
};
template <dim D>
struct counted_dim<D, false> {
  using type = dim_absent<typename stored_dim<D, D.storage>::type, D.absent_bits>;
};
}  // namespace detail

/// dim{"M"} -> dim_name<name<'M'>>, dim{64} -> dim_extent<64>, compressed<"K"> ->
/// dim_compressed<dim_name<name<'K'>>, 32>.
template <dim D>
using to_dim = typename detail::counted_dim<D, D.absent_bits == 0>::type;

}  // namespace meta
}  // namespace tilewright
