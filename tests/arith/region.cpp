#include <tilewright/arith/region.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include <tilewright/arith/linear.hpp>

#include "arith/random_expr.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using arith::analyzer;
using arith::box;

namespace {

bool is(const range& r, const expr& min, const expr& extent) {
  return r.min && analyzer().prove_equal(r.min, min) && analyzer().prove_equal(r.extent, extent);
}
const expr one = real(dtype::f32, 1.0);

}  // namespace

TEST_CASE("boxes relax, unite, intersect and cover") {
  const var i = make_var("i"), k = make_var("k");
  analyzer known;
  known.bind(i, 0, 15);
  const box tile = arith::relax({{i * 8 + k, 2}, {k * 4, 4}}, {{k, {0, 6}}}, known);
  CHECK(is(tile[0], i * 8, 7));
  CHECK(is(tile[1], 0, 24));
  const box both = arith::unite({{i, 4}}, {{i + 2, 4}}, known);
  CHECK(is(both[0], i, 6));
  CHECK(is(arith::unite({{i, 1}}, {{7, 1}}, known)[0], min(i, expr(7)),
           max(i, expr(7)) - min(i, expr(7)) + 1));
  CHECK(is(arith::intersect({{i, 4}}, {{i + 2, 4}}, known)[0], i + 2, 2));
  CHECK(is_int(arith::intersect({{0, 4}}, {{6, 4}}, known)[0].extent, 0));
  CHECK(arith::covers({{0, 128}}, {{i * 8, 8}}, known));
  CHECK_FALSE(arith::covers({{0, 127}}, {{i * 8, 8}}, known));
  CHECK_FALSE(arith::covers({{i, 1}}, {{i + 1, 1}}, known));
  CHECK_FALSE(arith::covers({range{}}, {range{}}, known));
  CHECK(arith::disjoint({{0, 8}, {i, 1}}, {{0, 8}, {i + 1, 1}}, known));
  CHECK(arith::disjoint({{i * 8 + 8, 8}}, {{i * 8, 8}}, known));
  CHECK_FALSE(arith::disjoint({{0, 8}, {i, 2}}, {{0, 8}, {i + 1, 1}}, known));
  CHECK_FALSE(arith::disjoint({range{}, {0, 8}}, {{0, 8}, {4, 8}}, known));
  CHECK(arith::disjoint({range{}, {0, 8}}, {{0, 8}, {8, 8}}, known));
}

TEST_CASE("regions of a loop nest: inner loops are widened over, free variables stay") {
  const buffer A = make_buffer("A", dtype::f32, {64, 32}),
               B = make_buffer("B", dtype::f32, {32, 16}),
               C = make_buffer("C", dtype::f32, {64, 16});
  const var io = make_var("io"), ii = make_var("ii"), j = make_var("j"), k = make_var("k");
  const expr row = io * 8 + ii;
  const stmt body = make_loop(
      ii, 0, 8,
      make_loop(j, 0, 16,
                make_loop(k, 0, 32,
                          make_store(C, {row, j},
                                     load(C, {row, j}) + load(A, {row, k}) * load(B, {k, j})))));
  std::vector<buffer_region> reads, writes;
  arith::access_regions(body, reads, writes);
  REQUIRE(reads.size() == 3);
  REQUIRE(writes.size() == 1);
  CHECK(reads[0].buffer == C);
  CHECK(reads[1].buffer == A);
  CHECK(is(reads[1].box[0], io * 8, 8));
  CHECK(is(reads[1].box[1], 0, 32));
  CHECK(is(reads[2].box[0], 0, 32));
  CHECK(is(writes[0].box[0], io * 8, 8));
  CHECK(is(writes[0].box[1], 0, 16));
}

TEST_CASE("a padding guard cuts the region it protects") {
  const buffer X = make_buffer("X", dtype::f32, {16}), P = make_buffer("P", dtype::f32, {18});
  const var io = make_var("io"), i = make_var("i");
  const expr at = io * 6 + i - 1;
  const expr value =
      if_then_else(logical_and(ge(at, 0), lt(at, 16)), load(X, {at}), real(dtype::f32, 0));
  const stmt body = make_loop(i, 0, 6, make_store(P, {io * 6 + i}, value));
  std::vector<buffer_region> reads, writes;
  arith::access_regions(body, reads, writes);
  REQUIRE(reads.size() == 1);
  CHECK(is(reads[0].box[0], max(io * 6 - 1, expr(0)),
           min(io * 6 + 4, expr(15)) - max(io * 6 - 1, expr(0)) + 1));
  analyzer known;
  known.bind(io, 0, 0);
  reads.clear();
  arith::access_regions(body, reads, writes, known);
  CHECK(is(reads[0].box[0], 0, 5));
  reads.clear();
  arith::access_regions(make_loop(io, 0, 3, body), reads, writes);
  CHECK(is(reads[0].box[0], 0, 16));
  reads.clear();
  arith::access_regions(body, reads, writes, analyzer(), {.use_conditions = false});
  CHECK(is(reads[0].box[0], io * 6 - 1, 6));
}

