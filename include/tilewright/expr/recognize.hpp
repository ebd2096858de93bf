// What users hand over, recognized by its members.
//
// No header of Eigen, mdspan or span is included: an object is taken for what it can do. Each form
// gives element type, rank, constness, and extents as far as its type knows them, and the run-time
// argument.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilewright/expr/element.hpp>

namespace tilewright {

namespace dsl {

/// A tensor or scalar as handed to a call.
struct argument {
  static constexpr int max_rank = 8;
  void* data = nullptr;  // null for scalars passed by value, which lie in `value`
  dtype type = dtype::f32;
  std::int8_t rank = 0;
  bool is_const = false;
  bool more = false;                           // whether entries from `rank` on are set
  std::array<std::int64_t, max_rank> extents;  // [rank], elements
  std::array<std::int64_t, max_rank> strides;  // [rank], elements
  alignas(8) std::array<std::byte, 8> value{};

  /// Extents and strides are what is written to them, since clearing and copying all of them takes most of a small call.
  argument() noexcept {}                                       // NOLINT
  argument(const argument& other) noexcept { *this = other; }  // NOLINT
  argument& operator=(const argument& other) noexcept {
    data = other.data;
    type = other.type;
    rank = other.rank;
    is_const = other.is_const;
    more = other.more;
    value = other.value;
    const auto count = static_cast<std::size_t>(more ? max_rank : rank);
    for (std::size_t d = 0; d < count; ++d) {
      extents[d] = other.extents[d];
      strides[d] = other.strides[d];
    }
    return *this;
  }
  /// Has extents behind those of its dimensions, 0 where nothing else is said, as arrays of sparse matrices do.
  void add_more_extents() noexcept {
    more = true;
    extents.fill(0);
    strides.fill(0);
  }

  /// Address of the first element, or of the scalar inside this object.
  const void* address() const noexcept { return data ? data : value.data(); }
};

}  // namespace dsl

/// Pointer, extents and strides as an argument; see `view`.
template <class T, std::size_t Rank>
struct strided_view {
  T* data = nullptr;
  std::array<std::int64_t, Rank> extents{};  // elements
  std::array<std::int64_t, Rank> strides{};  // elements
};

/// `view(pointer, {rows, columns}, {row_stride, 1})` is a tensor argument.
template <class T, std::size_t Rank>
constexpr strided_view<T, Rank> view(T* data, const std::int64_t (&extents)[Rank],
                                     const std::int64_t (&strides)[Rank]) {
  strided_view<T, Rank> out{data, {}, {}};
  for (std::size_t d = 0; d < Rank; ++d) {
    out.extents[d] = extents[d];
    out.strides[d] = strides[d];
  }
  return out;
}
/// Row-major and contiguous.
template <class T, std::size_t Rank>
constexpr strided_view<T, Rank> view(T* data, const std::int64_t (&extents)[Rank]) {
  strided_view<T, Rank> out{data, {}, {}};
  std::int64_t stride = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    out.extents[d] = extents[d];
    out.strides[d] = stride;
    stride *= extents[d];
  }
  return out;
}

namespace dsl {

/// @name Forms
/// @{
template <class A>
concept scalar_form = element<A>;

template <class A>
concept c_array_form = std::is_bounded_array_v<A>;

template <class A>
inline constexpr bool is_view = false;
template <class T, std::size_t Rank>
inline constexpr bool is_view<strided_view<T, Rank>> = true;
template <class A>
concept view_form = is_view<A>;

template <class A>
concept mdspan_form = requires(const A& a) {
  a.data_handle();
  a.extents().extent(0);
  a.stride(0);
  { A::rank() } -> std::convertible_to<std::size_t>;
};

/// Eigen's dense objects with direct access: matrices, arrays, vectors, maps, blocks, refs.
template <class A>
concept matrix_form = requires(A& a) {
  typename A::Scalar;
  a.data();
  a.rows();
  a.cols();
  a.innerStride();
  a.outerStride();
  { A::IsRowMajor + 0 } -> std::convertible_to<int>;
  { A::IsVectorAtCompileTime + 0 } -> std::convertible_to<int>;
};

/// Eigen's tensors and tensor maps.
template <class A>
concept tensor_form = !matrix_form<A> && requires(A & a) {
  typename A::Scalar;
  a.data();
  a.dimension(0);
  { A::NumIndices + 0 } -> std::convertible_to<std::size_t>;
  { A::Layout + 0 } -> std::convertible_to<int>;
};

/// std::vector, std::span, std::array and the like; their elements may be arrays of fixed size.
template <class A>
concept range_form = !mdspan_form<A> && !matrix_form<A> && !tensor_form<A> && requires(A & a) {
  a.data();
  { a.size() } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(a.data())>;
};
/// @}

/// How an object of type A (without reference, perhaps const) is read. Fallback: it is no argument.
template <class A>
struct recognized {
  static constexpr bool known = false;
};

/// @cond
template <class Pointer>
using pointee = std::remove_pointer_t<Pointer>;

/// Facts common to all forms. T: element, possibly const.
template <class T>
struct recognized_as {
  static constexpr bool known = element<std::remove_const_t<T>>;
  using value_type = std::remove_const_t<T>;
  static constexpr bool is_const = std::is_const_v<T>;
  /// Extent of dimension d where the type tells it, else 0.
  static constexpr std::int64_t static_extent(int) { return 0; }

