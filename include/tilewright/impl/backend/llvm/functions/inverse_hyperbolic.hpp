// Inverse hyperbolic functions, by logarithms of sums that are kept as pairs.
#pragma once

#include <tilewright/impl/backend/llvm/functions/exponential.hpp>

namespace tilewright::backend::llvm::detail::math {

/// log(x + sqrt(x^2 + one)) for x >= 0, one = 1 or -1: near the zero of the logarithm, its argument has more digits
/// than a number.
inline num log_of_root_sum(const num& x, double one) {
  const num square = x * x;
  const pair w = sum_pair(square, x.number(one));
  const num root = w.head.unary("llvm.sqrt"), whole = root * root;
  const num missing =
      ((w.head - whole) - product_tail(root, root, whole)) + (w.tail + product_tail(x, x, square));
  const num root_tail = choose(test(real_predicate::oeq, root, 0.0), 0.0, missing / (root + root));
  const pair sum = sum_pair(x, root);
  // beyond this, the root is x, and its square may be infinite
  const value_ref far = test(real_predicate::ogt, x, x.wide ? 0x1p28 : 0x1p13);
  return log_of_pair({choose(far, x, sum.head), choose(far, 0.0, sum.tail + root_tail)},
                     choose(far, 1.0, x.number(0.0)));
}

inline num asinh(const num& x) {
  return log_of_root_sum(x.unary("llvm.fabs"), 1.0).with_sign_of(x);
}

inline num acosh(const num& x) {
  const num out = log_of_root_sum(x, -1.0);
  return choose(test(real_predicate::ult, x, 1.0), __builtin_nan(""), out);
}

/// (atanh(s) - s) / s^3 of z = s^2 for |s| <= 0.1716, to 2^-57 of s, in f32 2^-29.
inline num atanh_series(const num& z) {
  static constexpr std::array<double, 3> narrow{0x1.55557ap-2, 0x1.995f66p-3, 0x1.31d3ecp-3};
  return z.wide ? log_of_ratio(z) * 0.5 : polynomial(z, narrow);
}

/// log((1 + x) / (1 - x)) / 2. The quotient is 2^e (1 + s) / (1 - s) with
/// s = (1 + x - 2^e (1 - x)) / (1 + x + 2^e (1 - x)), and e such that |s| <= 0.1716.
inline num atanh(const num& x) {
  const num a = x.unary("llvm.fabs"), one = x.number(1.0);
  const pair above = ordered_sum_pair(one, a), below = ordered_sum_pair(one, -a);
  const normal_parts p = split_normal(below.head);  // 2^-e (1 - x), or twice that
  const value_ref twice = test(real_predicate::ogt, above.head, p.m * 0x1.6a09e667f3bcdp0);
  const num e = choose(twice, 1.0, x.number(0.0)) - p.e;
  const num scaled = choose(twice, p.m + p.m, p.m);
  const num power = p.twice_inverse() * choose(twice, 1.0, x.number(0.5));
  const num upper = (above.head - scaled) + (above.tail - power * below.tail);
  const num s = upper / (above.head + scaled), z = s * s;
  const num low = madd(e, ln2_lower(x.wide) / 2, s * z * atanh_series(z));
  num out = madd(e, ln2_upper(x.wide) / 2, s + low).with_sign_of(x);
  out = choose(test(real_predicate::oeq, a, 1.0), x.number(__builtin_inf()).with_sign_of(x), out);
  return choose(test(real_predicate::ugt, a, 1.0), __builtin_nan(""), out);
}

}  // namespace tilewright::backend::llvm::detail::math
