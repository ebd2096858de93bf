// Prototypes of a library's real header in the words of a table that includes none of it.
#pragma once

#include <type_traits>

#include <cuda_runtime_api.h>

#include <tilewright/backend/cuda/driver.hpp>

namespace prototypes {

/// Whether a type of the header is a handle, which tables call void*: specialized for each library.
template <class T>
inline constexpr bool is_handle = false;

/// What a type of the header is called in a table: enumerations are int, and others keep their names unless
/// a library says what they are.
template <class T>
struct plain {
  using type = typename std::conditional_t<std::is_enum_v<T>, std::type_identity<int>,
                                           std::type_identity<T>>::type;
};
template <>
struct plain<cudaStream_t> {
  using type = tilewright::backend::cuda::stream_ref;
};
template <class T>
requires(is_handle<T>) struct plain<T> {
  using type = void*;
};
template <class T>
requires(is_handle<T>) struct plain<T*> {
  using type = void**;
};
template <class R, class... A>
struct plain<R(A...)> {
  using type = typename plain<R>::type (*)(typename plain<A>::type...);
};

}  // namespace prototypes
