// Functions of floats as inline polynomials, for scalars and for vectors of any width.
//
// LLVM turns llvm.exp.v8f32 into eight calls, so no such intrinsic is emitted. Largest errors in
// units in the last place, against the exact value, with fused multiply-add; without it (SSE2 to
// AVX) one more:
//
//   |     | exp | exp2 | exp10 | log | log2 | log10 | sin | cos | tanh | erf | sigmoid | pow | rsqrt |
//   | f32 |   1 |    1 |     1 |   2 |    3 |     3 |   1 |   1 |    5 |   6 |       3 |   1 |   1.5 |
//   | f64 |   2 |    2 |     2 |   2 |    3 |     3 |   1 |   1 |    3 |   3 |       4 |   2 |   1.5 |
//
//   |     | log1p | expm1 | sinh | cosh | asinh | acosh | atanh | tan | asin | acos | atan | atan2 |
//   | f32 |     2 |     2 |    2 |    2 |     2 |     2 |   2.5 |   1 |    2 |    2 |    2 |     2 |
//   | f64 |     2 |     2 |    2 |    2 |     2 |     2 |     2 |   3 |    2 |    2 |    2 |     2 |
//
//   |     | cbrt | hypot | fmod |
//   | f32 |    1 |   1.5 |    0 |
//   | f64 |    1 |   1.5 |    0 |
//
// Infinities, NaNs, zeros with their signs and subnormal arguments and results are as in C, except
// sigmoid, which is 1 / (1 + exp(-x)) also where that underflows. f16 and bf16 are computed in f32.
// The C library is called once per lane, through the loader's table, for nextafter; for sin, cos and
// tan of a vector with an element beyond 2^30 in f32, 2^20 in f64; and for fmod of a vector with a
// quotient beyond 2^23 in f32, 2^52 in f64, or an infinite divisor, or without fused multiply-add.
#pragma once

#include <string_view>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend::llvm {

/// Value of the float function `name` on arguments of a held type of `lanes` lanes; null when the
/// name is not known for this number of arguments.
value_ref emit_math(builder& b, std::string_view name, bool is_f64,
                    const std::vector<value_ref>& arguments, int lanes);

}  // namespace tilewright::backend::llvm
