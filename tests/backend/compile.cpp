#include <tilewright/backend/compile.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/vector/narrow_lanes.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/random.hpp>

#include "harness.hpp"

using namespace harness;

namespace {

using unary = std::function<expr(const expr&)>;

/// Y[i] = value(X[i]) for i in [0, n): `lanes` at a time, then one by one.
function pointwise(dtype from, dtype to, std::int64_t n, std::int64_t lanes, const unary& value) {
  const buffer x = make_buffer("X", from, {expr(n)}), y = make_buffer("Y", to, {expr(n)});
  const var o = make_var("o"), v = make_var("v"), t = make_var("t");
  const expr wide = o * static_cast<int>(lanes) + v;
  const auto store = [&](const expr& i) { return make_store(y, {i}, value(load(x, {i}))); };
  std::vector<stmt> parts;
  if (n / lanes > 0)
    parts.push_back(make_loop(o, 0, expr(n / lanes),
                              make_loop(v, 0, expr(lanes), store(wide), loop_kind::vectorized)));
  if (n % lanes > 0) parts.push_back(make_loop(t, expr(n - n % lanes), expr(n % lanes), store(t)));
  return make("pointwise", {x, y}, make_seq(parts));
}

/// Z[i] = value(X[i], Y[i]).
function binary(dtype in, dtype out, const std::function<expr(const expr&, const expr&)>& value) {
  const buffer x = make_buffer("X", in, {29}), y = make_buffer("Y", in, {29}),
               z = make_buffer("Z", out, {29});
  const var o = make_var("o"), v = make_var("v"), t = make_var("t");
  const auto store = [&](const expr& i) {
    return make_store(z, {i}, value(load(x, {i}), load(y, {i})));
  };
  const stmt body = make_loop(o, 0, 3, make_loop(v, 0, 8, store(o * 8 + v), loop_kind::vectorized));
  return make("binary", {x, y, z}, make_seq({body, make_loop(t, 24, 5, store(t))}));
}

options filled(const char* name, std::vector<double> values) {
  options o;
  o.values[name] = std::move(values);
  return o;
}

}  // namespace

TEST_CASE("every type passes through memory, at several vector widths") {
  for (dtype t : all_dtypes)
    for (std::int64_t lanes : {1, 2, 4, 8, 16}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      check_agrees(pointwise(t, t, 37, lanes, [](const expr& x) { return x; }));
    }
}

TEST_CASE("casts between all types round, wrap and saturate as the interpreter does") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> hard{0.0,           -0.0,   1.5,     2.5,           -2.5,
                                 255.7,         -129.2, 65519.9, 65520.0,       1e-8,
                                 6.1e-5,        -3e-8,  1e10,    -1e10,         3e38,
                                 1e300,         inf,    -inf,    std::nan(""),  4294967295.0,
                                 -4294967296.5, 9.3e18, 1.9e19,  0.33333333333, 1.00390625};
  for (dtype from : all_dtypes)
    for (dtype to : all_dtypes) {
      CAPTURE(std::string(name(from)));
      CAPTURE(std::string(name(to)));
      const function f = pointwise(from, to, 25, 8, [&](const expr& x) { return cast(to, x); });
      check_agrees(f, is_float(from) ? filled("X", hard) : options{});
    }
}

TEST_CASE("integer arithmetic wraps at its width") {
  for (dtype t : {dtype::i8, dtype::u8, dtype::i16, dtype::u16, dtype::i32, dtype::u32, dtype::i64,
                  dtype::u64}) {
    CAPTURE(std::string(name(t)));
    check_agrees(binary(t, t, [](const expr& x, const expr& y) { return x * y * x + y * 57 - x; }));
    check_agrees(binary(t, t, [](const expr& x, const expr& y) { return min(x, y) * max(x, y); }));
    check_agrees(binary(t, dtype::boolean, [](const expr& x, const expr& y) {
      return logical_or(lt(x, y), ge(x, y * 2));
    }));
  }
}