  static argument start(T* data, int rank) {
    argument out;
    out.data = const_cast<value_type*>(data);
    out.type = dtype_of<value_type>;
    out.rank = static_cast<std::int8_t>(rank);
    out.is_const = is_const;
    return out;
  }
};

template <class A>
requires scalar_form<std::remove_const_t<A>>
struct recognized<A> : recognized_as<A> {
  static constexpr bool has_rank(int rank) { return rank == 0; }
  static argument make(A& a, int) { return recognized_as<A>::start(&a, 0); }
};

template <class A>
requires c_array_form<A>
struct recognized<A> : recognized_as<std::remove_all_extents_t<A>> {
  using base = recognized_as<std::remove_all_extents_t<A>>;
  static constexpr int rank = static_cast<int>(std::rank_v<A>);
  static constexpr bool has_rank(int wanted) { return wanted == rank; }

  template <std::size_t... D>
  static constexpr std::array<std::int64_t, sizeof...(D)> extents(std::index_sequence<D...>) {
    return {static_cast<std::int64_t>(std::extent_v<A, D>)...};
  }
  static constexpr auto shape = extents(std::make_index_sequence<std::rank_v<A>>{});
  static constexpr std::int64_t static_extent(int d) { return shape[static_cast<std::size_t>(d)]; }

  static argument make(A& a, int) {
    argument out = base::start(reinterpret_cast<std::remove_all_extents_t<A>*>(&a), rank);
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      out.extents[d] = shape[d];
      out.strides[d] = stride;
      stride *= shape[d];
    }
    return out;
  }
};

template <class A>
requires view_form<std::remove_const_t<A>>
struct recognized<A> : recognized_as<pointee<decltype(std::remove_const_t<A>::data)>> {
  using base = recognized_as<pointee<decltype(std::remove_const_t<A>::data)>>;
  static constexpr int rank = static_cast<int>(std::tuple_size_v<decltype(A::extents)>);
  static constexpr bool has_rank(int wanted) { return wanted == rank; }
  static argument make(A& a, int) {
    argument out = base::start(a.data, rank);
    for (std::size_t d = 0; d < a.extents.size(); ++d) {
      out.extents[d] = a.extents[d];
      out.strides[d] = a.strides[d];
    }
    return out;
  }
};

template <class A>
requires mdspan_form<std::remove_const_t<A>>
struct recognized<A> : recognized_as<pointee<decltype(std::declval<A&>().data_handle())>> {
  using base = recognized_as<pointee<decltype(std::declval<A&>().data_handle())>>;
  static constexpr int rank = static_cast<int>(A::rank());
  static constexpr bool has_rank(int wanted) { return wanted == rank; }
  static argument make(A& a, int) {
    argument out = base::start(a.data_handle(), rank);
    for (std::size_t d = 0; d < A::rank(); ++d) {
      out.extents[d] = static_cast<std::int64_t>(a.extents().extent(d));
      out.strides[d] = static_cast<std::int64_t>(a.stride(d));
    }
    return out;
  }
};

template <class A>
requires matrix_form<A>
struct recognized<A> : recognized_as<pointee<decltype(std::declval<A&>().data())>> {
  using base = recognized_as<pointee<decltype(std::declval<A&>().data())>>;
  static constexpr bool is_vector = static_cast<bool>(A::IsVectorAtCompileTime);
  static constexpr bool row_major = static_cast<bool>(A::IsRowMajor);
  /// A vector is also a matrix of one row or column.
  static constexpr bool has_rank(int wanted) { return wanted == 2 || (wanted == 1 && is_vector); }

