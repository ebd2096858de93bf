// Coefficients are minimax fits made for this file, in the form their comments give; the errors
// that backend/llvm/math.hpp states are measured by its test.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tilewright/backend/llvm/math.hpp>

namespace tilewright::backend::llvm {
namespace detail::math {

/// A float value with the operators that the formulas below are written in.
struct num {
  const builder* b;
  value_ref v;
  bool wide;  // f64
  int lanes;

  type_ref type() const { return b->vector(wide ? b->f64 : b->f32, lanes); }
  type_ref word() const { return wide ? b->i64 : b->i32; }
  num with(value_ref x) const { return {b, x, wide, lanes}; }
  num number(double x) const { return with(b->real(wide ? b->f64 : b->f32, x, lanes)); }
  value_ref integer(std::int64_t x) const { return b->integer(word(), x, lanes); }
  value_ref raw() const { return b->convert(opcode::bitcast, v, b->vector(word(), lanes)); }
  num from_raw(value_ref bits) const { return with(b->convert(opcode::bitcast, bits, type())); }
  num unary(const char* name) const { return with(b->intrinsic(name, {type()}, {v})); }
  num with_sign_of(const num& x) const {
    return with(b->intrinsic("llvm.copysign", {type()}, {v, x.v}));
  }
};

inline num operator+(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fadd, x.v, y.v));
}
inline num operator-(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fsub, x.v, y.v));
}
inline num operator*(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fmul, x.v, y.v));
}
inline num operator/(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fdiv, x.v, y.v));
}
inline num operator+(const num& x, double y) { return x + x.number(y); }
inline num operator-(const num& x, double y) { return x - x.number(y); }
inline num operator*(const num& x, double y) { return x * x.number(y); }
inline num operator-(const num& x) { return x.with(x.b->c.BuildFNeg(x.b->b, x.v, "")); }
inline num madd(const num& x, const num& y, const num& z) {
  return x.with(x.b->multiply_add(x.v, y.v, z.v));
}
inline num madd(const num& x, double y, const num& z) { return madd(x, x.number(y), z); }
inline value_ref test(real_predicate p, const num& x, const num& y) {
  return x.b->compare(p, x.v, y.v);
}
inline value_ref test(real_predicate p, const num& x, double y) { return test(p, x, x.number(y)); }
inline num choose(value_ref condition, const num& yes, const num& no) {
  return yes.with(yes.b->select(condition, yes.v, no.v));
}
inline num choose(value_ref condition, double yes, const num& no) {
  return choose(condition, no.number(yes), no);
}

