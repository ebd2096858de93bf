#include <tilewright/arith/analyzer.hpp>

#include <doctest/doctest.h>

#include <tilewright/arith/linear.hpp>

#include "arith/random_expr.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using arith::analyzer;
using arith::bounds;

namespace {

struct fixture {
  analyzer known;
  var i = make_var("i"), j = make_var("j"), k = make_var("k"), n = make_var("n");
  fixture() {
    known.bind(i, 0, 7);
    known.bind(j, 0, 15);
    known.bind(k, 0, 99);
  }
  bool becomes(const expr& from, const expr& to) const {
    return arith::same_value(known.simplify(from), to) && known.simplify(from)->op == to->op;
  }
};

}  // namespace

TEST_CASE_FIXTURE(fixture, "sums are collected") {
  CHECK(becomes(i + j - i, j));
  CHECK(becomes(i * 2 + (j - i) * 3, j * 3 - i));
  CHECK(is_int(known.simplify((i + j) * 4 - i * 4 - j * 4), 0));
  CHECK(becomes((i + 1) * (j + 2) - i * j, i * 2 + j + 2));
  const expr fine = i * 16 + j + 3;
  CHECK(known.simplify(fine).same(fine));
}

TEST_CASE_FIXTURE(fixture, "quotients and remainders are reduced by bounds and divisibility") {
  CHECK(becomes(floordiv(n * 8 + i, 8), n));
  CHECK(becomes(floormod(n * 8 + i, 8), i));
  CHECK(becomes(floordiv(floordiv(n, 3), 4), floordiv(n, 12)));
  CHECK(becomes(floormod(floormod(n, 12), 4), floormod(n, 4)));
  CHECK(becomes(floordiv(floormod(n, 12), 4), floormod(floordiv(n, 4), 3)));
  CHECK(becomes(floordiv(floormod(k, 7) * 16 + i, 14), floormod(floordiv(k * 16 + i, 14), 8)));
  CHECK(becomes(floordiv(floormod(k, 7) * 4 + i, 14), floordiv(floormod(k, 7) * 4 + i, 14)));
  const expr large = floordiv(floormod(n, 7) * 16 + i, 14);  // n * 16 might overflow
  CHECK(becomes(large, large));
  CHECK(becomes(floordiv(n * 32 + i * 4 + 3, 16), n * 2 + floordiv(i, 4)));
  CHECK(becomes(floormod(n * 10 + i, 5), floormod(i, 5)));
  CHECK(becomes(floormod(n * 4 + 2, 6), floormod(n * 2 + 1, 3) * 2));
  CHECK(becomes(floordiv(n * 6 + 4, 4), floordiv(n * 3, 2) + 1));
  CHECK(becomes(floordiv(i - 8, 8), integer(dtype::i32, -1)));
  CHECK(becomes(floordiv(n * 9 + i, 8) - n, floordiv(n * 9 + i, 8) - n));
  CHECK(becomes(floordiv(i * 9, 8), i));
  CHECK(becomes(floormod(i * 9, 8), i));
  CHECK(becomes(floordiv(n * k + i, k), floordiv(i, k) + n));
}

TEST_CASE_FIXTURE(fixture, "quotient and remainder of one value join") {
  CHECK(becomes(floordiv(n, 8) * 8 + floormod(n, 8), n));
  CHECK(becomes(n - floordiv(n, 8) * 8, floormod(n, 8)));
  CHECK(becomes(floordiv(n, 24) * 24 + floormod(floordiv(n, 6), 4) * 6 + floormod(n, 6), n));
  CHECK(becomes(floormod(floordiv(n, 6), 4) * 6 + floormod(n, 6), floormod(n, 24)));
  CHECK(becomes(floordiv(n + 5, 8) * 8 + floormod(n + 5, 8), n + 5));
  CHECK(known.prove(ge(floordiv(n + 15, 16) * 16, n)));
  CHECK(known.prove(lt(floordiv(n + 15, 16) * 16, n + 16)));
}