TEST_CASE("integer division rounds as written, for constants and for values") {
  for (dtype t : {dtype::i8, dtype::u8, dtype::i32, dtype::u32, dtype::i64, dtype::u64}) {
    CAPTURE(std::string(name(t)));
    for (int c : {1, 2, 3, 8, 10}) {
      CAPTURE(c);
      check_agrees(pointwise(t, t, 37, 8,
                             [&](const expr& x) { return floordiv(x, c) * 3 + floormod(x, c); }));
      check_agrees(pointwise(t, t, 37, 8, [&](const expr& x) {
        return div(x, integer(t, c)) * 3 + mod(x, integer(t, c));
      }));
    }
    const auto nonzero = [&](const expr& y) {
      return select(eq(y, integer(t, 0)), integer(t, 5), y);
    };
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) {
      return floordiv(x, nonzero(y)) * 5 + floormod(x, nonzero(y));
    }));
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) {
      return div(x, nonzero(y)) * 5 + mod(x, nonzero(y));
    }));
    if (is_unsigned(t)) continue;
    check_agrees(pointwise(t, t, 37, 8, [&](const expr& x) {
      return floordiv(x, integer(t, -3)) * 7 + floormod(x, integer(t, -3));
    }));
    check_agrees(pointwise(t, t, 37, 8, [&](const expr& x) {
      return floordiv(x, integer(t, -1)) + mod(x, integer(t, -1));
    }));
  }
}

TEST_CASE("quotients of numbers of known bounds round as written, below zero too") {
  for (const int c : {2, 3, 7, 255, 256, 1000}) {
    CAPTURE(c);
    const auto both = [&](const expr& x) { return floordiv(x, c) * 5 + floormod(x, c); };
    const auto word = [](const expr& x) { return cast(dtype::i32, x); };
    for (const int n : {8, 37, 64}) {
      check_agrees(pointwise(dtype::u8, dtype::i32, n, 16,
                             [&](const expr& x) { return both(word(x) * (255 - word(x)) + 127); }));
      check_agrees(pointwise(dtype::u8, dtype::i32, n, 16,
                             [&](const expr& x) { return both(127 - word(x) * word(x)); }));
      check_agrees(pointwise(dtype::i8, dtype::i32, n, 16,
                             [&](const expr& x) { return both(word(x) * 70000); }));
      check_agrees(pointwise(dtype::i8, dtype::i32, n, 16, [&](const expr& x) {
        return div(word(x) * 3, integer(dtype::i32, c)) +
               mod(word(x) * 3, integer(dtype::i32, c)) * 7;
      }));
    }
  }
}

TEST_CASE("words in lanes are what numbers of twice as many bits are") {
  const auto word = [](const expr& x) { return cast(dtype::i32, x); };
  const auto check = [&](dtype from, dtype to, const std::function<expr(const expr&)>& value) {
    for (const int n : {37, 64}) {
      const function wide =
          pointwise(from, to, n, 16, [&](const expr& x) { return cast(to, value(word(x))); });
      const function narrow = pass::narrow_lanes(wide);
      INFO(print(wide));
      CHECK_FALSE(equal(wide, narrow));
      check_agrees(narrow);
    }
  };
  const auto shifted = [](const expr& x, int by) {
    return call(dtype::i32, "shift_right", {x, integer(dtype::i32, by)});
  };
  check(dtype::u8, dtype::u8, [](const expr& x) { return floordiv(x * (255 - x) + 127, 255); });
  check(dtype::u8, dtype::u8, [](const expr& x) { return floordiv(127 - x * x, 255); });
  check(dtype::i8, dtype::i8, [](const expr& x) { return floormod(x * 100 - 3, 77); });
  check(dtype::i8, dtype::u8, [](const expr& x) { return min(max(x * x - 50, 0), 255); });
  check(dtype::u8, dtype::u8, [](const expr& x) { return min(x * 257, 60000 - x * 200); });
  check(dtype::i8, dtype::i16,
        [](const expr& x) { return select(lt(x * 9, x * x), x * 3, x - 200); });
  check(dtype::i8, dtype::i16, [&](const expr& x) { return shifted(x * 200, 3) * x; });
  check(dtype::u8, dtype::u8, [&](const expr& x) { return shifted(x * 250, 8); });
}

