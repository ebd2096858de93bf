// Sparse matrices that users hand over, recognized by their members.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tilewright/expr/recognize.hpp>
#include <tilewright/meta/dim.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

/// A matrix of compressed sparse columns in memory of the user's; see `csc_of`.
template <class T, class Index>
struct csc_view {
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  Index* offsets = nullptr;  // [columns + 1]
  Index* indices = nullptr;  // [nonzeros], numbers of rows
  T* values = nullptr;       // [nonzeros]
};

/// A matrix of compressed sparse rows in memory of the user's; see `csr`.
template <class T, class Index>
struct csr_view {
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  Index* offsets = nullptr;  // [rows + 1]
  Index* indices = nullptr;  // [nonzeros]
  T* values = nullptr;       // [nonzeros]
};

namespace dsl {
template <class... Range>
concept ranges = (range_form<std::remove_reference_t<Range>> && ...);

/// @param form "csr" or "csc_of"
/// @param line what is between two offsets: "row" or "column"
template <class Offsets, class Indices, class Values>
void check_arrays(const Offsets& offsets, const Indices& indices, const Values& values,
                  const std::string& form, const std::string& line) {
  static_assert(std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(offsets.data())>>,
                               std::remove_cv_t<std::remove_pointer_t<decltype(indices.data())>>>,
                "tilewright: offsets and indices of a sparse argument have one type");
  if (offsets.size() < 1)
    throw argument_error(form + ": there are no offsets; a matrix of n " + line +
                         "s has n + 1 of them");
  if (indices.size() != values.size())
    throw argument_error(form + ": there are " + std::to_string(indices.size()) + " indices and " +
                         std::to_string(values.size()) + " values; each element has one of each");
}
}  // namespace dsl

/// `csr(offsets, indices, values, columns)` is a sparse argument: row i has the elements
/// offsets[i] <= p < offsets[i + 1] with values[p] in column indices[p]. Each is a vector, span or
/// other contiguous range.
/// @throws argument_error when offsets are missing, or there are not as many values as indices
template <class Offsets, class Indices, class Values>
requires dsl::ranges<Offsets, Indices, Values>
auto csr(Offsets&& offsets, Indices&& indices, Values&& values, std::int64_t columns) {
  dsl::check_arrays(offsets, indices, values, "csr", "row");
  using index = std::remove_pointer_t<decltype(offsets.data())>;
  using value = std::remove_pointer_t<decltype(values.data())>;
  const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto count = static_cast<std::int64_t>(indices.size());
  return csr_view<value, const index>{rows,           columns,        count,
                                      offsets.data(), indices.data(), values.data()};
}

/// `csc_of(offsets, indices, values, rows)` is an argument of a parameter with `csc<"K">`: column k has the
/// elements offsets[k] <= p < offsets[k + 1] with values[p] in row indices[p].
/// @throws argument_error as `csr`
template <class Offsets, class Indices, class Values>
requires dsl::ranges<Offsets, Indices, Values>
auto csc_of(Offsets&& offsets, Indices&& indices, Values&& values, std::int64_t rows) {
  dsl::check_arrays(offsets, indices, values, "csc_of", "column");
  using index = std::remove_pointer_t<decltype(offsets.data())>;
  using value = std::remove_pointer_t<decltype(values.data())>;
  const auto columns = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto count = static_cast<std::int64_t>(indices.size());
  return csc_view<value, const index>{rows,           columns,        count,
                                      offsets.data(), indices.data(), values.data()};
}

