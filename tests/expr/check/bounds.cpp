#include <tilewright/expr/check/bounds.hpp>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {

/// Interval of an index expression with i in [0, 10) and j in [0, 4).
template <int N>
constexpr dsl::index_interval interval(const dsl::expression<dsl::index, N>& e) {
  dsl::axis_scope scope;
  scope.axes[0] = {"i", 10, {}, {}};
  scope.axes[1] = {"j", 4, {}, {}};
  scope.count = 2;
  return dsl::interval_of(e.nodes, N - 1, scope, {});
}

constexpr bool is(const dsl::index_interval& a, std::int64_t lo, std::int64_t hi) {
  return a.known && a.lo == lo && a.hi == hi;
}

using axes::i, axes::j, axes::k;

static_assert(is(interval(i * 2 + j - 3), -3, 18));
static_assert(is(interval(i - i + 3), 3, 3));
static_assert(is(interval(5 - i), -4, 5));
static_assert(is(interval((i - 5) / 2), -3, 2));
static_assert(is(interval(i % 4), 0, 3));
static_assert(is(interval(j % 8), 0, 3));
static_assert(is(interval((j - 4) % 8), 4, 7));
static_assert(is(interval(max(i, j) - min(i, 2)), -2, 9));
static_assert(is(interval(i * j), 0, 27));
static_assert(is(interval(select(i < 3, i, j + 20)), 0, 23));
static_assert(!interval(i + k).known);
static_assert(!interval(i / j).known);
// nothing overflows, whatever the constants
static_assert(!interval(i * 9223372036854775807).known);
static_assert(!interval((i + 1) * 4611686018427387904 * 2).known);
static_assert(!interval(i * 1000000000 * 1000000000 * 1000000000).known);

}  // namespace

TEST_CASE("random index expressions stay inside their interval") {
  constexpr auto k1 = kernel<"k">([](in<"X", float, 64> X, out<"Y", float, 10, 4> Y) {
    return Y(i, j) = zero_outside(X)((i * 7 - j * 3) / 4 + i % 3 - 2);
  });
  const ir::function f = reify(k1);
  const ir::buffer pad = ir::root_block(f)->alloc_buffers.at(0);
  int low = 100, high = -100;
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < 4; ++b) {
      const int x = static_cast<int>(std::floor((a * 7 - b * 3) / 4.0)) + a % 3 - 2;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  CHECK(ir::as_int(pad->shape[0]) >= high - low + 1);
}

TEST_CASE("what nothing bounds is refused, unless it is guarded") {
  constexpr auto quotient = kernel<"quotient">(
      [](in<"X", float, "N"> X, out<"Y", float, "N"> Y) { return Y(i) = X(i * i / (i + 1)); });
  CHECK(contains(refusal([&] {
                   reify(quotient, {{"N", 8}});
                 }),
                 "kernel quotient: X(i * i / (i + 1)): nothing bounds index 0"));
  constexpr auto guarded = kernel<"guarded">([](in<"X", float, 8> X, out<"Y", float, 8> Y) {
    return Y(i) = clamp_outside(X)(i * i / (i + 1));
  });
  const std::vector<float> x = numbers(8, 1);
  std::vector<float> y(8);
  run(guarded, {}, {x.data(), y.data()});
  for (std::size_t n = 0; n < 8; ++n) CHECK(y[n] == x[n * n / (n + 1)]);
  constexpr auto division = kernel<"division">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
    return Y(i) = zero_outside(X)(8 / (i - extent<"N"> + 3));
  });
  CHECK(contains(refusal([&] { reify(division, {{"N", 8}}); }), "can be zero"));
}