TEST_CASE("the smallest integer divided by -1 wraps instead of trapping") {
  const function f = binary(dtype::i32, dtype::i32, [](const expr& x, const expr& y) {
    return floordiv(x, y) + floormod(x, y);
  });
  options o = filled("X", {-2147483648.0, 7});
  o.values["Y"] = {-1};
  check_agrees(f, o);
}

TEST_CASE("an integer division by zero neither traps nor touches the other lanes") {
  if (!have_compiler()) return;
  for (const dtype t : {dtype::i8, dtype::u8, dtype::i32, dtype::u32, dtype::i64, dtype::u64})
    for (const auto divide : {&floordiv, &floormod, &div, &mod}) {
      const function f = binary(t, t, [&](const expr& x, const expr& y) { return divide(x, y); });
      options zeros = filled("X", {9, 7, 5, 3}), ones = zeros;
      zeros.values["Y"] = {2, 0, 3, 0};
      ones.values["Y"] = {2, 1, 3, 1};
      for (const target::cpu& cpu : runnable_targets()) {
        std::vector<argument> got = make_arguments(f, zeros), want = make_arguments(f, ones);
        CHECK(run_compiled(f, cpu, got, zeros) == backend::call_done);
        CHECK(run_compiled(f, cpu, want, ones) == backend::call_done);
        CHECK(difference(got.back(), want.back()) == 0);
      }
    }
}

TEST_CASE("float operators, comparisons and choices") {
  for (dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    CAPTURE(std::string(name(t)));
    const auto half = [&] { return real(t, 0.5); };
    options o;
    o.tolerance = t == dtype::f64   ? 1e-15
                  : t == dtype::f32 ? 3e-7
                  : t == dtype::f16 ? 1e-3
                                    : 8e-3;  // contraction
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return x * y + half() - x; }), o);
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return half() - x * y; }), o);
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return x * y - half() * y; }), o);
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return div(x, y + real(t, 9)); }),
                 o);
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return mod(x, y + real(t, 9)); }),
                 o);
    check_agrees(binary(t, t,
                        [&](const expr& x, const expr& y) {
                          return floordiv(x, y + real(t, 9)) + floormod(x, real(t, 2));
                        }),
                 o);
    check_agrees(binary(t, t, [&](const expr& x, const expr& y) {
      return select(lt(x, y), min(x, half()), max(y, half()));
    }));
    check_agrees(binary(t, dtype::boolean, [&](const expr& x, const expr& y) {
      return logical_and(ne(x, y), logical_not(gt(x, half())));
    }));
  }
}

TEST_CASE("minimum, maximum and comparisons treat NaN as C++ does") {
  options o = filled("X", {1, std::nan(""), 3});
  o.values["Y"] = {std::nan(""), 2, 2, 0};
  check_agrees(
      binary(dtype::f32, dtype::f32, [](const expr& x, const expr& y) { return min(x, y); }), o);
  check_agrees(
      binary(dtype::f64, dtype::f64, [](const expr& x, const expr& y) { return max(x, y); }), o);
  for (auto compare : {eq, ne, lt, le, gt, ge})
    check_agrees(binary(dtype::f32, dtype::boolean,
                        [&](const expr& x, const expr& y) { return compare(x, y); }),
                 o);
}