TEST_CASE_FIXTURE(fixture, "symbolic divisors") {
  analyzer a;
  const var N = make_var("N"), x = make_var("x"), y = make_var("y");
  a.bind(x, range{0, N});
  CHECK(a.simplify(floordiv(y * N + x, N)).same(y));
  CHECK(a.simplify(floormod(y * N + x, N)).same(x));
  CHECK(is_int(a.simplify(floordiv(x, N)), 0));
  CHECK(a.simplify(floordiv(y, N) * N + floormod(y, N)).same(y));
}

TEST_CASE_FIXTURE(fixture, "extrema, comparisons and conditions") {
  CHECK(becomes(min(i, j + 8), i));
  CHECK(becomes(max(i, j + 8), j + 8));
  CHECK(becomes(min(i * 8 + 8, n) - i * 8, min(n - i * 8, expr(8))));
  CHECK(becomes(min(min(n, 8), i), min(n, i)));
  CHECK(is_true(known.simplify(lt(i, 8))));
  CHECK(is_int(known.simplify(ge(i, 8)), 0));
  CHECK(becomes(lt(i * 8, 60), boolean(true)));
  CHECK(becomes(gt(j + 3, i), le(i, j + 2)));
  CHECK(becomes(le(k * 4 + 3, 50), lt(k, 12)));
  CHECK(becomes(logical_and(lt(k, 50), lt(k, 20)), lt(k, 20)));
  CHECK(becomes(logical_or(lt(k, 50), lt(k, 20)), lt(k, 50)));
  CHECK(is_int(known.simplify(logical_and(lt(k, 20), gt(k, 30))), 0));
  CHECK(is_true(known.simplify(logical_or(lt(k, 40), gt(k, 30)))));
  CHECK(becomes(logical_not(lt(k, 20)), le(20, k)));
  CHECK(becomes(select(lt(i, 8), j, k), j));
  CHECK(becomes(if_then_else(lt(k, 8), i + j, j + i), i + j));
}

TEST_CASE("facts") {
  analyzer a;
  const var i0 = make_var("i0"), i1 = make_var("i1"), N = make_var("N");
  a.bind(i0, 0, 21);
  a.bind(i1, 0, 5);
  CHECK_FALSE(a.prove(lt(i0 * 6 + i1, 127)));
  a.assume(lt(i0 * 6 + i1, 127));
  CHECK(a.prove(lt(i0 * 6 + i1, 127)));
  CHECK(a.prove(lt(i0 * 12 + i1 * 2 + 1, 254)));
  CHECK(a.const_bounds(i0 * 6 + i1) == bounds{0, 126});
  CHECK(is_int(a.simplify(floordiv(i0 * 6 + i1, 127)), 0));
  a.assume(logical_and(ge(N, 1), lt(i0, 4)));
  CHECK(a.const_bounds(i0) == bounds{0, 3});
  CHECK(a.const_bounds(N).lo == 1);
  a.assume(eq(N, 128));
  CHECK(is_int(a.simplify(N * 2), 256));
}

TEST_CASE("a fact that leads back to itself ends") {
  analyzer a;
  const var z = make_var("z");
  a.assume(le(z, floordiv(z, 2) * 3 + 1));
  a.assume(ge(z, floordiv(z, 3) - 9));
  CHECK_FALSE(a.prove(lt(floordiv(z, 2), 5)));
  CHECK(a.prove(le(z * 2, floordiv(z, 2) * 6 + 2)));
}

TEST_CASE("symbolic ranges") {
  analyzer a;
  const var io = make_var("io"), i = make_var("i"), N = make_var("N");
  a.bind(io, range{0, ceildiv(N, 8)});
  a.bind(i, range{0, min(N - io * 8, expr(8))});
  CHECK(a.prove(lt(io * 8 + i, N)));
  CHECK(a.prove(ge(io * 8 + i, 0)));
  CHECK(a.prove(lt(i, 8)));
  CHECK_FALSE(a.prove(lt(io * 8 + 7, N)));
  CHECK_FALSE(a.prove(lt(i, 7)));
  analyzer b;
  b.bind(i, range{0, N - io * 8});
  CHECK(b.prove(lt(i + io * 8, N)));
  CHECK_FALSE(b.prove(lt(i + io * 8 + 1, N)));
}

