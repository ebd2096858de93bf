// Functions of floats as inline polynomials, for scalars and for vectors of any width.
//
// LLVM turns llvm.exp.v8f32 into eight calls, so no such intrinsic is emitted. Largest errors in
// units in the last place, against the exact value, with fused multiply-add; without it (SSE2 to
// AVX) one more:
//
// | f32 | exp 1 | exp2 1 | log 2 | log2 3 | log10 3 | tanh 5 | erf 6 | sigmoid 3 | pow 1 |
// rsqrt 1.5 | | f64 | exp 2 | exp2 2 | log 2 | log2 3 | log10 3 | tanh 3 | erf 3 | sigmoid 4 |
// pow 2 | rsqrt 1.5 |
//
// Infinities, NaNs, zeros and subnormal arguments and results are as in C, except sigmoid, which is
// 1 / (1 + exp(-x)) also where that underflows. f16 and bf16 are computed in f32. The rest (sin,
// cos, asin, expm1, ...; pow in f64 without fused multiply-add) calls the C library once per lane,
// through the loader's table.
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
