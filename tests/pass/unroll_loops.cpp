#include <tilewright/pass/unroll_loops.hpp>

#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

const target::cpu& machine() {
  static const target::cpu haswell = target::named("haswell");
  return haswell;
}

function fill(std::int64_t n, std::int64_t m, int step, loop_kind inner = loop_kind::serial) {
  const buffer y = make_buffer("Y", dtype::f32, {dim(n), dim(m)});
  const var i = make_var("i"), j = make_var("j");
  annotations notes;
  if (step) notes = {{"pragma_auto_unroll_max_step", step}, {"pragma_unroll_explicit", 1}};
  return make_function(
      {y}, make_loop(i, 0, dim(n), make_loop(j, 0, dim(m), make_store(y, {i, j}, f32(1)), inner),
                     loop_kind::serial, notes));
}

}  // namespace

TEST_CASE("annotated loops unroll their inner loops within the step") {
  CHECK(count_loops(pass::unroll_loops(fill(100, 8, 16), machine()).body, loop_kind::unrolled) ==
        1);
  CHECK(count_loops(pass::unroll_loops(fill(100, 32, 16), machine()).body, loop_kind::unrolled) ==
        0);
  CHECK(count_loops(pass::unroll_loops(fill(100, 9, 0), machine()).body, loop_kind::unrolled) == 0);
  CHECK(count_loops(pass::unroll_loops(fill(100, 4, 0), machine()).body, loop_kind::unrolled) == 1);
  check_same(fill(100, 8, 16), pass::unroll_loops(fill(100, 8, 16), machine()));
}

TEST_CASE("unrolling that explodes is taken back") {
  CHECK(count_loops(pass::unroll_loops(fill(4, 2000, 0, loop_kind::unrolled), machine()).body,
                    loop_kind::unrolled) == 0);
  CHECK(count_loops(pass::unroll_loops(fill(4, 200, 0, loop_kind::unrolled), machine()).body,
                    loop_kind::unrolled) == 1);
}

TEST_CASE("nested parallel loops become serial, loops bound to threads are refused") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 4});
  const var i = make_var("i"), j = make_var("j");
  const stmt store = make_store(y, {i, j}, f32(1));
  const function f =
      make_function({y}, nest({{i, 4, loop_kind::parallel}, {j, 4, loop_kind::parallel}}, store));
  CHECK(count_loops(pass::unroll_loops(f, machine()).body, loop_kind::parallel) == 1);
  const function g = make_function({y}, nest({{i, 4, loop_kind::thread_binding}, {j, 4}}, store));
  CHECK_THROWS_AS(pass::unroll_loops(g, machine()), build_error);
}

TEST_CASE("innermost reduction loops are unrolled with a remainder") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {30, 16});
  const var k = make_var("k"), j = make_var("j"), o = make_var("o");
  const stmt body =
      nest({{j, 16, loop_kind::vectorized}}, make_store(y, {j}, load(y, {j}) + load(x, {k, j})));
  for (const expr& extent : {expr(30), expr(28), min(expr(8), expr(30) - o * 8), o * 8 - 5}) {
    const function f = make_function(
        {y, x},
        make_loop(o, 0, 1,
                  make_loop(k, o, extent, body, loop_kind::serial, {{pass::reduction_note, 1}})));
    const function g = pass::unroll_reductions(f, machine());
    CHECK(count_loops(g.body, loop_kind::unrolled) == 1);
    check_same(f, g);
  }
}

TEST_CASE(
    "reductions of fewer iterations than two steps are written out where that is not more code") {
  const auto serial = [](std::int64_t terms, std::int64_t columns, std::int64_t first = 0) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(columns)}),
                 x = make_buffer("X", dtype::f32, {dim(first + terms), dim(columns)});
    const var k = make_var("k"), j = make_var("j");
    const stmt body = nest({{j, columns, loop_kind::vectorized}},
                           make_store(y, {j}, load(y, {j}) + load(x, {k, j})));
    const function f = make_function(
        {y, x},
        make_loop(k, dim(first), dim(terms), body, loop_kind::serial, {{pass::reduction_note, 1}}));
    const function g = pass::unroll_reductions(f, machine());
    check_same(f, g);
    return count_loops(g.body, loop_kind::serial);
  };
  CHECK(serial(7, 16) == 0);
  CHECK(serial(3, 16, 2) == 0);
  CHECK(serial(8, 16) == 1);
  CHECK(serial(7, 128) == 1);
}

TEST_CASE("the extent of a reduction may be a variable that is negative") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {16});
  const var o = make_var("o"), k = make_var("k");
  const stmt sum = make_store(y, {8}, load(y, {8}) + load(x, {k}));
  const function f = make_function(
      {y, x}, make_loop(o, -7, 20,
                        make_loop(k, 0, o, sum, loop_kind::serial, {{pass::reduction_note, 1}})));
  const function g = pass::unroll_reductions(f, machine());
  CHECK(count_loops(g.body, loop_kind::unrolled) == 1);
  check_same(f, g);
}

