#include <tilewright/backend/llvm/shared_quotients.hpp>

#include <bit>
#include <cstdint>

#include "../harness.hpp"

using namespace harness;
using backend::llvm::shared_quotients;

namespace {

const buffer numbers = make_buffer("X", dtype::f64, {3, 64}),
             by = make_buffer("D", dtype::f64, {64}),
             quotients = make_buffer("Y", dtype::f64, {3, 64});
const var row = make_var("c"), group = make_var("o"), lane = make_var("v");

/// Y[c, o * 8 + v] = X[c, o * 8 + v] / divisor, the loop over c inside, of some kind.
stmt divided(const expr& divisor, loop_kind rows, std::int64_t count = 3) {
  const expr at = group * expr(8) + lane;
  const stmt store = make_store(quotients, {row, at}, div(load(numbers, {row, at}), divisor));
  return make_loop(
      group, 0, 8,
      make_loop(row, 0, expr(count), make_loop(lane, 0, 8, store, loop_kind::vectorized), rows));
}

int shared_in(const stmt& s) {
  const shared_quotients shared(s);
  int out = 0;
  for_each_expr(s, [&](const expr& e) { out += shared.has(e); });
  return out;
}

/// Each of three rows of `xs` by `divisors`, bit for bit.
template <class T>
void check_rows(dtype type, std::vector<T> xs, std::vector<T> divisors) {
  const auto n = static_cast<std::int64_t>(divisors.size());
  const std::int64_t lanes = 64 / std::int64_t{sizeof(T)};
  const buffer x = make_buffer("X", type, {3, n}), d = make_buffer("D", type, {n}),
               y = make_buffer("Y", type, {3, n});
  const expr at = group * expr(lanes) + lane;
  const stmt store = make_store(y, {row, at}, div(load(x, {row, at}), load(d, {at})));
  const function f = make(
      "quotients", {x, d, y},
      make_loop(group, 0, n / lanes,
                make_loop(row, 0, 3, make_loop(lane, 0, expr(lanes), store, loop_kind::vectorized),
                          loop_kind::unrolled)));
  REQUIRE(shared_in(f.body) == 1);
  std::vector<T> ys(xs.size());
  for (const target::cpu& cpu : runnable_targets()) {
    const auto code = backend::load(backend::compile(f, cpu));
    void* data[] = {xs.data(), divisors.data(), ys.data()};
    CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
    int wrong = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const T exact = xs[i] / divisors[i % divisors.size()];
      const bool same = exact == ys[i] && std::signbit(exact) == std::signbit(ys[i]);
      wrong += !(same || (std::isnan(exact) && std::isnan(ys[i])));
    }
    CAPTURE(cpu.name);
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("quotients share a divisor where a written-out loop changes the numerator alone") {
  const expr at = group * expr(8) + lane;
  const expr divisor = load(by, {at});
  CHECK(shared_in(divided(divisor, loop_kind::unrolled)) == 1);
  CHECK(shared_in(divided(divisor, loop_kind::serial)) == 1);
  CHECK(shared_in(divided(divisor, loop_kind::parallel)) == 0);
  CHECK(shared_in(divided(divisor, loop_kind::unrolled, 2)) == 0);
  CHECK(shared_in(divided(divisor, loop_kind::serial, 100)) == 0);
  CHECK(shared_in(divided(load(numbers, {row, at}) * divisor, loop_kind::unrolled)) == 0);
  CHECK(shared_in(divided(load(quotients, {expr(0), at}), loop_kind::unrolled)) == 0);  // written
}

TEST_CASE("quotients written one after the other share a divisor, the same ones count once") {
  const auto x = [](std::int64_t r) { return load(numbers, {expr(r), lane}); };
  const auto by_sum = [&](const expr& e) { return div(e, x(0) + x(1)); };
  const auto stored = [&](const expr& value) {
    return make_loop(lane, 0, 8, make_store(quotients, {expr(0), lane}, value),
                     loop_kind::vectorized);
  };
  CHECK(shared_in(stored(by_sum(x(0)) + by_sum(x(1)) * by_sum(x(2)))) == 3);
  CHECK(shared_in(make_seq({stored(by_sum(x(0)) + by_sum(x(1))), stored(by_sum(x(2)))})) == 3);
  CHECK(shared_in(stored(by_sum(x(0)) + by_sum(x(1)) * by_sum(x(0)))) == 0);
  CHECK(shared_in(stored(by_sum(x(0)) + by_sum(x(1)) + div(x(2), x(0)))) == 0);
}

TEST_CASE("quotients by a divisor that lanes have each for themselves round as the division does") {
  if (!have_compiler()) return;
  std::uint64_t state = 1;
  const auto bits = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  const auto check = [&](dtype type, auto zero, auto draw) {
    using T = decltype(zero);
    constexpr std::size_t n = 1 << 14;
    std::vector<T> xs(3 * n), divisors(n);
    const auto ordinary = [](T x, std::size_t i) {
      int exponent = 0;
      const T significand = std::isfinite(x) ? std::frexp(x, &exponent) : T(1);
      return std::ldexp(significand, static_cast<int>(i % 64) - 32);
    };
    // vectors of ordinary numbers, of zeros among them, and of everything
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const T x = draw();
      xs[i] = i % n < n / 2 ? ordinary(x, i * 7) : x;
      if (i % n < n / 4 && i % 100 == 0) xs[i] = i % 200 ? T(0) : T(-0.0);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const T x = draw();
      divisors[i] = i < 3 * n / 4 ? ordinary(x, i * 5 + i / 64) : x;
      if (i < n / 8 && i % 77 == 0) divisors[i] = i % 2 ? T(0) : std::numeric_limits<T>::infinity();
    }
    check_rows(type, xs, divisors);
  };
  check(dtype::f32, 0.0f,
        [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(bits() >> 32)); });
  check(dtype::f64, 0.0, [&] { return std::bit_cast<double>(bits() ^ (bits() >> 32)); });
}

TEST_CASE("three quotients of vectors by one divisor take one division") {
  if (!have_compiler()) return;
  const function f = make("quotients", {numbers, by, quotients},
                          divided(load(by, {group * expr(8) + lane}), loop_kind::unrolled));
  const std::string code =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::optimized_ir);
  CHECK(code.find("fdiv <8 x double> <double 1.0") != std::string::npos);
  check_agrees(f);
}
