#include <tilewright/backend/llvm/math.hpp>

#include <utility>

#include "functions/errors.hpp"

using namespace harness;

TEST_CASE("errors of the f32 functions are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"exp", 1, [](real x) { return std::exp(x); }},
                       {"exp2", 1, [](real x) { return std::exp2(x); }},
                       {"exp10", 1, [](real x) { return std::pow(10.0L, x); }},
                       {"log", 2, [](real x) { return std::log(x); }},
                       {"log2", 3, [](real x) { return std::log2(x); }},
                       {"log10", 3, [](real x) { return std::log10(x); }},
                       {"tanh", 5, [](real x) { return std::tanh(x); }},
                       {"erf", 6, [](real x) { return std::erf(x); }},
                       {"rsqrt", 1.5, [](real x) { return 1 / std::sqrt(x); }},
                       {"sqrt", 0.5, [](real x) { return std::sqrt(x); }},
                       {"sin", 1, [](real x) { return std::sin(x); }},
                       {"cos", 1, [](real x) { return std::cos(x); }}},
                      dtype::f32, float_samples());
}

TEST_CASE("errors of the f64 functions are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<double>({{"exp", 2, [](real x) { return std::exp(x); }},
                        {"exp2", 2, [](real x) { return std::exp2(x); }},
                        {"exp10", 2, [](real x) { return std::pow(10.0L, x); }},
                        {"log", 2, [](real x) { return std::log(x); }},
                        {"log2", 3, [](real x) { return std::log2(x); }},
                        {"log10", 3, [](real x) { return std::log10(x); }},
                        {"rsqrt", 1.5, [](real x) { return 1 / std::sqrt(x); }},
                        {"sin", 1, [](real x) { return std::sin(x); }},
                        {"cos", 1, [](real x) { return std::cos(x); }},
                        {"tanh", 3, [](real x) { return std::tanh(x); }},
                        {"erf", 3, [](real x) { return std::erf(x); }}},
                       dtype::f64, double_samples());
}

TEST_CASE("sine and cosine beside the multiples of a quarter turn, and at signed zeros") {
  if (!have_compiler()) return;
  // up to the limit of the inline reduction, across it, and where doubles lie a turn apart
  std::vector<double> xs;
  std::vector<float> narrow;
  const auto around = [&](std::uint64_t k) {
    const auto quarter = static_cast<double>(static_cast<long double>(k) * 1.57079632679489661923L);
    for (const double x : {quarter, std::nextafter(quarter, 0.0), std::nextafter(quarter, 1e300)}) {
      xs.push_back(x);
      xs.push_back(-x);
    }
    const auto close = static_cast<float>(quarter);
    for (const float x : {close, std::nextafter(close, 0.0f), std::nextafter(close, 1e30f)}) {
      narrow.push_back(x);
      narrow.push_back(-x);
    }
  };
  for (std::uint64_t k = 1; k < 667600; k = k < 2000 ? k + 1 : k + 97) around(k);
  for (std::uint64_t k = 667000; k < (std::uint64_t{1} << 60); k += k / 1000) around(k);
  for (const double x : {1e17, 1e22, 0x1p1023, 0x1.921fb54442d18p+600}) xs.push_back(x);
  xs.resize((xs.size() + 7) / 8 * 8);
  narrow.resize((narrow.size() + 7) / 8 * 8);
  using real = long double;
  const std::vector<bound> both{{"sin", 1, [](real x) { return std::sin(x); }},
                                {"cos", 1, [](real x) { return std::cos(x); }}};
  check_bounds<double>(both, dtype::f64, xs);
  check_bounds<float>(both, dtype::f32, narrow);
  for (const target::cpu& cpu : runnable_targets()) {
    const std::vector<double> zeros{0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 5e-324, -5e-324};
    const std::vector<double> ys = evaluate("sin", dtype::f64, zeros, cpu);
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(std::bit_cast<std::uint64_t>(ys[i]) == std::bit_cast<std::uint64_t>(zeros[i]));
    const std::vector<float> few{0.0f, -0.0f, 1e-45f, -1e-45f, 0.0f, -0.0f, 1e-20f, -1e-20f};
    const std::vector<float> zs = evaluate("sin", dtype::f32, few, cpu);
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(std::bit_cast<std::uint32_t>(zs[i]) == std::bit_cast<std::uint32_t>(few[i]));
    for (const double one : evaluate("cos", dtype::f64, zeros, cpu)) CHECK(one == 1.0);
  }
}

