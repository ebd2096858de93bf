// External functions in the interpreter (ir/external.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tilewright/impl/ir/interpret/interpret_access.hpp>
#include <tilewright/ir/external.hpp>

namespace tilewright::ir::detail::interp {

/// A pointer to an element of a buffer: `slot` is the buffer, `a` the offset in elements.
inline value run_pointer(const expr_code& n, machine& m) {
  bound_buffer& b = visible(n.slot, m);
  std::int64_t stride = 1;
  for (std::size_t d = b.shape.size(); d-- > 0; stride *= b.shape[d])
    if (b.shape[d] > 1 && b.strides[d] != stride)
      throw error("buffer " + b.node->name + ", which a function gets a pointer to in " + where(m) +
                  ", is not contiguous row by row");
  const std::int64_t offset = eval_int(n.a, m);
  if (offset < 0 || offset > stride)
    throw error("a pointer to element " + std::to_string(offset) + " of buffer " + b.node->name +
                " in " + where(m) + " leaves it");
  // whoever may write behind the pointer leaves all of it written
  if (n.constant.i != 0 && b.written)
    std::fill(b.written + offset - b.lowest, b.written + stride - b.lowest,
              static_cast<unsigned char>(1));
  value out;
  out.i = static_cast<std::int64_t>(
      reinterpret_cast<std::intptr_t>(b.data + offset * bytes(b.node->type)));
  return out;
}

inline external_value to_external(dtype type, value v) {
  external_value out{};
  if (type == dtype::handle)
    out.pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(v.i));
  else if (type == dtype::f32)
    out.f32 = v.f;
  else if (type == dtype::f64)
    out.f64 = v.d;
  else
    out.integer = v.i;
  return out;
}

inline value run_external(const expr_code& n, machine& m) {
  const external_function& f = *n.external;
  std::vector<external_value> arguments;
  for (std::size_t i = 0; i < n.indices.size(); ++i)
    arguments.push_back(to_external(n.types[i], eval(n.indices[i], m)));
  if (f.packed) {
    std::vector<packed_argument> packed;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      packed.push_back({arguments[i], static_cast<std::int32_t>(n.types[i])});
    reinterpret_cast<packed_function>(f.address)(packed.data(),
                                                 static_cast<std::int32_t>(packed.size()));
    return of_int(0);
  }
  external_value result{};
  f.invoke(f.address, arguments.data(), &result);
  if (f.result == dtype::f32) return of_float(result.f32);
  if (f.result == dtype::f64) return of_double(result.f64);
  return of_int(result.integer);
}

}  // namespace tilewright::ir::detail::interp
