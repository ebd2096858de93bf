// Elements of arguments as numbers.
#pragma once

#include <cstddef>
#include <cstring>

#include <tilewright/support/dtype.hpp>
#include <tilewright/support/numbers/float16.hpp>

namespace gpu_case {

template <class T>
T read(const std::byte* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

/// Calls `f` with a function that reads an element of the type at an address, as double. Arguments hold f16, bf16, f32, f64, and
/// integers of 8 and 32 bits.
template <class F>
auto with_reader(tilewright::dtype type, const F& f) {
  using tilewright::dtype;
  switch (type) {
    case dtype::f16:
      return f([](const std::byte* p) {
        return static_cast<double>(static_cast<float>(read<tilewright::float16>(p)));
      });
    case dtype::bf16:
      return f([](const std::byte* p) {
        return static_cast<double>(static_cast<float>(read<tilewright::bfloat16>(p)));
      });
    case dtype::f32:
      return f([](const std::byte* p) { return static_cast<double>(read<float>(p)); });
    case dtype::f64: return f([](const std::byte* p) { return read<double>(p); });
    case dtype::i8:
      return f([](const std::byte* p) { return static_cast<double>(read<std::int8_t>(p)); });
    case dtype::u8:
      return f([](const std::byte* p) { return static_cast<double>(read<std::uint8_t>(p)); });
    default:
      return f([](const std::byte* p) { return static_cast<double>(read<std::int32_t>(p)); });
  }
}

}  // namespace gpu_case
