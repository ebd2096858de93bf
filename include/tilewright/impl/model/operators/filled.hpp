// Constants made from numbers.
#pragma once

#include <cstring>

#include <tilewright/model/graph.hpp>
#include <tilewright/support/numbers/float16.hpp>

namespace tilewright::network::detail {

/// Stores `number` as element k.
inline void store_number(std::byte* data, dtype t, std::int64_t k, double number,
                         std::int64_t integer) {
  std::byte* at = data + k * bytes(t);
  const auto put = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (t) {
    case dtype::f32: return put(static_cast<float>(number));
    case dtype::f64: return put(number);
    case dtype::f16: return put(float16(static_cast<float>(number)));
    case dtype::bf16: return put(bfloat16(static_cast<float>(number)));
    case dtype::boolean: return put(static_cast<std::uint8_t>(integer != 0));
    default: std::memcpy(at, &integer, static_cast<std::size_t>(bytes(t)));  // little-endian
  }
}

inline constant filled(tensor_type type, double number, std::int64_t integer) {
  auto [out, data] = constant::make(type);
  for (std::int64_t k = 0; k < type.elements(); ++k)
    store_number(data, type.type, k, number, integer);
  return out;
}

}  // namespace tilewright::network::detail
