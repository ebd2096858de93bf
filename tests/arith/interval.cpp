#include <tilewright/arith/interval.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>

#include "arith/random_expr.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using arith::analyzer;
using arith::interval;

namespace {
bool is(const expr& e, const expr& expected) { return e && analyzer().prove_equal(e, expected); }
}  // namespace

TEST_CASE("a tile of a sum") {
  const var io = make_var("io"), ii = make_var("ii"), r = make_var("r");
  const arith::loop_domains inner = {{ii, {0, 8}}, {r, {0, 3}}};
  const interval halo = arith::bound_over(io * 8 + ii + r - 1, inner, analyzer());
  CHECK(is(halo.lo, io * 8 - 1));
  CHECK(is(halo.hi, io * 8 + 8));
  const interval flipped = arith::bound_over(io * 8 - ii * 2, inner, analyzer());
  CHECK(is(flipped.lo, io * 8 - 14));
  CHECK(is(flipped.hi, io * 8));
}

TEST_CASE("quotients and remainders") {
  const var io = make_var("io"), ii = make_var("ii");
  const arith::loop_domains inner = {{ii, {0, 8}}};
  const interval q = arith::bound_over(floordiv(io * 8 + ii, 4), inner, analyzer());
  CHECK(is(q.lo, io * 2));
  CHECK(is(q.hi, io * 2 + 1));
  const interval m = arith::bound_over(floormod(io * 8 + ii, 16), inner, analyzer());
  CHECK(is(m.lo, floormod(io, 2) * 8));
  CHECK(is(m.hi, floormod(io, 2) * 8 + 7));
  const interval whole =
      arith::bound_over(floordiv(ii, 4) * 4 + floormod(ii, 4), inner, analyzer());
  CHECK(is_int(whole.lo, 0));
  CHECK(is_int(whole.hi, 7));
}

TEST_CASE("ranges that use other variables, running or not") {
  const var N = make_var("N"), io = make_var("io"), ii = make_var("ii");
  const arith::loop_domains loops = {{io, {0, ceildiv(N, 8)}}, {ii, {0, min(N - io * 8, expr(8))}}};
  const interval tile = arith::bound_over(io * 8 + ii, {loops[1]}, analyzer());
  CHECK(is(tile.lo, io * 8));
  CHECK(is(tile.hi, min(N - io * 8, expr(8)) + io * 8 - 1));
  analyzer known;
  known.bind(N, 1, 1000);
  const interval all = arith::bound_over(io * 8 + ii, loops, known);
  CHECK(is_int(all.lo, 0));
  CHECK(known.prove(lt(all.hi, N)));
}

TEST_CASE("facts cut an interval") {
  const var io = make_var("io"), ii = make_var("ii");
  analyzer known;
  known.bind(io, 0, 15);
  known.assume(lt(io * 8 + ii, 127));
  const interval tile = arith::bound_over(io * 8 + ii, {{ii, {0, 8}}}, known);
  CHECK(is(tile.hi, min(io * 8 + 7, expr(126))));
  const interval all = arith::bound_over(io * 8 + ii, {{io, {0, 16}}, {ii, {0, 8}}}, known);
  CHECK(is_int(all.hi, 126));
}

TEST_CASE("an unbounded side is null") {
  const var n = make_var("n"), i = make_var("i");
  const buffer b = make_buffer("B", dtype::i64, {8});
  CHECK_FALSE(arith::bound_over(floordiv(load(b, {i}), 2), {{i, {0, 8}}}, analyzer()).lo);
  const interval product = arith::bound_over(i * n, {{i, {0, 8}}}, analyzer());
  CHECK_FALSE(product.lo);
  analyzer known;
  known.bind(n, 1, arith::bounds::positive_infinity);
  CHECK(is(arith::bound_over(i * n, {{i, {0, 8}}}, known).hi, n * 7));
}

TEST_CASE("a bound that the type does not hold is none") {
  const var x = make_var("x"), y = make_var("y");
  const expr wide = floordiv(cast(dtype::i64, y) - cast(dtype::i64, x), integer(dtype::i64, 8));
  const expr narrow = cast(dtype::i32, wide);  // any number of 32 bits
  const arith::loop_domains inner = {{y, {0, 4}}};
  const interval below = arith::bound_over(min(expr(-4) - narrow, expr(y)), inner, analyzer());
  CHECK_FALSE(below.lo);
  CHECK(is_int(below.hi, 3));
  const interval above = arith::bound_over(max(expr(4) - narrow, expr(y)), inner, analyzer());
  CHECK_FALSE(above.hi);
  CHECK(is_int(above.lo, 0));
}

TEST_CASE("random intervals cover") {
  testing::dice d(11);
  for (int round = 0; round < 4000; ++round) {
    testing::variables vars;
    analyzer known;
    arith::loop_domains running;
    for (int v = 0; v < 3; ++v) {
      const auto lo = d.below(3) ? 0 : d.between(-4, 4);
      vars.push_back(
          {make_var(std::string(1, static_cast<char>('x' + v))), lo, lo + d.between(0, 7)});
      const testing::variable& x = vars.back();
      if (d.below(2)) known.bind(x.var, x.lo, x.hi);
      if (v > 0)
        running.push_back(
            {x.var, {integer(dtype::i32, x.lo), integer(dtype::i32, x.hi - x.lo + 1)}});
    }
    testing::grower grow{d, vars, {}};
    const expr assumed = d.below(2) ? grow.condition(1) : boolean(true);
    known.assume(assumed);
    const expr e = grow.index(3);
    const interval found = arith::bound_over(e, running, known);
    bool covers = true;
    testing::for_each_point(vars, [&] {
      bool defined = true;
      if (!testing::evaluate(assumed, vars, defined)) return;
      const auto value = testing::evaluate(e, vars, defined);
      if (!defined) return;
      if (found.lo) covers = covers && testing::evaluate(found.lo, vars, defined) <= value;
      if (found.hi) covers = covers && testing::evaluate(found.hi, vars, defined) >= value;
    });
    const auto text = [](const expr& side) {
      return side ? testing::code(side) : std::string("null");
    };
    const std::string report = testing::code(e) + " if " + testing::code(assumed) + ": " +
                               text(found.lo) + " to " + text(found.hi);
    CHECK_MESSAGE(covers, report);
    for (const auto& loop : running) {
      if (found.lo) CHECK_FALSE(uses_var(found.lo, loop.first));
      if (found.hi) CHECK_FALSE(uses_var(found.hi, loop.first));
    }
  }
}