  static argument make(A& a, int rank) {
    argument out = base::start(a.data(), rank);
    const auto inner = static_cast<std::int64_t>(a.innerStride());
    const auto outer = static_cast<std::int64_t>(a.outerStride());
    if (rank == 1) {
      out.extents[0] = static_cast<std::int64_t>(a.rows()) * static_cast<std::int64_t>(a.cols());
      out.strides[0] = inner;
      return out;
    }
    out.extents[0] = static_cast<std::int64_t>(a.rows());
    out.extents[1] = static_cast<std::int64_t>(a.cols());
    out.strides[0] = row_major ? outer : inner;
    out.strides[1] = row_major ? inner : outer;
    return out;
  }
};

template <class A>
requires tensor_form<A>
struct recognized<A> : recognized_as<pointee<decltype(std::declval<A&>().data())>> {
  using base = recognized_as<pointee<decltype(std::declval<A&>().data())>>;
  static constexpr int rank = static_cast<int>(A::NumIndices);
  static constexpr bool row_major = static_cast<int>(A::Layout) == 1;
  static constexpr bool has_rank(int wanted) { return wanted == rank; }
  static argument make(A& a, int) {
    argument out = base::start(a.data(), rank);
    read_extents(a, out, std::make_index_sequence<static_cast<std::size_t>(rank)>{});
    std::int64_t stride = 1;
    for (int k = 0; k < rank; ++k) {
      const auto d = static_cast<std::size_t>(row_major ? rank - 1 - k : k);
      out.strides[d] = stride;
      stride *= out.extents[d];
    }
    return out;
  }

 private:
  // Constants, since Tensor takes a size_t and TensorMap a signed index.
  template <std::size_t... D>
  static void read_extents(A& a, argument& out, std::index_sequence<D...>) {
    ((out.extents[D] = static_cast<std::int64_t>(a.dimension(D))), ...);
  }
};

/// Number of elements of a std::array-like type, else 0.
template <class A>
constexpr std::int64_t fixed_size() {
  if constexpr (requires { std::tuple_size<A>::value; })
    return static_cast<std::int64_t>(std::tuple_size<A>::value);
  else
    return 0;
}

/// What an element of a range holds: itself, or, when it is an array of fixed size, the elements of
/// further dimensions.
template <class T>
struct nested {
  using value_type = T;
  static constexpr int rank = 0;
  static constexpr std::int64_t extent(int) { return 1; }
};

template <class T, class Inner, std::int64_t Size>
struct nested_array {
  using inner = nested<std::conditional_t<std::is_const_v<T>, const Inner, Inner>>;
  using value_type = typename inner::value_type;
  static constexpr int rank = inner::rank + 1;
  static constexpr std::int64_t extent(int d) { return d == 0 ? Size : inner::extent(d - 1); }
};

template <class T>
requires c_array_form<T>
struct nested<T>
    : nested_array<T, std::remove_extent_t<T>, static_cast<std::int64_t>(std::extent_v<T>)> {
};

template <class T>
requires(range_form<T>&& fixed_size<std::remove_const_t<T>>() > 0) struct nested<T>
    : nested_array<T, typename T::value_type, fixed_size<std::remove_const_t<T>>()> {
};

template <class A>
requires range_form<A>
struct recognized<A>
    : recognized_as<typename nested<pointee<decltype(std::declval<A&>().data())>>::value_type> {
  using item = nested<pointee<decltype(std::declval<A&>().data())>>;
  using element_type = typename item::value_type;
  static constexpr int rank = item::rank + 1;
  static constexpr bool has_rank(int wanted) { return wanted == rank; }
  static constexpr std::int64_t static_extent(int d) {
    return d == 0 ? fixed_size<std::remove_const_t<A>>() : item::extent(d - 1);
  }
  static argument make(A& a, int) {
    argument out =
        recognized_as<element_type>::start(reinterpret_cast<element_type*>(a.data()), rank);
    std::int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      const auto at = static_cast<std::size_t>(d);
      out.extents[at] = d == 0 ? static_cast<std::int64_t>(a.size()) : item::extent(d - 1);
      out.strides[at] = stride;
      stride *= out.extents[at];
    }
    return out;
  }
};
/// @endcond

/// Objects that a kernel takes.
template <class A>
concept argument_like = recognized<std::remove_reference_t<A>>::known;

}  // namespace dsl
}  // namespace tilewright