TEST_CASE("booleans") {
  check_agrees(binary(dtype::boolean, dtype::boolean,
                      [](const expr& x, const expr& y) { return logical_or(logical_not(x), y); }));
  check_agrees(binary(dtype::boolean, dtype::f32, [](const expr& x, const expr& y) {
    return cast(dtype::f32, logical_and(x, y));
  }));
  check_agrees(binary(dtype::boolean, dtype::i8, [](const expr& x, const expr& y) {
    return select(x, integer(dtype::i8, -3), cast(dtype::i8, y));
  }));
}

/// `xs` by each of `divisors`, so many bytes at once, bit for bit.
template <class T>
void check_quotients(dtype type, std::vector<T> xs, const std::vector<T>& divisors,
                     std::int64_t at_once) {
  const auto n = static_cast<std::int64_t>(xs.size()), lanes = at_once / std::int64_t{sizeof(T)};
  std::vector<T> ys(xs.size());
  const buffer x = make_buffer("X", type, {n}), y = make_buffer("Y", type, {n});
  const buffer d = make_buffer("D", type, {1});
  const var o = make_var("o"), v = make_var("v");
  const expr at = o * expr(lanes) + v;
  const stmt store = make_store(y, {at}, div(load(x, {at}), load(d, {0})));
  const function f =
      make("quotients", {x, d, y},
           make_loop(o, 0, n / lanes, make_loop(v, 0, expr(lanes), store, loop_kind::vectorized)));
  for (const target::cpu& cpu : runnable_targets()) {
    const auto code = backend::load(backend::compile(f, cpu));
    for (T by : divisors) {
      void* data[] = {xs.data(), &by, ys.data()};
      CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
      int wrong = 0;
      for (std::size_t i = 0; i < xs.size(); ++i) {
        const T exact = xs[i] / by;
        const bool same = exact == ys[i] && std::signbit(exact) == std::signbit(ys[i]);
        wrong += !(same || (std::isnan(exact) && std::isnan(ys[i])));
      }
      CAPTURE(cpu.name);
      CAPTURE(by);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("quotients by one divisor for all lanes round as the division does") {
  if (!have_compiler()) return;
  const auto all = [](auto zero, dtype type, auto draw) {
    using T = decltype(zero);
    using limits = std::numeric_limits<T>;
    std::vector<T> xs(1 << 15);
    for (T& x : xs) x = draw();
    // whole vectors of ordinary numbers, of zeros among them, and of everything
    for (std::size_t i = 0; i < xs.size() / 2; ++i) {
      int exponent = 0;
      const T significand = std::isfinite(xs[i]) ? std::frexp(xs[i], &exponent) : T(1);
      xs[i] = std::ldexp(significand, static_cast<int>(i % 64) - 32);
    }
    for (std::size_t i = 0; i < xs.size() / 4; i += 100) xs[i] = T(i % 200 ? 0.0 : -0.0);
    std::vector<T> divisors{T(0),
                            T(-0.0),
                            limits::infinity(),
                            T(1),
                            T(3),
                            limits::quiet_NaN(),
                            limits::min(),
                            limits::max(),
                            limits::denorm_min(),
                            T(-10),
                            T(2) - limits::epsilon()};
    std::copy(divisors.begin(), divisors.end(), xs.end() - 100);
    for (std::size_t i = 1000; i < 1060; ++i) divisors.push_back(xs[i]);
    divisors.insert(divisors.end(), xs.end() - 400, xs.end() - 380);
    for (const std::int64_t bytes : {64, 128}) check_quotients(type, xs, divisors, bytes);
  };
  std::uint64_t state = 1;
  const auto bits = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  all(0.0f, dtype::f32,
      [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(bits() >> 32)); });
  all(0.0, dtype::f64, [&] { return std::bit_cast<double>(bits() ^ (bits() >> 32)); });
}

TEST_CASE("quotients by one divisor that are rounded to short integers are those of the division") {
  if (!have_compiler()) return;
  std::uint64_t state = 1;
  const auto word = [&] {
    return static_cast<std::uint32_t>(
        (state = state * 6364136223846793005u + 1442695040888963407u) >> 32);
  };
  using limits = std::numeric_limits<float>;
  const std::vector<float> divisors{1,
                                    3,
                                    -7,
                                    0.1f,
                                    127,
                                    0,
                                    -0.0f,
                                    0x1p-31f,
                                    0x1p-40f,
                                    1e30f,
                                    1e-30f,
                                    limits::infinity(),
                                    limits::quiet_NaN(),
                                    limits::denorm_min()};
  constexpr std::int64_t n = 1 << 13, lanes = 32;
  const buffer x = make_buffer("X", dtype::f32, {n}), d = make_buffer("D", dtype::f32, {1});
  const var o = make_var("o"), v = make_var("v");
  const expr at = o * expr(lanes) + v;
  const auto check = [&](dtype type, auto zero) {
    using T = decltype(zero);
    const buffer y = make_buffer("Y", type, {n});
    const expr whole = call(dtype::f32, "round", {div(load(x, {at}), load(d, {0}))});
    const stmt store = make_store(y, {at}, cast(type, whole));
    const function f =
        make("rounded_quotients", {x, d, y},
             make_loop(o, 0, n / lanes, make_loop(v, 0, lanes, store, loop_kind::vectorized)));
    for (const target::cpu& cpu : runnable_targets()) {
      const auto code = backend::load(backend::compile(f, cpu));
      for (float by : divisors) {
        // vectors of quotients near and at halves, of those that are too large, of tiny ones, and of any bits
        std::vector<float> xs(n);
        std::vector<T> ys(n);
        for (std::int64_t i = 0; i < n; ++i) {
          float& value = xs[static_cast<std::size_t>(i)];
          const std::int64_t kind = i / 128 % 4;
          const float near = static_cast<float>(word() % 1024) / 2 - 256;
          if (kind == 0) value = near * by;
          if (kind == 1) value = std::nextafter(near * by, word() % 2 ? 1e38f : -1e38f);
          if (kind == 2) value = std::ldexp(near, static_cast<int>(word() % 256) - 160);
          if (kind == 3) value = std::bit_cast<float>(word());
        }
        void* data[] = {xs.data(), &by, ys.data()};
        CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
        int wrong = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
          const float exact = std::nearbyint(xs[i] / by);
          const float held = std::min(std::max(exact, float{std::numeric_limits<T>::min()}),
                                      float{std::numeric_limits<T>::max()});
          wrong += ys[i] != (std::isnan(exact) ? T(0) : static_cast<T>(held));
        }
        CAPTURE(cpu.name);
        CAPTURE(by);
        CHECK(wrong == 0);
      }
    }
  };
  check(dtype::i8, std::int8_t{});
  check(dtype::u8, std::uint8_t{});
  check(dtype::i16, std::int16_t{});
  check(dtype::u16, std::uint16_t{});
}

TEST_CASE("long sums are compiled as they are interpreted, and are near to those in double") {
  constexpr int rows = 4, columns = 16, length = 3072;
  const buffer c = make_buffer("C", dtype::f32, {rows, columns}),
               a = make_buffer("A", dtype::f32, {rows, length}),
               b = make_buffer("B", dtype::f32, {length, columns});
  const var k = make_var("k"), i = make_var("i"), j = make_var("j");
  const stmt step = make_store(c, {i, j}, load(c, {i, j}) + load(a, {i, k}) * load(b, {k, j}));
  const stmt sum =
      make_loop(k, 0, length,
                make_loop(i, 0, rows, make_loop(j, 0, columns, step, loop_kind::vectorized),
                          loop_kind::unrolled),
                loop_kind::serial, {{pass::reduction_note, 1}});
  options o;
  support::random draw(5);
  for (const char* name : {"A", "B"})
    for (int n = 0; n < 49152; ++n)
      o.values[name].push_back(static_cast<float>(2 * draw.unit() - 1));
  o.values["C"] = {0.5};
  o.tolerance =
      2e-5;  // code contracts products and sums; the sums are some 20 and have 3,072 terms
  const function f = pass::lower(make("sum", {c, a, b}, sum), target::named("x86-64"));
  check_agrees(f, o);
  if (!have_compiler()) return;
  std::vector<argument> got = make_arguments(f, o);
  REQUIRE(run_compiled(f, target::host(), got, o) == backend::call_done);
  double far = 0, largest = 0;
  const auto number = [&](std::size_t p, int at) {
    return get(&got[p].bytes[std::size_t(at) * 4], dtype::f32);
  };
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < columns; ++n) {
      double exact = 0.5;
      for (int s = 0; s < length; ++s)
        exact += number(1, r * length + s) * number(2, s * columns + n);
      far = std::max(far, std::abs(number(0, r * columns + n) - exact));
      largest = std::max(largest, std::abs(exact));
    }
  CHECK(far / largest < 5e-7);
}

