#include <tilewright/pass/vectorize_reductions.hpp>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

const annotations reduction{{pass::reduction_note, 1}};

/// Y[0] = Y[0] (op) X[r, k] under loops over r and k.
function fold(std::int64_t rows, std::int64_t n, expr (*combine)(const expr&, const expr&),
              annotations notes = reduction) {
  const buffer y = make_buffer("Y", dtype::f32, {1}),
               x = make_buffer("X", dtype::f32, {dim(rows), dim(n)});
  const var r = make_var("r"), k = make_var("k");
  return make_function(
      {y, x},
      make_loop(r, 0, dim(rows),
                make_loop(k, 0, dim(n), make_store(y, {0}, combine(load(y, {0}), load(x, {r, k}))),
                          loop_kind::serial, notes),
                loop_kind::serial, reduction));
}

expr sum(const expr& a, const expr& b) { return a + b; }

int parts(const function& f) {
  int n = 0;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (const allocate_node* a = as_allocate(s)) n = static_cast<int>(as_int(a->buffer->shape[0]));
  });
  return n;
}

}  // namespace

TEST_CASE("contiguous reductions get partial results of the machine's width") {
  const target::cpu haswell = target::named("haswell");
  for (const std::int64_t n : {16, 37, 131, 1000}) {
    const function f = fold(3, n, sum), g = pass::vectorize_reductions(f, haswell);
    CHECK(parts(g) == (n >= 128 ? 32 : n >= 32 ? 16 : 8));
    check_same(f, g, 1e-5);
    check_same(fold(3, n, max), pass::vectorize_reductions(fold(3, n, max), haswell));
    check_same(fold(3, n, min), pass::vectorize_reductions(fold(3, n, min), haswell));
  }
}

TEST_CASE("short, strided and undeclared reductions are left alone") {
  const target::cpu haswell = target::named("haswell");
  CHECK(parts(pass::vectorize_reductions(fold(3, 15, sum), haswell)) == 0);
  CHECK(parts(pass::vectorize_reductions(fold(3, 100, sum, {}), haswell)) == 0);
  const buffer y = make_buffer("Y", dtype::f32, {1}), x = make_buffer("X", dtype::f32, {100, 2});
  const var k = make_var("k");
  const function strided =
      make_function({y, x}, make_loop(k, 0, 100, make_store(y, {0}, load(y, {0}) + load(x, {k, 0})),
                                      loop_kind::serial, reduction));
  CHECK(parts(pass::vectorize_reductions(strided, haswell)) == 0);
}

TEST_CASE("an annotation chooses the number of partial results") {
  const target::cpu haswell = target::named("haswell");
  annotations notes = reduction;
  notes[pass::reduction_lanes_note] = 4;
  const function f = fold(2, 50, sum, notes), g = pass::vectorize_reductions(f, haswell);
  CHECK(parts(g) == 4);
  check_same(f, g, 1e-5);
  notes[pass::reduction_lanes_note] = 0;
  CHECK(parts(pass::vectorize_reductions(fold(2, 50, sum, notes), haswell)) == 0);
}

namespace {

/// (P[0], V[0]): the position of the largest (or smallest) X[k] and its value, ties to the smaller
/// position.
function position(std::int64_t n, bool largest, dtype t = dtype::f32,
                  annotations notes = reduction) {
  const buffer x = make_buffer("X", t, {dim(n)}), p = make_buffer("P", dtype::i32, {1}),
               v = make_buffer("V", t, {1});
  const var k = make_var("k"), at = make_var("v_P"), best = make_var("v_V", t);
  // few values, so that most of the largest ones are equal
  const expr old = load(v, {0}),
             here = is_float(t) ? call(t, "floor", {load(x, {k}) * real(t, 3)}) : load(x, {k});
  const expr better = largest ? gt(old, here) : lt(old, here);
  const expr keep = logical_or(better, logical_and(eq(old, here), lt(load(p, {0}), k)));
  const stmt stores = make_seq({make_store(p, {0}, at), make_store(v, {0}, best)});
  const stmt body = make_let(at, select(keep, load(p, {0}), k),
                             make_let(best, select(better, old, here), stores));
  const stmt start = make_seq(
      {make_store(p, {0}, -1), make_store(v, {0}, largest ? lowest_value(t) : highest_value(t))});
  return make_function({x, p, v},
                       make_seq({start, make_loop(k, 0, dim(n), body, loop_kind::serial, notes)}));
}

}  // namespace

TEST_CASE("positions of maxima and minima get partial results, and ties keep the smaller one") {
  const target::cpu haswell = target::named("haswell");
  for (const dtype t : {dtype::f32, dtype::i32})
    for (const std::int64_t n : {16, 37, 131, 1000})
      for (const bool largest : {true, false}) {
        const function f = position(n, largest, t), g = pass::vectorize_reductions(f, haswell);
        if (n > 16) CHECK(parts(g) >= 8);
        check_same(f, g);
      }
  CHECK(parts(pass::vectorize_reductions(position(1000, true, dtype::f32, {}), haswell)) == 0);
}

TEST_CASE("softmax keeps its meaning") {
  const function f = softmax(3, 131);
  check_same(f,
             pass::vectorize_reductions(pass::simplify_loops(pass::lower_blocks(f)),
                                        target::named("haswell")),
             1e-5);
}
