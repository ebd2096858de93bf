// Errors of functions of floats in machine code, in units of the last place.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../../harness.hpp"

namespace harness {

/// Distance of `got` from `exact` in units of the last place of the result's type. A zero of the wrong sign is far away.
template <class T>
double ulps(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e30;
  if (nearest == 0 && got == 0 && std::signbit(got) != std::signbit(nearest)) return 1e30;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  const int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent;
  const long double unit = std::ldexp(1.0L, std::max(exponent, least) - digits);
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

/// Y[i] = name(X[i]) in vectors, over `xs` (a multiple of `lanes` of them).
template <class T>
std::vector<T> evaluate(const std::string& name, dtype t, const std::vector<T>& xs,
                        const target::cpu& cpu, int lanes = 8) {
  const auto n = static_cast<std::int64_t>(xs.size());
  const buffer x = make_buffer("X", t, {expr(n)}), y = make_buffer("Y", t, {expr(n)});
  const var o = make_var("o", dtype::i64), v = make_var("v");
  const expr i = o * lanes + v;
  const stmt store = make_store(y, {i}, call(t, name, {load(x, {i})}));
  const function f = make(
      "math", {x, y},
      make_loop(o, 0, expr(n / lanes), make_loop(v, 0, expr(lanes), store, loop_kind::vectorized)));
  const auto code = backend::load(backend::compile(f, cpu));
  std::vector<T> out(xs.size());
  void* data[] = {const_cast<T*>(xs.data()), out.data()};
  CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
  return out;
}

/// Every 16411th float, and floats and doubles close to each other: doubles spread over the exponents, over [-40, 40],
/// and towards 0, 1 and -1.
inline std::vector<float> float_samples() {
  std::vector<float> out;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 16411)
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (int i = -100000; i <= 100000; ++i) out.push_back(static_cast<float>(i) * 0.00103f);
  for (int i = -50000; i <= 50000; ++i) out.push_back(static_cast<float>(i) * 0x1p-15f);
  for (float special : {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        INFINITY,
                        -INFINITY,
                        NAN,
                        1e-45f,
                        -1e-45f,
                        1.17549435e-38f,
                        3.4e38f,
                        88.7f,
                        88.73f,
                        -87.4f,
                        -103.9f,
                        -104.0f,
                        8.3f,
                        9.5f,
                        3.83f,
                        -1e-40f,
                        -3.4e38f,
                        89.4f,
                        89.42f,
                        -89.5f,
                        0x1.fffffep-1f,
                        0x1.000002p0f,
                        -0x1.fffffep-1f,
                        0x1p13f,
                        0x1.000002p13f})
    out.push_back(special);
  out.resize((out.size() + 15) / 16 * 16);
  return out;
}

inline std::vector<double> double_samples() {
  std::vector<double> out;
  std::uint64_t state = 1;
  for (int i = 0; i < 50000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out.push_back(std::bit_cast<double>(state));
    out.push_back((static_cast<double>(state >> 11) * 0x1p-53 - 0.5) * 80);
    out.push_back(static_cast<double>(i) * 1e-5 + 0.5);
    const double part = static_cast<double>(state >> 11) * 0x1p-53,
                 close = std::ldexp(part, -static_cast<int>(state % 60));
    out.insert(out.end(), {close, -close, 1 + close, 1 - close, close - 1, part * 2 - 1});
  }
  for (double special : {0.0,           -0.0,         1.0,
                         HUGE_VAL,      -HUGE_VAL,    static_cast<double>(NAN),
                         5e-324,        2.3e-308,     709.78,
                         709.79,        -745.1,       -745.2,
                         -5e-324,       -2.3e-308,    1.7e308,
                         -1.7e308,      710.475,      710.476,
                         -710.5,        1 - 0x1p-53,  1 + 0x1p-52,
                         0x1p-53 - 1,   -1 - 0x1p-52, 0x1p28,
                         0x1.0000001p28})
    out.push_back(special);
  out.resize((out.size() + 15) / 16 * 16);
  return out;
}

struct bound {
  std::string name;
  double ulps;  // with fused multiply-add
  std::function<long double(long double)> exact;
};

/// Lanes that a vector of tests has: of 512 bits only where the target has them, since there code may differ.
inline int lanes_of_test(dtype t, const target::cpu& cpu) {
  return std::min(16, std::max(8, cpu.lanes(t)));
}

template <class T>
void check_bounds(const std::vector<bound>& bounds, dtype t, const std::vector<T>& xs) {
  for (const bound& b : bounds) {
    std::vector<long double> exact;
    for (const T x : xs) exact.push_back(b.exact(static_cast<long double>(x)));
    for (const target::cpu& cpu : runnable_targets()) {
      const std::vector<T> ys = evaluate(b.name, t, xs, cpu, lanes_of_test(t, cpu));
      double worst = 0;
      T at = 0;
      for (std::size_t i = 0; i < xs.size(); ++i) {
        const double e = ulps(ys[i], exact[i]);
        if (e > worst) worst = e, at = xs[i];
      }
      CAPTURE(cpu.name);
      CAPTURE(b.name);
      CAPTURE(at);
      CHECK(worst <= b.ulps + (cpu.fma ? 0 : 1));
    }
  }
}

/// Z[i] = name(X[i], Y[i]) in vectors, over `xs` (a multiple of 16 of them).
template <class T>
std::vector<T> evaluate_two(const std::string& name, dtype t, std::vector<T> xs, std::vector<T> ys,
                            const target::cpu& cpu) {
  const auto n = static_cast<std::int64_t>(xs.size());
  const std::int64_t lanes = lanes_of_test(t, cpu);
  const buffer x = make_buffer("X", t, {expr(n)}), y = make_buffer("Y", t, {expr(n)}),
               z = make_buffer("Z", t, {expr(n)});
  const var o = make_var("o", dtype::i64), v = make_var("v");
  const expr i = o * expr(lanes) + v;
  const stmt store = make_store(z, {i}, call(t, name, {load(x, {i}), load(y, {i})}));
  const function f = make(
      "two", {x, y, z},
      make_loop(o, 0, expr(n / lanes), make_loop(v, 0, expr(lanes), store, loop_kind::vectorized)));
  const auto code = backend::load(backend::compile(f, cpu));
  std::vector<T> out(xs.size());
  void* data[] = {xs.data(), ys.data(), out.data()};
  CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
  return out;
}

/// Pairs of special values, of all exponents, and of sizes not far from each other.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pair_samples() {
  using limits = std::numeric_limits<T>;
  const T inf = limits::infinity(), nan = limits::quiet_NaN(), least = limits::denorm_min(),
          most = limits::max(), normal = limits::min();
  const std::vector<T> special{0,       -T(0), 1,      -1,     inf,      -inf,
                               nan,     least, -least, most,   -most,    normal,
                               -normal, T(.5), 2,      T(3.1), most / 2, normal * T(1.5)};
  std::vector<T> xs, ys;
  const auto both = [&](T x, T y) {
    xs.push_back(x);
    ys.push_back(y);
  };
  for (const T x : special)
    for (const T y : special) both(x, y);
  std::uint64_t state = 7;
  const auto word = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
  };
  const auto any = [&] {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<float>(static_cast<std::uint32_t>(word() >> 32));
    else
      return std::bit_cast<double>(word());
  };
  const auto part = [&] {
    return static_cast<T>(static_cast<double>(word() >> 11) * 0x1p-53 - 0.5);
  };
  for (int i = 0; i < 40000; ++i) {
    const T x = any(), u = part();
    both(x, any());
    both(x, x * part() * 4);
    both(u, part());
    both(std::ldexp(u, i % 40), part());
  }
  xs.resize(xs.size() / 16 * 16);
  ys.resize(xs.size());
  return {xs, ys};
}

template <class T>
void check_two(const std::string& name, dtype t, double ulps_with_fma,
               long double (*exact)(long double, long double)) {
  const std::pair<std::vector<T>, std::vector<T>> samples = pair_samples<T>();
  const std::vector<T>&xs = samples.first, &ys = samples.second;
  std::vector<long double> want;
  for (std::size_t i = 0; i < xs.size(); ++i)
    want.push_back(exact(static_cast<long double>(xs[i]), static_cast<long double>(ys[i])));
  for (const target::cpu& cpu : runnable_targets()) {
    const std::vector<T> zs = evaluate_two(name, t, xs, ys, cpu);
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < zs.size(); ++i) {
      const double e = ulps(zs[i], want[i]);
      if (e > worst) worst = e, at = i;
    }
    CAPTURE(cpu.name);
    CAPTURE(name);
    CAPTURE(xs[at]);
    CAPTURE(ys[at]);
    CHECK(worst <= ulps_with_fma + (cpu.fma || ulps_with_fma == 0 ? 0 : 1));
  }
}

}  // namespace harness