TEST_CASE("a lane beyond the limit leaves its neighbours as they were") {
  if (!have_compiler()) return;
  const std::vector<double> xs{1, 2, 1e300, -3, HUGE_VAL, 0.5, std::nan(""), 4};
  for (const target::cpu& cpu : runnable_targets())
    for (const auto& [name, exact] :
         {std::pair{"sin", +[](long double x) { return std::sin(x); }},
          std::pair{"cos", +[](long double x) { return std::cos(x); }}}) {
      const std::vector<double> ys = evaluate(name, dtype::f64, xs, cpu);
      for (std::size_t i = 0; i < 8; ++i)
        CHECK(ulps(ys[i], exact(static_cast<long double>(xs[i]))) <= 2);
    }
}

TEST_CASE("sigmoid where it does not underflow") {
  if (!have_compiler()) return;
  std::vector<float> xs;
  for (int i = 0; i < 80000; ++i) xs.push_back(static_cast<float>(i - 40000) * 0.0021f);
  for (const target::cpu& cpu : runnable_targets()) {
    const std::vector<float> ys = evaluate("sigmoid", dtype::f32, xs, cpu);
    double worst = 0;
    for (std::size_t i = 0; i < xs.size(); ++i)
      worst = std::max(worst, ulps(ys[i], 1 / (1 + std::exp(-static_cast<long double>(xs[i])))));
    CHECK(worst <= 4);
  }
}

namespace {

/// Bases of all magnitudes, those near 1, and powers up to where results leave the range.
template <class T>
void check_pow(dtype t, double ulps_with_fma) {
  constexpr std::int64_t n = 1 << 17;
  constexpr bool narrow = sizeof(T) == 4;
  std::vector<T> xs, ys;
  std::uint64_t state = 7;
  const auto unit = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (std::int64_t k = 0; k < n; ++k) {
    const int exponents = narrow ? 274 : 2140;
    const double base =
        k % 3 == 0 ? std::ldexp(0.5 + unit(), static_cast<int>(unit() * exponents) - exponents / 2)
        : k % 3 == 1
            ? 1 + (unit() - 0.5) * std::ldexp(1.0, -static_cast<int>(unit() * (narrow ? 20 : 40)))
            : unit() * 10;
    xs.push_back(static_cast<T>(base));
    const double logarithm = std::abs(std::log(static_cast<double>(xs.back())));
    ys.push_back(static_cast<T>((unit() * 2 - 1) *
                                std::min(1e15, (narrow ? 104 : 750) / (logarithm + 1e-300))));
  }
  for (const target::cpu& cpu : runnable_targets()) {
    const std::vector<T> zs = evaluate_two("pow", t, xs, ys, cpu);
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t k = 0; k < zs.size(); ++k) {
      const long double exact =
          std::pow(static_cast<long double>(xs[k]), static_cast<long double>(ys[k]));
      const double e = ulps(zs[k], exact);
      if (e > worst) worst = e, at = k;
    }
    CAPTURE(cpu.name);
    CAPTURE(xs[at]);
    CAPTURE(ys[at]);
    CHECK(worst <= ulps_with_fma + (cpu.fma || narrow ? 0 : 1));
  }
}

}  // namespace

TEST_CASE("pow is exact to one unit in the last place in f32, to two in f64") {
  if (!have_compiler()) return;
  check_pow<float>(dtype::f32, 1);
  check_pow<double>(dtype::f64, 2);
}

TEST_CASE("powers of f32 that are floats come out exactly") {
  if (!have_compiler()) return;
  std::vector<float> xs, ys, exponents;
  for (int x = 1; x < 128; ++x)
    for (int y = -3; y <= 24; ++y) {
      const double exact = std::pow(x, y);
      if (static_cast<double>(static_cast<float>(exact)) != exact) continue;
      xs.insert(xs.end(), {static_cast<float>(x), static_cast<float>(-x)});
      ys.insert(ys.end(), {static_cast<float>(y), static_cast<float>(y)});
    }
  xs.resize(xs.size() / 16 * 16);
  ys.resize(xs.size());
  for (int k = 0; k < 8; ++k) exponents.push_back(static_cast<float>(k));
  for (const target::cpu& cpu : runnable_targets()) {
    CAPTURE(cpu.name);
    const std::vector<float> zs = evaluate_two("pow", dtype::f32, xs, ys, cpu);
    for (std::size_t k = 0; k < zs.size(); ++k) CHECK(zs[k] == std::pow(xs[k], ys[k]));
    const std::vector<float> tens = evaluate("exp10", dtype::f32, exponents, cpu);
    for (std::size_t k = 0; k < tens.size(); ++k)
      CHECK(tens[k] == static_cast<float>(std::pow(10.0, static_cast<double>(k))));
  }
}