/// c[0] + c[1] x + ...
template <std::size_t N>
num polynomial(const num& x, const std::array<double, N>& c) {
  num sum = x.number(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = madd(sum, x, x.number(c[i]));
  return sum;
}

/// Lower and upper limit of |x| that a rational or an exponential needs; keeps NaN.
inline num clamp(const num& x, double low, double high) {
  const num upper = choose(test(real_predicate::ogt, x, high), high, x);
  return choose(test(real_predicate::olt, upper, low), low, upper);
}

/// Nearest integer, as a float and in `bits`; |x| below 2^22 (f32) or 2^51. NaN gives arbitrary
/// bits and no poison, which a conversion instruction would.
inline num nearest(const num& x, value_ref& bits) {
  const double magic = x.wide ? 0x1.8p52 : 0x1.8p23;
  const num shifted = x + magic;
  bits = x.b->binary(opcode::sub, shifted.raw(), x.number(magic).raw());
  return shifted - magic;
}

/// x * 2^n in two steps, so that results may be subnormal or infinite and no factor is.
inline num scale(const num& x, value_ref n) {
  const builder& b = *x.b;
  const int mantissa = x.wide ? 52 : 23, bias = x.wide ? 1023 : 127;
  const value_ref half = b.binary(opcode::ashr, n, x.integer(1));
  const value_ref rest = b.binary(opcode::sub, n, half);
  const auto power = [&](value_ref e) {
    return x.from_raw(
        b.binary(opcode::shl, b.binary(opcode::add, e, x.integer(bias)), x.integer(mantissa)));
  };
  return x * power(half) * power(rest);
}

/// exp(r + error) for |r| <= ln(2) / 2 and a tiny error: 1 + (r + (r^2 q(r) + error)).
inline num exp_reduced(const num& r, const num& error) {
  static constexpr std::array<double, 5> narrow{0x1.000000p-1, 0x1.55548cp-3, 0x1.55545ep-5,
                                                0x1.123cecp-7, 0x1.6db3a8p-10};
  static constexpr std::array<double, 10> wide{
      0x1.000000000000cp-1,  0x1.555555555555fp-3,  0x1.555555554fda1p-5,  0x1.111111110dd71p-7,
      0x1.6c16c186339e5p-10, 0x1.a01a01b8b3275p-13, 0x1.a019951ab0412p-16, 0x1.71dde439fb870p-19,
      0x1.28b1a4abe352bp-22, 0x1.af7f152e5fa99p-26};
  const num q = r.wide ? polynomial(r, wide) : polynomial(r, narrow);
  return r + madd(q, r * r, error) + 1.0;
}

/// Upper parts of ln(2) have so many trailing zeros that their product with an exponent is exact.
inline double ln2_upper(bool wide) { return wide ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1; }
inline double ln2_lower(bool wide) { return wide ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20; }

/// exp(x), or exp(x + *tail) for a tail that is a rounding error of x.
inline num exp(const num& x, const num* tail = nullptr) {
  const num c = x.wide ? clamp(x, -746.0, 710.0) : clamp(x, -104.0, 89.0);
  value_ref n = nullptr;
  const num whole = nearest(c * 0x1.71547652b82fep0, n);
  // The first step is exact; what the second one rounds away comes back as `error`.
  const num start = madd(whole, -ln2_upper(x.wide), c);
  const num r = madd(whole, -ln2_lower(x.wide), start);
  const num error = madd(whole, -ln2_lower(x.wide), start - r);
  if (!tail) return scale(exp_reduced(r, error), n);
  const num whole_r = r + *tail;
  return scale(exp_reduced(whole_r, error + ((r - whole_r) + *tail)), n);
}

inline num exp2(const num& x) {
  const num c = x.wide ? clamp(x, -1080.0, 1025.0) : clamp(x, -151.0, 129.0);
  value_ref n = nullptr;
  const num whole = nearest(c, n);
  const num rest = c - whole, ln2 = x.number(x.wide ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1),
            r = rest * ln2;
  const num error =
      madd(rest, x.wide ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29, madd(rest, ln2, -r));
  return scale(exp_reduced(r, error), n);
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
struct parts {
  num m, e;
};

inline parts split(const num& x) {
  const builder& b = *x.b;
  const int mantissa = x.wide ? 52 : 23;
  const double smallest = x.wide ? 0x1p-1022 : 0x1p-126;
  const value_ref tiny = test(real_predicate::olt, x, smallest);
  const num normal = choose(tiny, x * (x.wide ? 0x1p54 : 0x1p25), x);
  // Counted from sqrt(1/2), the exponent field is that of the fraction's binade.
  const value_ref root = x.integer(x.wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  const value_ref distance = b.binary(opcode::sub, normal.raw(), root);
  const value_ref exponent = b.binary(opcode::ashr, distance, x.integer(mantissa));
  const value_ref cut = b.binary(opcode::shl, exponent, x.integer(mantissa));
  const num m = x.from_raw(b.binary(opcode::sub, normal.raw(), cut));
  const num e = x.with(b.convert(opcode::sitofp, exponent, x.type()));
  return {m, choose(tiny, e - (x.wide ? 54.0 : 25.0), e)};
}

/// log(m) as head + tail, head exact enough that e * ln(2) may be added between them.
struct log_parts {
  num head, tail;
};

inline log_parts log_reduced(const num& m) {
  const num f = m - 1.0;
  if (m.wide) {
    // With s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 L(s^2))).
    static constexpr std::array<double, 7> c{
        0x1.5555555555593p-1, 0x1.999999997f93dp-2, 0x1.2492494234398p-2, 0x1.c71c51cf2beb2p-3,
        0x1.74664ba35b661p-3, 0x1.39a05dd3d8496p-3, 0x1.2f13e8fd5825ep-3};
    const num s = f / (f + 2.0), z = s * s, half_square = f * f * 0.5;
    return {f, s * (half_square + z * polynomial(z, c)) - half_square};
  }
  // log(1 + f) = f - f^2/2 + f^3 R(f).
  static constexpr std::array<double, 9> c{0x1.555546p-2,  -0x1.ffffeep-3, 0x1.99a55ap-3,
                                           -0x1.5562ecp-3, 0x1.2330fcp-3,  -0x1.fb3ff2p-4,
                                           0x1.e6695ap-4,  -0x1.e30812p-4, 0x1.1b2e3cp-4};
  const num square = f * f;
  return {f, madd(square, -0.5, polynomial(f, c) * f * square)};
}

/// What a logarithm is outside of the positive finite numbers.
inline num log_specials(const num& x, const num& ordinary) {
  const double infinity = __builtin_inf();
  num out = choose(test(real_predicate::oeq, x, infinity), infinity, ordinary);
  out = choose(test(real_predicate::oeq, x, 0.0), -infinity, out);
  return choose(test(real_predicate::ult, x, 0.0), __builtin_nan(""), out);
}

inline num log(const num& x) {
  const parts p = split(x);
  const log_parts l = log_reduced(p.m);
  const num low = madd(p.e, ln2_lower(x.wide), l.tail);
  return log_specials(x, madd(p.e, ln2_upper(x.wide), l.head + low));
}

/// Logarithm to a base with 1 / ln(base) = factor; per_two is the logarithm of 2.
inline num log_base(const num& x, double factor, double per_two) {
  const parts p = split(x);
  const log_parts l = log_reduced(p.m);
  return log_specials(x, madd(p.e, per_two, (l.head + l.tail) * factor));
}

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
  return choose(test(real_predicate::olt, a, 0.6), near, far.with_sign_of(x));
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

/// C's table of special cases around |x|^y.
inline num pow_specials(const num& x, const num& y, const num& magnitude) {
  const builder& b = *x.b;
  const num base = x.unary("llvm.fabs");
  const num half = y * 0.5;
  const value_ref whole = test(real_predicate::oeq, y.unary("llvm.floor"), y);
  const value_ref odd =
      b.binary(opcode::and_, whole, test(real_predicate::one, half.unary("llvm.floor"), half));
  const value_ref negative = b.compare(int_predicate::slt, x.raw(), x.integer(0));
  const value_ref flips = b.binary(opcode::and_, negative, odd);
  num out = choose(flips, -magnitude, magnitude);
  const value_ref below = test(real_predicate::olt, x, 0.0);
  const value_ref finite = test(real_predicate::one, base, __builtin_inf());
  const value_ref invalid =
      b.binary(opcode::and_, b.binary(opcode::and_, below, finite), b.c.BuildNot(b.b, whole, ""));
  const value_ref infinite_power = test(real_predicate::oeq, y.unary("llvm.fabs"), __builtin_inf());
  out = choose(b.binary(opcode::and_, invalid, b.c.BuildNot(b.b, infinite_power, "")),
               __builtin_nan(""), out);
  const value_ref unit =
      b.binary(opcode::and_, test(real_predicate::oeq, base, 1.0), infinite_power);
  out = choose(unit, 1.0, out);
  const value_ref one =
      b.binary(opcode::or_, test(real_predicate::oeq, x, 1.0), test(real_predicate::oeq, y, 0.0));
  return choose(one, 1.0, out);
}

/// exp(y log x) in f64.
inline num pow_f32(const num& x, const num& y) {
  const builder& b = *x.b;
  const type_ref wide_type = b.vector(b.f64, x.lanes);
  const auto widen = [&](const num& n) {
    return num{&b, b.convert(opcode::fpext, n.v, wide_type), true, n.lanes};
  };
  const num product = widen(y) * log(widen(x.unary("llvm.fabs")));
  return pow_specials(x, y, x.with(b.convert(opcode::fptrunc, exp(product).v, x.type())));
}

/// A sum of two numbers, the second a rounding error of the first.
struct pair {
  num head, tail;
};

/// log(m) to 2^-65 or so for m in [sqrt(1/2), sqrt(2)): 2 s (1 + z/3 + z^2 q(z)) with z = s^2 and
/// s = (m - 1) / (m + 1), carried in pairs. Needs fused multiply-add.
inline pair log_pair(const num& m) {
  static constexpr std::array<double, 8> q{
      0x1.999999999999ap-3, 0x1.2492492492522p-3, 0x1.c71c71c6ea871p-4, 0x1.745d177aad02ap-4,
      0x1.3b1395c881220p-4, 0x1.1118c9ee5b8a4p-4, 0x1.df7c5bc7c7563p-5, 0x1.e032e4d8436a1p-5};
  const num f = m - 1.0, u = m + 1.0, u_tail = m - (u - 1.0);
  const num s = f / u, s_tail = (madd(-s, u, f) - s * u_tail) / u;
  const num z = s * s, z_tail = madd(s, s, -z) + s * s_tail * 2.0;
  const num third = z * 0x1.5555555555555p-2, higher = z * z * polynomial(z, q);
  const num third_tail = madd(z, 0x1.5555555555555p-2, -third) +
                         madd(z, 0x1.5555555555555p-56, z_tail * 0x1.5555555555555p-2);
  const num t = third + higher, t_tail = (third - t) + higher + third_tail;
  const num two = s * 2.0, product = two * t;
  const num product_tail =
      madd(two, t, -product) + madd(two, t_tail, s_tail * t * 2.0) + s_tail * 2.0;
  const num head = two + product;
  return {head, (two - head) + product + product_tail};
}

/// exp(y log x) with the logarithm and the product in pairs. Needs fused multiply-add.
inline num pow_f64(const num& x, const num& y) {
  const num base = x.unary("llvm.fabs");
  const parts p = split(base);
  const pair l = log_pair(p.m);
  const num shift = p.e * ln2_upper(true), sum = shift + l.head;
  const num rest_of_sum = (shift - sum) + l.head + madd(p.e, ln2_lower(true), l.tail);
  const num head = sum + rest_of_sum, tail = (sum - head) + rest_of_sum;
  const num log = log_specials(base, head);
  const num product = y * log;
  const num rest = madd(y, log, -product) + y * tail;
  // beyond the range of exp, and where the logarithm is infinite, the head says it all
  const value_ref ordinary = test(real_predicate::olt, product.unary("llvm.fabs"), 800.0);
  const num error = choose(ordinary, rest, x.number(0.0));
  return pow_specials(x, y, exp(product, &error));
}

struct named_unary {
  std::string_view name;
  const char* intrinsic;  // of LLVM, cheap on every target or a libm call without SSE4.1
  const char* library;    // of libm; "f" is added for f32
};

inline constexpr std::array<named_unary, 22> plain_functions{{
    {"sqrt", "llvm.sqrt", nullptr},
    {"abs", "llvm.fabs", nullptr},
    {"fabs", "llvm.fabs", nullptr},
    {"floor", "llvm.floor", nullptr},
    {"ceil", "llvm.ceil", nullptr},
    {"trunc", "llvm.trunc", nullptr},
    {"round", "llvm.nearbyint", nullptr},
    {"nearbyint", "llvm.nearbyint", nullptr},
    {"sin", nullptr, "sin"},
    {"cos", nullptr, "cos"},
    {"tan", nullptr, "tan"},
    {"asin", nullptr, "asin"},
    {"acos", nullptr, "acos"},
    {"atan", nullptr, "atan"},
    {"sinh", nullptr, "sinh"},
    {"cosh", nullptr, "cosh"},
    {"asinh", nullptr, "asinh"},
    {"acosh", nullptr, "acosh"},
    {"atanh", nullptr, "atanh"},
    {"cbrt", nullptr, "cbrt"},
    {"expm1", nullptr, "expm1"},
    {"log1p", nullptr, "log1p"},
}};

inline value_ref call_library(const num& x, std::string name,
                              const std::vector<value_ref>& arguments) {
  if (!x.wide) name += "f";
  return x.b->library_call(name.c_str(), x.wide ? x.b->f64 : x.b->f32, arguments, x.lanes);
}

/// Tests of the bits rather than of the value, which no later pass may take for always false.
inline value_ref predicate(const num& x, std::string_view name) {
  const value_ref magnitude =
      x.b->binary(opcode::and_, x.raw(), x.integer(x.wide ? 0x7fffffffffffffff : 0x7fffffff));
  const value_ref infinity = x.integer(x.wide ? 0x7ff0000000000000 : 0x7f800000);
  const int_predicate p = name == "isnan"   ? int_predicate::ugt
                          : name == "isinf" ? int_predicate::eq
                                            : int_predicate::ult;
  return x.b->compare(p, magnitude, infinity);
}

inline value_ref unary(const num& x, std::string_view name) {
  if (name == "exp") return exp(x).v;
  if (name == "exp2") return exp2(x).v;
  if (name == "log") return log(x).v;
  if (name == "log2") return log_base(x, 0x1.71547652b82fep0, 1.0).v;
  if (name == "log10") return log_base(x, 0x1.bcb7b1526e50ep-2, 0x1.34413509f79ffp-2).v;
  if (name == "sigmoid") return sigmoid(x).v;
  if (name == "rsqrt") return (x.number(1.0) / x.unary("llvm.sqrt")).v;
  if (name == "exp10") return call_library(x, "pow", {x.number(10.0).v, x.v});
  if (name == "tanh") return (x.wide ? tanh_f64(x) : tanh_f32(x)).v;
  if (name == "erf") return (x.wide ? erf_f64(x) : erf_f32(x)).v;
  if (name == "isnan" || name == "isinf" || name == "isfinite") return predicate(x, name);
  for (const named_unary& f : plain_functions) {
    if (f.name != name) continue;
    return f.intrinsic ? x.unary(f.intrinsic).v : call_library(x, f.library, {x.v});
  }
  return nullptr;
}

}  // namespace detail::math

TILEWRIGHT_INLINE value_ref emit_math(builder& b, std::string_view name, bool is_f64,
                                      const std::vector<value_ref>& arguments, int lanes) {
  namespace m = detail::math;
  const m::num x{&b, arguments.at(0), is_f64, lanes};
  if (arguments.size() == 1) return m::unary(x, name);
  if (arguments.size() == 3 && name == "fma") return b.intrinsic("llvm.fma", {x.type()}, arguments);
  if (arguments.size() != 2) return nullptr;
  if (name == "pow" && !is_f64) return m::pow_f32(x, x.with(arguments[1])).v;
  if (name == "pow" && b.cpu.fma) return m::pow_f64(x, x.with(arguments[1])).v;
  if (name == "copysign") return b.intrinsic("llvm.copysign", {x.type()}, arguments);
  if (name == "pow" || name == "atan2" || name == "fmod" || name == "hypot" || name == "nextafter")
    return m::call_library(x, std::string(name), arguments);
  return nullptr;
}

}  // namespace tilewright::backend::llvm