TEST_CASE("scalar parameters of every type") {
  for (dtype t : all_dtypes) {
    CAPTURE(std::string(name(t)));
    const var s = make_var("s", t);
    const buffer y = make_buffer("Y", t, {4});
    const var i = make_var("i");
    function f =
        make("scalar", {y}, make_loop(i, 0, 4, make_store(y, {i}, s), loop_kind::vectorized));
    f.params.insert(f.params.begin(), {{}, s});
    check_agrees(f);
  }
}

TEST_CASE("integer intrinsics") {
  for (dtype t : {dtype::i8, dtype::u16, dtype::i32, dtype::u64})
    for (const char* n :
         {"bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right", "pow"}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(n);
      check_agrees(binary(t, t, [&](const expr& x, const expr& y) { return call(t, n, {x, y}); }));
    }
  for (const char* n : {"abs", "bitwise_not", "popcount"})
    check_agrees(pointwise(dtype::i32, dtype::i32, 37, 8,
                           [&](const expr& x) { return call(dtype::i32, n, {x}); }));
}

TEST_CASE("what is not lowered is refused, with advice") {
  if (!have_compiler()) return;
  const buffer y = make_buffer("Y", dtype::f32, {4});
  const function blocks = make("blocks", {y}, make_root(make_store(y, {0}, real(dtype::f32, 1))));
  CHECK_THROWS_WITH_AS(backend::compile(blocks, target::host()), doctest::Contains("pass::lower"),
                       argument_error);
  const function unknown = make(
      "unknown", {y}, make_store(y, {0}, call(dtype::f32, "frobnicate", {real(dtype::f32, 1)})));
  CHECK_THROWS_WITH_AS(backend::compile(unknown, target::host()), doctest::Contains("frobnicate"),
                       argument_error);
  const function loose = make("loose", {y}, make_store(y, {0}, make_var("q", dtype::f32)));
  CHECK_THROWS_WITH_AS(backend::compile(loose, target::host()), doctest::Contains("\"q\""),
                       argument_error);
}

TEST_CASE("unrolling beyond reason is refused in time") {
  if (!have_compiler()) return;
  const buffer y = make_buffer("Y", dtype::f32, {4});
  stmt s = make_store(y, {0}, real(dtype::f32, 1));
  for (int i = 0; i < 3; ++i) s = make_loop(make_var("i"), 0, 1000, s, loop_kind::unrolled);
  CHECK_THROWS_AS(backend::compile(make("huge", {y}, s), target::host()), build_error);
}

TEST_CASE("equal functions give equal objects") {
  if (!have_compiler()) return;
  const auto f = [] {
    return pointwise(dtype::f32, dtype::f32, 37, 8,
                     [](const expr& x) { return call(dtype::f32, "exp", {x}); });
  };
  CHECK(backend::compile(f(), target::host()) == backend::compile(f(), target::host()));
}
