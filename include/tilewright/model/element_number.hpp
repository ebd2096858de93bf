// Element types by their numbers in ONNX (TensorProto.DataType).
#pragma once

#include <cstdint>
#include <optional>

#include <tilewright/support/dtype.hpp>

namespace tilewright::network {

/// Nothing for strings, complex numbers, and the types of 8 bits and less that nobody computes with.
constexpr std::optional<dtype> type_of_number(std::int64_t number) {
  switch (number) {
    case 1: return dtype::f32;
    case 2: return dtype::u8;
    case 3: return dtype::i8;
    case 4: return dtype::u16;
    case 5: return dtype::i16;
    case 6: return dtype::i32;
    case 7: return dtype::i64;
    case 9: return dtype::boolean;
    case 10: return dtype::f16;
    case 11: return dtype::f64;
    case 12: return dtype::u32;
    case 13: return dtype::u64;
    case 16: return dtype::bf16;
    default: return std::nullopt;
  }
}

}  // namespace tilewright::network
