// C functions that programs may call: a library's product as one of several algorithms, say.
//
//     ir::add_external("sgemm", &sgemm);      // void sgemm(const float*, const float*, float*, int, int, int)
//     T.evaluate(T.call_extern("int32", "sgemm", A.data, B.data, C.data, 512, 512, 512))
//
// Interpreter and machine code call the same function. A pointer is that of a buffer's first element,
// `A.data` or `A.access_ptr("r", offset=...)`; the buffer must be contiguous, row by row. A block that
// hands a pointer on lists what is read and written behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/ir/expr.hpp>

namespace tilewright::ir {

/// An argument or a result: an integer of 32 or 64 bits, a number of f32 or f64, or a pointer.
union external_value {
  std::int64_t integer;
  double f64;
  float f32;
  void* pointer;
};

/// An argument of a packed call, and what it is: i32, i64, f32, f64 or handle.
struct packed_argument {
  external_value value;
  std::int32_t type;  // dtype
};
/// What T.call_packed calls.
using packed_function = void (*)(const packed_argument* arguments, std::int32_t count);

/// A function of the C calling convention, with what is needed to call it.
struct external_function {
  struct parameter {
    dtype type = dtype::i32;  // handle for a pointer
    bool writes = false;      // behind the pointer
  };
  std::string name;
  dtype result = dtype::i32;  // of one that returns nothing: i32, the value 0
  bool returns = true;
  std::vector<parameter> parameters;
  bool packed = false;  // a packed_function
  void* address = nullptr;
  /// Calls `address` with as many arguments as there are parameters; null for a packed one.
  void (*invoke)(void* address, const external_value* arguments, external_value* result) = nullptr;
};

/// Makes a function known to this process, from any thread; a later one of the same name replaces it
/// for programs that are compiled or interpreted from then on. The function is called by several
/// threads at once where loops around the call run in parallel.
///
/// Requires: 1. the name is no intrinsic of scripts, and no symbol that kernels use;
/// 2. the address is not null.
/// @throws argument_error with the number of the requirement
void add_external(external_function f);
/// The function of that name; null when there is none.
std::shared_ptr<const external_function> find_external(std::string_view name);
/// Forgets a function. Code that calls it keeps its address.
void remove_external(std::string_view name);

/// @cond
namespace detail::externals {

template <class T>
constexpr external_function::parameter parameter_of() {
  if constexpr (std::is_pointer_v<T>) {
    return {dtype::handle, !std::is_const_v<std::remove_pointer_t<T>>};
  } else {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                      (std::is_integral_v<T> && sizeof(T) >= 4),
                  "tilewright: add_external takes functions of pointers, float, double and "
                  "integers of 32 or 64 bits");
    if constexpr (std::is_same_v<T, float>)
      return {dtype::f32, false};
    else if constexpr (std::is_same_v<T, double>)
      return {dtype::f64, false};
    else if constexpr (sizeof(T) == 4)
      return {std::is_signed_v<T> ? dtype::i32 : dtype::u32, false};
    else
      return {std::is_signed_v<T> ? dtype::i64 : dtype::u64, false};
  }
}

template <class T>
T unpack(external_value v) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(v.pointer);
  else if constexpr (std::is_same_v<T, float>)
    return v.f32;
  else if constexpr (std::is_same_v<T, double>)
    return v.f64;
  else
    return static_cast<T>(v.integer);
}

template <class T>
external_value pack(T x) {
  external_value out{};
  if constexpr (std::is_same_v<T, float>)
    out.f32 = x;
  else if constexpr (std::is_same_v<T, double>)
    out.f64 = x;
  else
    out.integer = static_cast<std::int64_t>(x);
  return out;
}

template <class R, class... A, std::size_t... I>
void invoke(void* address, const external_value* a, external_value* result,
            std::index_sequence<I...>) {
  const auto f = reinterpret_cast<R (*)(A...)>(address);
  if constexpr (std::is_void_v<R>) {
    f(unpack<A>(a[I])...);
    result->integer = 0;
  } else {
    *result = pack<R>(f(unpack<A>(a[I])...));
  }
}

}  // namespace detail::externals
/// @endcond

/// The same for a C++ function pointer; parameters and result are pointers, float, double, integers
/// of 32 or 64 bits. Nothing must be thrown out of it.
template <class R, class... A>
void add_external(std::string name, R (*f)(A...)) {
  namespace d = detail::externals;
  external_function out;
  out.name = std::move(name);
  if constexpr (std::is_void_v<R>)
    out.returns = false;
  else
    out.result = d::parameter_of<R>().type;
  out.parameters = {d::parameter_of<A>()...};
  out.address = reinterpret_cast<void*>(f);
  out.invoke = [](void* address, const external_value* a, external_value* result) {
    d::invoke<R, A...>(address, a, result, std::index_sequence_for<A...>{});
  };
  add_external(std::move(out));
}

/// A function for T.call_packed. It may write behind every pointer that it is given.
void add_packed(std::string name, packed_function f);

/// @name Calls in programs
/// @{

/// Whether a call node is T.call_packed; its first argument is the name, as text.
bool is_packed_call(const expr& call);
/// The function that a call node, a packed one or one of T.call_extern, calls; null when it is none
/// that is known.
std::shared_ptr<const external_function> called_external(const expr& call);
/// The sentence about a call that hands out a pointer or a name, and whose function is not known;
/// empty for others.
std::string unknown_external(const expr& call);
/// What it is called with, without the name.
std::vector<expr> external_arguments(const expr& call);
/// Where a pointer argument points: `A.data`, or that and a number of elements. Null buffer: not so.
struct pointed {
  ir::buffer buffer;
  expr offset;  // elements
};
pointed pointed_by(const expr& argument);
/// The sentence about the first argument that the function does not take; empty when all fit.
std::string misfit(const external_function& f, const expr& call);
/// @}

}  // namespace tilewright::ir