TEST_CASE(
    "iterations that share more elements than the registers hold are not written out together") {
  const auto unrolled = [](std::int64_t rows, std::int64_t step, const target::cpu& target) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(rows), 64}),
                 x = make_buffer("X", dtype::f32, {dim(rows * step + 20)}),
                 f = make_buffer("F", dtype::f32, {7, 64});
    const var k = make_var("k"), r = make_var("r"), c = make_var("c");
    const stmt step_of_all =
        nest({{r, rows, loop_kind::unrolled}, {c, 64, loop_kind::vectorized}},
             make_store(y, {r, c},
                        load(y, {r, c}) + load(x, {r * dim(step) + k * 2}) * load(f, {k, c})));
    const function before = make_function(
        {y, x, f}, make_loop(k, 0, 7, step_of_all, loop_kind::serial, {{pass::reduction_note, 1}}));
    const function after = pass::unroll_reductions(before, target);
    check_same(before, after);
    return count_loops(after.body, loop_kind::unrolled) == 3;  // two of rows, with the remainder's
  };
  const target::cpu wide = target::named("znver4");
  CHECK(unrolled(5, 2, wide));        // 20 sums, 4 vectors and 4 elements
  CHECK_FALSE(unrolled(6, 2, wide));  // 24, 4 and 5
  CHECK(unrolled(6, 3, wide));        // windows have nothing in common
  CHECK_FALSE(unrolled(2, 2, machine()));
}

TEST_CASE("taps that add to parts of a tile run one at a time where two would fill the registers") {
  const auto unrolled = [](std::int64_t pixels, std::int64_t columns, const target::cpu& target) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(pixels), dim(columns)}),
                 x = make_buffer("X", dtype::f32, {dim(pixels), 24}),
                 f = make_buffer("F", dtype::f32, {3, 24, dim(columns)});
    const var s = make_var("s"), k = make_var("k"), p = make_var("p"), c = make_var("c");
    const stmt add =
        nest({{c, columns, loop_kind::vectorized}},
             make_store(y, {p, c}, load(y, {p, c}) + load(x, {p + s - 1, k}) * load(f, {s, k, c})));
    const stmt inside =
        make_if(logical_and(le(expr(1), p + s), lt(p + s, expr(dim(pixels)) + 1)), add);
    const function before = make_function(
        {y, x, f}, make_loop(s, 0, 3,
                             make_loop(k, 0, 24, nest({{p, pixels, loop_kind::unrolled}}, inside),
                                       loop_kind::serial, {{pass::reduction_note, 1}}),
                             loop_kind::unrolled));
    const function after = pass::unroll_reductions(before, target);
    check_same(before, after);
    return count_loops(after.body, loop_kind::unrolled) == 3;  // taps, pixels and iterations
  };
  const target::cpu wide = target::named("znver4");
  CHECK(unrolled(12, 32, wide));        // 24 sums, and 2 vectors and an element of each iteration
  CHECK_FALSE(unrolled(14, 32, wide));  // 28
  CHECK_FALSE(unrolled(13, 24, wide));  // 26, the second vector of half as many lanes
  CHECK(unrolled(4, 16, machine()));    // 8 sums in 16 registers
  CHECK_FALSE(unrolled(6, 16, machine()));
}

TEST_CASE("long sums that are written out alone have several accumulators") {
  const auto accumulators = [](std::int64_t rows, std::int64_t taps, bool asks_for_order,
                               loop_kind kind = loop_kind::unrolled) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(rows), 16}),
                 x = make_buffer("X", dtype::f32, {7, dim(taps), 16}),
                 sum = make_buffer("sum", dtype::f32, {dim(rows), 16}, "local");
    const var r = make_var("r"), s = make_var("s"), p = make_var("p"), c = make_var("c"),
              q = make_var("q"), d = make_var("d");
    annotations notes{{pass::reduction_note, 1}};
    if (asks_for_order) notes.emplace(reduction_lanes_note, 1);
    const stmt add = nest({{p, rows, loop_kind::unrolled}, {c, 16, loop_kind::vectorized}},
                          make_store(sum, {p, c}, load(sum, {p, c}) + load(x, {r, s, c})));
    const stmt all = make_loop(r, 0, 7, make_loop(s, 0, dim(taps), add, kind, notes),
                               loop_kind::unrolled, notes);
    const auto copy = [&](const var& i, const var& j, bool back) {
      return nest({{i, rows, loop_kind::unrolled}, {j, 16, loop_kind::vectorized}},
                  back ? make_store(y, {i, j}, load(sum, {i, j}))
                       : make_store(sum, {i, j}, load(y, {i, j})));
    };
    const function before = make_function(
        {y, x}, make_allocate(sum, make_seq({copy(p, c, false), all, copy(q, d, true)})));
    const function after = pass::unroll_reductions(before, target::named("znver4"));
    check_same(before, after, 1e-5);
    std::int64_t out = 1;
    for_each_stmt(after.body, [&](const stmt& of) {
      if (const allocate_node* a = as_allocate(of); a && a->buffer->name == "sum_parts")
        out = as_int(a->buffer->shape[0]);
    });
    return out;
  };
  CHECK(accumulators(1, 21, false) == 4);
  CHECK(accumulators(1, 21, true) == 1);  // one term after the other
  CHECK(accumulators(3, 7, false) == 2);  // 49 terms each
  CHECK(accumulators(8, 7, false) == 1);  // others fill the time
  CHECK(accumulators(1, 3, false) == 1);  // the next result does
}