TEST_CASE("rebinding a variable forgets what was known about it") {
  analyzer a;
  const var i = make_var("i"), N = make_var("N");
  a.bind(i, range{0, N});
  CHECK(a.prove(lt(i, N)));
  a.bind(i, 0, 3);
  CHECK_FALSE(a.prove(lt(i, N)));
}

TEST_CASE("i32 and i64 mix through casts") {
  analyzer a;
  const var i = make_var("i"), l = make_var("l", dtype::i64);
  a.bind(i, 0, 7);
  a.bind(l, 0, 99);
  CHECK(a.simplify(floordiv(l * std::int64_t{8} + cast(dtype::i64, i), std::int64_t{8})).same(l));
  CHECK(a.simplify(cast(dtype::i32, cast(dtype::i64, i))).same(i));
  CHECK(a.prove(lt(cast(dtype::i32, l), 100)));
  const var wild = make_var("wild", dtype::i64);
  const expr narrowed = cast(dtype::i32, wild);
  CHECK(a.simplify(narrowed).same(narrowed));
  CHECK_FALSE(a.prove(eq(cast(dtype::i64, narrowed), wild)));
}

TEST_CASE("a quotient of wide values stays wide when it is narrowed") {
  analyzer a;
  const var l = make_var("l", dtype::i64);
  a.bind(l, 0, std::int64_t{1} << 33);
  const expr e = floordiv(cast(dtype::i32, floordiv(l, std::int64_t{6})) + 16, 2);
  testing::variables vars = {{l, 0, 0, (std::int64_t{1} << 33) - 5}};
  bool defined = true;
  CHECK(testing::evaluate(a.simplify(e), vars, defined) == testing::evaluate(e, vars, defined));
}

TEST_CASE("data may wrap, and floats are not touched") {
  const buffer b = make_buffer("B", dtype::i32, {16}), c = make_buffer("C", dtype::i8, {16});
  const buffer f = make_buffer("F", dtype::f32, {16});
  const var i = make_var("i");
  analyzer a;
  const expr x = load(b, {i}), narrow = cast(dtype::i32, load(c, {i}));
  CHECK_FALSE(a.prove(gt(x + 1, x)));
  CHECK(a.prove(gt(narrow + 1, narrow)));
  CHECK(is_int(a.simplify(x + 1 - x), 1));
  CHECK_FALSE(is_int(a.simplify(floordiv(x * 2, 2) - x), 0));
  const expr sum = load(f, {i}) + real(dtype::f32, 1.0) - load(f, {i});
  CHECK(a.simplify(sum).same(sum));
  const expr shifted = load(f, {i + i - i}) + real(dtype::f32, 0.0);
  CHECK(a.simplify(shifted)->args[0]->args[0].same(i));
}

TEST_CASE("a branch is simplified with its condition") {
  const buffer x = make_buffer("X", dtype::f32, {16});
  const var i = make_var("i");
  analyzer a;
  a.bind(i, 0, 17);
  const expr zero = real(dtype::f32, 0.0);
  const expr inner = if_then_else(ge(i, 1), load(x, {max(i - 1, 0)}), zero);
  const expr out = a.simplify(if_then_else(logical_and(ge(i, 1), lt(i, 17)), inner, zero));
  REQUIRE(out->op == op::if_then_else);
  REQUIRE(out->args[1]->op == op::load);
  CHECK(arith::same_value(out->args[1]->args[0], i - 1));
}

TEST_CASE("deep nests of data take linear time") {
  const buffer b = make_buffer("B", dtype::i32, {16});
  expr e = load(b, {0});
  for (int level = 0; level < 40; ++level) {
    e = max(min(e * 2 + 1, load(b, {1})), load(b, {2}));
    e = floordiv(select(lt(e, load(b, {3})), integer(dtype::i32, 7), load(b, {4})), 3);
    e = floormod(cast(dtype::i32, cast(dtype::i64, e + 1)), load(b, {5}));
  }
  CHECK(analyzer().simplify(e).type() == dtype::i32);
}