TEST_CASE("block realizes contribute declared regions under their predicate") {
  const buffer A = make_buffer("A", dtype::f32, {127}), C = make_buffer("C", dtype::f32, {127});
  const var io = make_var("io"), ii = make_var("ii"), v = make_var("vi");
  block_node node;
  node.name = "C";
  node.iters = {{v, {0, 127}, iter_kind::spatial}};
  node.reads = {{A, {{v, 1}}}};
  node.writes = {{C, {{v, 1}}}};
  node.body = make_store(C, {v}, load(A, {v}));
  const expr at = io * 8 + ii;
  const stmt inner = make_loop(ii, 0, 8, make_realize({at}, lt(at, 127), make_block(node)));
  std::vector<buffer_region> reads, writes;
  arith::access_regions(make_loop(io, 0, 16, inner), reads, writes);
  CHECK(is(reads[0].box[0], 0, 127));
  CHECK(is(writes[0].box[0], 0, 127));
  reads.clear();
  arith::access_regions(inner, reads, writes, analyzer(), {.use_conditions = false});
  CHECK(is(reads[0].box[0], io * 8, 8));
}

TEST_CASE("what blocks without variables declare of a let around them follows its value") {
  const buffer A = make_buffer("A", dtype::f32, {10}), C = make_buffer("C", dtype::f32, {10});
  const var t = make_var("t"), n = make_var("n");
  block_node node;
  node.name = "C";
  node.reads = {{A, {{n, 1}}}};
  node.writes = {{C, {{0, n}}}};
  node.body = make_store(C, {n - 1}, load(A, {n}));
  const stmt inner = make_let(n, t + 2, make_realize({}, boolean(true), make_block(node)));
  std::vector<buffer_region> reads, writes;
  arith::access_regions(inner, reads, writes);
  CHECK(is(reads[0].box[0], t + 2, 1));
  CHECK(is(writes[0].box[0], 0, t + 2));
  reads.clear();
  arith::access_regions(make_loop(t, 0, 3, inner), reads, writes);
  CHECK(is(reads[0].box[0], 2, 3));
}

TEST_CASE("a gather reads the whole dimension, and inner buffers stay inside") {
  const buffer X = make_buffer("X", dtype::f32, {100, 8}),
               index = make_buffer("index", dtype::i32, {10}),
               Y = make_buffer("Y", dtype::f32, {10}),
               T = make_buffer("T", dtype::f32, {8}, "local");
  const var i = make_var("i"), t = make_var("t", dtype::i32);
  std::vector<buffer_region> reads, writes;
  arith::access_regions(make_store(Y, {i}, load(X, {load(index, {i}) + 1, 3})), reads, writes);
  REQUIRE(reads.size() == 2);
  CHECK(reads[0].buffer == index);
  CHECK(is(reads[1].box[0], 0, 100));
  CHECK(is(reads[1].box[1], 3, 1));
  reads.clear();
  arith::access_regions(make_let(t, load(index, {i}), make_store(Y, {i}, load(X, {t, 3}))), reads,
                        writes);
  CHECK(is(reads[1].box[0], 0, 100));
  reads.clear();
  writes.clear();
  arith::access_regions(
      make_allocate(T, make_seq({make_store(T, {i}, one), make_store(Y, {i}, load(T, {i}))})),
      reads, writes);
  CHECK(reads.empty());
  CHECK(writes.size() == 1);
}

TEST_CASE("random loop nests stay inside their regions") {
  testing::dice d(5);
  const buffer X = make_buffer("X", dtype::f32, {1000});
  for (int round = 0; round < 1500; ++round) {
    testing::variables vars;  // x is free, y and z are loops
    for (const char* name : {"x", "y", "z"}) vars.push_back({make_var(name), 0, d.between(0, 7)});
    testing::grower grow{d, vars, {}};
    const expr guard = grow.condition(1), inner_guard = grow.condition(1);
    const expr first = grow.index(2), second = grow.index(2);
    const expr guarded = if_then_else(inner_guard, load(X, {first}), real(dtype::f32, 0));
    stmt body = make_if(guard, make_store(X, {second}, guarded));
    for (std::size_t v = 2; v > 0; --v)
      body = make_loop(vars[v].var, 0, integer(dtype::i32, vars[v].hi + 1), body);
    analyzer known;
    if (d.below(2)) known.bind(vars[0].var, vars[0].lo, vars[0].hi);
    std::vector<buffer_region> reads, writes;
    arith::access_regions(body, reads, writes, known);
    if (reads.empty() || writes.empty()) continue;  // a condition folded to a literal
    bool covers = true;
    const auto touches = [&](const range& r, const expr& at) {
      bool defined = true;
      const auto lo = testing::evaluate(r.min, vars, defined),
                 n = testing::evaluate(r.extent, vars, defined);
      const auto value = testing::evaluate(at, vars, defined);
      const bool whole = is_int(r.min, 0) && is_int(r.extent, 1000);
      if (defined && !whole) covers = covers && value >= lo && value < lo + n;
    };
    testing::for_each_point(vars, [&] {
      bool defined = true;
      const bool runs = testing::evaluate(guard, vars, defined),
                 reads_too = testing::evaluate(inner_guard, vars, defined);
      if (!defined || !runs) return;
      touches(writes[0].box[0], second);
      if (reads_too) touches(reads[0].box[0], first);
    });
    CHECK(covers);
  }
}

TEST_CASE("what a loop's bounds say of outer loops holds inside of it alone") {
  const buffer X = make_buffer("X", dtype::f32, {8, 8}), Y = make_buffer("Y", dtype::f32, {8});
  const var i = make_var("i"), j = make_var("j");
  const stmt row = make_loop(j, 0, i + 1, make_store(X, {i, j}, real(dtype::f32, 1)));
  const stmt last = make_store(Y, {i}, real(dtype::f32, 1));
  std::vector<buffer_region> reads, writes;
  arith::access_regions(make_loop(i, 0, 8, make_seq({row, last})), reads, writes);
  REQUIRE(writes.size() == 2);
  CHECK(is(writes[1].box[0], 0, 8));
}