TEST_CASE("pow keeps C's special cases") {
  for (const dtype t : {dtype::f32, dtype::f64}) {
    const buffer x = make_buffer("X", t, {400}), y = make_buffer("Y", t, {400}),
                 z = make_buffer("Z", t, {400});
    const var o = make_var("o"), v = make_var("v");
    const expr i = o * 8 + v;
    const function f =
        make("pow", {x, y, z},
             make_loop(o, 0, 50,
                       make_loop(v, 0, 8,
                                 make_store(z, {i}, call(t, "pow", {load(x, {i}), load(y, {i})})),
                                 loop_kind::vectorized)));
    const double inf = HUGE_VAL, nan = std::nan("");
    const std::vector<double> values{0.0, -0.0, 1,   -1,    2,    -2,  0.5,  -0.5, 3, -3,
                                     inf, -inf, nan, 1e-40, 1e30, 2.5, -2.5, 1e10, 7, -1e-3};
    options o2;
    for (int k = 0; k < 400; ++k) {
      o2.values["X"].push_back(values[static_cast<std::size_t>(k / 20)]);
      o2.values["Y"].push_back(values[static_cast<std::size_t>(k % 20)]);
    }
    o2.tolerance = t == dtype::f32 ? 3e-7 : 1e-15;
    check_agrees(f, o2);
  }
}

TEST_CASE("the other functions agree with the C library") {
  for (dtype t : {dtype::f16, dtype::f32, dtype::f64}) {
    for (const char* n :
         {"floor", "ceil", "round", "trunc", "abs", "sin", "cos", "tan", "asin", "atan", "sinh",
          "cosh", "asinh", "atanh", "cbrt", "expm1", "exp10", "log1p", "sigmoid"}) {
      CAPTURE(n);
      const buffer x = make_buffer("X", t, {24}), y = make_buffer("Y", t, {24});
      const var o = make_var("o"), v = make_var("v");
      const expr i = o * 8 + v;
      options opts;
      opts.tolerance = t == dtype::f64 ? 1e-14 : t == dtype::f32 ? 2e-6 : 2e-3;
      check_agrees(make("fn", {x, y},
                        make_loop(o, 0, 3,
                                  make_loop(v, 0, 8, make_store(y, {i}, call(t, n, {load(x, {i})})),
                                            loop_kind::vectorized))),
                   opts);
    }
    for (const char* n : {"pow", "atan2", "fmod", "hypot", "copysign", "nextafter"}) {
      CAPTURE(n);
      const buffer x = make_buffer("X", t, {16}), y = make_buffer("Y", t, {16});
      const var v = make_var("v");
      options opts;
      opts.tolerance = t == dtype::f64 ? 1e-14 : t == dtype::f32 ? 2e-6 : 2e-3;
      check_agrees(
          make("fn2", {x, y},
               make_loop(v, 0, 16, make_store(y, {v}, call(t, n, {load(y, {v}), load(x, {v})})),
                         loop_kind::vectorized)),
          opts);
    }
    for (const char* n : {"isnan", "isinf", "isfinite"}) {
      const buffer x = make_buffer("X", t, {16}), y = make_buffer("Y", dtype::boolean, {16});
      const var v = make_var("v");
      options opts;
      opts.values["X"] = {1, HUGE_VAL, std::nan(""), -HUGE_VAL, 0};
      check_agrees(
          make("is", {x, y},
               make_loop(v, 0, 16, make_store(y, {v}, call(dtype::boolean, n, {load(x, {v})})),
                         loop_kind::vectorized)),
          opts);
    }
  }
}

TEST_CASE("no call leaves vector code of the inline functions") {
  if (!have_compiler()) return;
  for (const char* n :
       {"exp", "log", "tanh", "erf", "sigmoid", "sqrt", "rsqrt", "floor", "log1p", "expm1", "sinh",
        "cosh", "asinh", "acosh", "atanh", "atan", "asin", "acos", "cbrt"}) {
    const buffer x = make_buffer("X", dtype::f32, {8}), y = make_buffer("Y", dtype::f32, {8});
    const var v = make_var("v");
    const function f =
        make("inl", {x, y},
             make_loop(v, 0, 8, make_store(y, {v}, call(dtype::f32, n, {load(x, {v})})),
                       loop_kind::vectorized));
    const std::string text =
        backend::inspect(f, target::named("haswell"), backend::stage::assembly);
    CAPTURE(n);
    CHECK(text.find("@PLT") == std::string::npos);
    CHECK(text.find("ymm") != std::string::npos);
  }
}