TEST_CASE("extreme numbers saturate") {
  analyzer a;
  const var l = make_var("l", dtype::i64), m = make_var("m", dtype::i64);
  const std::int64_t most = bounds::positive_infinity;
  a.bind(m, most - 5, most - 1);
  CHECK_FALSE(a.const_bounds(m * std::int64_t{4}).bounded());
  CHECK_FALSE(a.const_bounds(l + most).bounded());
  CHECK_FALSE(a.prove(lt(l * most * most, std::int64_t{5})));
  const expr big = l * most + l * most + l * most;
  CHECK(a.simplify(big).type() == dtype::i64);
  CHECK_FALSE(a.prove(gt(l, integer(dtype::i64, bounds::negative_infinity))));
}

TEST_CASE("a product of data has no factor to divide by") {
  const var x = make_var("x"), y = make_var("y");
  const buffer data = make_buffer("D", dtype::i32, {64});
  analyzer known;
  known.bind(y, 1, 4);
  const expr wrapped = floordiv(y * load(data, {x}), y);  // 4 * 2^30 is 0 in 32 bits
  CHECK(known.simplify(wrapped)->op == op::floordiv);
  CHECK_FALSE(known.prove_equal(wrapped, load(data, {x})));
  CHECK(known.prove_equal(floordiv(y * expr(x), y), x));  // indices are taken not to overflow
}

TEST_CASE("random expressions against brute force") {
  testing::dice d(7);
  const buffer narrow = make_buffer("D", dtype::i8, {64}),
               wide = make_buffer("D", dtype::i32, {64});
  int proved = 0, true_claims = 0;
  for (int round = 0; round < 6000; ++round) {
    testing::variables vars;
    analyzer known;
    const auto count = d.between(1, 3);
    for (int v = 0; v < count; ++v) {
      const auto lo = d.below(3) ? 0 : d.between(-6, 6);
      vars.push_back(
          {make_var(std::string(1, static_cast<char>('x' + v))), lo, lo + d.between(0, 9)});
      known.bind(vars.back().var, vars.back().lo, vars.back().hi);
    }
    testing::grower grow{d, vars, d.below(4) ? buffer{} : d.below(3) ? narrow : wide};
    expr assumed = boolean(true);
    if (d.below(3) == 0) assumed = grow.condition(1);
    known.assume(assumed);
    const expr e = grow.index(4), c = grow.condition(2);
    const expr simple = known.simplify(e), simple_condition = known.simplify(c);
    const bounds limits = known.const_bounds(e);
    const bool claim = known.prove(c);
    bool holds = true, same = true, inside = true, any = false;
    testing::for_each_point(vars, [&] {
      bool defined = true;
      if (!testing::evaluate(assumed, vars, defined)) return;
      const auto value = testing::evaluate(e, vars, defined);
      const auto truth = testing::evaluate(c, vars, defined);
      if (!defined) return;
      any = true;
      same = same && value == testing::evaluate(simple, vars, defined) &&
             truth == testing::evaluate(simple_condition, vars, defined);
      inside = inside && value >= limits.lo && value <= limits.hi;
      holds = holds && truth;
    });
    const std::string text = testing::code(e) + " | " + testing::code(c) + " | " +
                             testing::code(assumed) + " -> " + testing::code(simple) + " | " +
                             testing::code(simple_condition);
    CHECK_MESSAGE(same, text);
    CHECK_MESSAGE(inside, text);
    if (any && claim) CHECK_MESSAGE(holds, text);
    CHECK_MESSAGE(known.simplify(simple).type() == e.type(), text);
    true_claims += any && holds;
    proved += any && claim;
  }
  MESSAGE("proved " << proved << " of " << true_claims << " conditions that hold");
  CHECK(proved * 10 >= true_claims * 6);
}
