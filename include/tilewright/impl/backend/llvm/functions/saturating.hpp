// Functions that run from one limit to another: tanh, erf, sigmoid. Coefficients are minimax fits
// made for this file.
#pragma once

#include <tilewright/impl/backend/llvm/functions/exponential.hpp>

namespace tilewright::backend::llvm::detail::math {

/// x P(x^2) / Q(x^2).
template <std::size_t P, std::size_t Q>
num odd_rational(const num& x, const std::array<double, P>& p, const std::array<double, Q>& q) {
  const num z = x * x;
  return x * polynomial(z, p) / polynomial(z, q);
}

/// Rounding may carry a quotient past 1.
inline num within_one(const num& x) { return clamp(x, -1.0, 1.0); }

inline num tanh_f32(const num& x) {
  static constexpr std::array<double, 7> p{0x1.0p+0,       0x1.0c8ca6p-3,   0x1.9b13c0p-9,
                                           0x1.81dcd0p-17, -0x1.748c3ap-26, 0x1.08ec80p-34,
                                           -0x1.daf904p-44};
  static constexpr std::array<double, 4> q{0x1.0p+0, 0x1.db9ba6p-2, 0x1.936d96p-6, 0x1.0ff53ep-12};
  return within_one(odd_rational(clamp(x, -8.3, 8.3), p, q));
}

inline num erf_f32(const num& x) {
  static constexpr std::array<double, 7> p{0x1.20dd74p+0, 0x1.898c86p-3,  0x1.960208p-5,
                                           0x1.bceb7cp-9, 0x1.1e2ea6p-13, -0x1.0aa386p-19,
                                           0x1.68e1bep-26};
  static constexpr std::array<double, 5> q{0x1.0p+0, 0x1.01dc02p-1, 0x1.c9f61cp-4, 0x1.c135a2p-7,
                                           0x1.d19102p-11};
  return within_one(odd_rational(clamp(x, -3.83, 3.83), p, q));
}

/// x + x^3 t(x^2) near 0, 1 - 2 / (exp(2 |x|) + 1) elsewhere.
inline num tanh_f64(const num& x) {
  static constexpr std::array<double, 11> t{
      -0x1.5555555555554p-2,  0x1.1111111110b60p-3,  -0x1.ba1ba1b98153fp-5,  0x1.664f484fa10b1p-6,
      -0x1.226e2ca74ba7fp-7,  0x1.d6d21339b5358p-9,  -0x1.7d87796bda94ap-10, 0x1.3435d9b34b7c7p-11,
      -0x1.e61679e864663p-13, 0x1.5360cc9b7fb61p-14, -0x1.2d82313848cb9p-16};
  const num a = x.unary("llvm.fabs"), z = x * x;
  const num near = madd(x * z, polynomial(z, t), x);
  const num far = x.number(1.0) - x.number(2.0) / (exp(clamp(a, 0, 22) * 2.0) + 1.0);
  return choose(test(real_predicate::olt, a, 0.6), near, far).with_sign_of(x);  // also of -0
}

/// x + x e(x^2) near 0, 1 - exp(-x^2) t c(t) with t = 1 / (1 + x / 2) elsewhere.
inline num erf_f64(const num& x) {
  static constexpr std::array<double, 12> e{
      0x1.06eba8214db69p-3,  -0x1.812746b0379e2p-2,  0x1.ce2f21a0427a9p-4,  -0x1.b82ce31270a42p-6,
      0x1.565bcd09fae53p-8,  -0x1.c02db30906396p-11, 0x1.f9a304cad9016p-14, -0x1.f4cf3dc649bf1p-17,
      0x1.b9b5fe924d644p-20, -0x1.5d78822dd4be6p-23, 0x1.e23dce43b3dfdp-27, -0x1.d0db03c35b0ffp-31};
  static constexpr std::array<double, 16> c{
      0x1.20dd7711567b5p-2, 0x1.20dd15d292085p-2,  0x1.f9936815649d7p-3, 0x1.68463a9ccfdd8p-3,
      0x1.656c701188d68p-4, -0x1.bd1f7cef08a64p-6, 0x1.b910737aa9566p-5, -0x1.dae76ec0f458cp-2,
      0x1.2a7c329cc0ebbp+0, -0x1.40117d0d8794bp+1, 0x1.0ed0fdb7e8677p+2, -0x1.3db5828c82555p+2,
      0x1.f184e272ed274p+1, -0x1.f61fbf583037cp+0, 0x1.2a60fac871c53p-1, -0x1.3fc7e4c758bfep-4};
  const num a = clamp(x.unary("llvm.fabs"), 0, 6), z = a * a;
  const num near = madd(x, polynomial(z, e), x);
  const num t = x.number(1.0) / madd(a, 0.5, x.number(1.0));
  const num far = x.number(1.0) - exp(-z) * (t * polynomial(t, c));
  return choose(test(real_predicate::olt, a, 0.9), near, far.with_sign_of(x));
}

inline num sigmoid(const num& x) { return x.number(1.0) / (exp(-x) + 1.0); }

}  // namespace tilewright::backend::llvm::detail::math