namespace dsl {

/// @name Forms
/// @{
template <class A>
inline constexpr bool is_csr_view = false;
template <class T, class Index>
inline constexpr bool is_csr_view<csr_view<T, Index>> = true;
template <class A>
inline constexpr bool is_csc_view = false;
template <class T, class Index>
inline constexpr bool is_csc_view<csc_view<T, Index>> = true;

/// Eigen's sparse matrices and maps of them.
template <class A>
concept eigen_sparse_form = requires(const A& a) {
  typename A::Scalar;
  typename A::StorageIndex;
  a.outerIndexPtr();
  a.innerIndexPtr();
  a.valuePtr();
  a.rows();
  a.cols();
  a.nonZeros();
  { a.isCompressed() } -> std::convertible_to<bool>;
  { A::IsRowMajor + 0 } -> std::convertible_to<int>;
};
/// @}

/// Matrices that say themselves how they are stored, and what arrays they consist of: those in
/// `expr/formats/`. `format` is a part_format, or the part_list of a matrix in parts.
template <class A>
concept matrix_in_format = requires(const A& a) {
  typename A::value_type;
  typename A::index_type;
  A::format;
  a.arguments();
};

/// How an object of type A is read as a sparse matrix. Fallback: it is none.
template <class A>
struct sparse_recognized {
  static constexpr bool known = false;
};

/// @cond
/// An array of a sparse matrix as an argument.
template <class Element>
argument array_argument(const Element* data, std::int64_t extent) {
  argument out;
  out.add_more_extents();
  out.data = const_cast<Element*>(data);
  out.type = dtype_of<Element>;
  out.rank = 1;
  out.is_const = true;
  out.extents[0] = extent;
  out.strides[0] = 1;
  return out;
}

template <class Vector>
argument vector_argument(const Vector& v) {
  return array_argument(v.data(), static_cast<std::int64_t>(v.size()));
}

/// Offsets, indices and values as arguments, in this order. The extents of the indices end with the
/// number of columns, which no array has; of a matrix stored by columns rows and columns change places.
template <class Index, class T>
std::array<argument, 3> sparse_arguments(std::int64_t rows, std::int64_t columns,
                                         std::int64_t nonzeros, const Index* offsets,
                                         const Index* indices, const T* values) {
  static constexpr Index no_rows = 0;
  std::array<argument, 3> out{array_argument(offsets || rows > 0 ? offsets : &no_rows, rows + 1),
                              array_argument(indices, nonzeros), array_argument(values, nonzeros)};
  out[1].extents[1] = columns;
  return out;
}

/// What matrices in a format without parameters have in common.
template <dim_storage Storage>
struct plain_format {
  static constexpr bool known = true, row_major = Storage != dim_storage::csc;
  static constexpr dim_storage storage = Storage;
  static constexpr int group = 1, rank = 2;
  static constexpr part_list parts{};
};

template <class A>
requires(is_csr_view<std::remove_const_t<A>> ||
         is_csc_view<std::remove_const_t<A>>) struct sparse_recognized<A>
    : plain_format<is_csc_view<std::remove_const_t<A>> ? dim_storage::csc
                                                       : dim_storage::compressed> {
  using value_type = std::remove_const_t<std::remove_pointer_t<decltype(A::values)>>;
  using index_type = std::remove_const_t<std::remove_pointer_t<decltype(A::indices)>>;
  static std::array<argument, 3> make(const A& a, const char*) {
    constexpr bool by_rows = is_csr_view<std::remove_const_t<A>>;
    return sparse_arguments<index_type, value_type>(by_rows ? a.rows : a.columns,
                                                    by_rows ? a.columns : a.rows, a.nonzeros,
                                                    a.offsets, a.indices, a.values);
  }
};

template <class A>
requires eigen_sparse_form<A>
struct sparse_recognized<A>
    : plain_format<A::IsRowMajor ? dim_storage::compressed : dim_storage::csc> {
  using value_type = typename A::Scalar;
  using index_type = typename A::StorageIndex;
  static std::array<argument, 3> make(const A& a, const char* parameter) {
    if (!a.isCompressed())
      throw argument_error("the sparse matrix given for \"" + std::string(parameter) +
                           "\" is not compressed; call its makeCompressed() before");
    return sparse_arguments<index_type, value_type>(
        static_cast<std::int64_t>(A::IsRowMajor ? a.rows() : a.cols()),
        static_cast<std::int64_t>(A::IsRowMajor ? a.cols() : a.rows()),
        static_cast<std::int64_t>(a.nonZeros()), a.outerIndexPtr(), a.innerIndexPtr(),
        a.valuePtr());
  }
};

constexpr dim_storage storage_of(const part_format& f) { return f.storage; }
constexpr dim_storage storage_of(const part_list&) { return dim_storage::parts; }
constexpr int group_of(const part_format& f) { return f.group; }
constexpr int group_of(const part_list&) { return 1; }
constexpr part_list parts_of(const part_format&) { return part_list(); }
constexpr part_list parts_of(const part_list& f) { return f; }
/// Dimensions of the tensor: two unless it says otherwise.
template <class A>
constexpr int rank_of() {
  if constexpr (requires { A::rank; })
    return A::rank;
  else
    return 2;
}

template <class A>
requires matrix_in_format<A>
struct sparse_recognized<A> {
  static constexpr bool known = true, row_major = storage_of(A::format) != dim_storage::csc;
  static constexpr dim_storage storage = storage_of(A::format);
  static constexpr int rank = rank_of<A>();
  static constexpr int group = group_of(A::format);
  static constexpr part_list parts = parts_of(A::format);
  using value_type = typename A::value_type;
  using index_type = typename A::index_type;
  static auto make(const A& a, const char*) { return a.arguments(); }
};
/// @endcond

}  // namespace dsl
}  // namespace tilewright
