#include <tilewright/pass/vector/vectorize_reductions.hpp>

#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>

#include "../programs.hpp"

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

TEST_CASE("the last iterations, less than a vector, are one vector where there are masks") {
  const auto serial = [](const function& f) { return count_loops(f.body, loop_kind::serial); };
  for (const std::int64_t n : {33, 37, 63, 131, 290, 1000}) {
    const target::cpu masks = target::named("znver4"), none = target::named("haswell");
    const function f = fold(3, n, sum);
    const function g = pass::vectorize_reductions(f, masks),
                   h = pass::vectorize_reductions(f, none);
    CHECK(serial(g) == 2);  // rows and whole vectors
    CHECK(serial(h) == (n % 8 == 0 ? 2 : 3));
    check_same(f, g, 1e-5);
    check_same(fold(3, n, max), pass::vectorize_reductions(fold(3, n, max), masks));
  }
}

TEST_CASE(
    "sums whose length a loop around them decides are vectors, those whose length is data are "
    "not") {
  const target::cpu masks = target::named("znver4"), none = target::named("haswell");
  for (const std::int64_t n : {1, 17, 64, 200}) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(n)}),
                 x = make_buffer("X", dtype::f32, {dim(n), dim(n)});
    const var i = make_var("i"), k = make_var("k");
    const auto rows = [&](const expr& min, const expr& extent) {
      return make_function(
          {y, x},
          make_loop(i, 0, dim(n),
                    make_loop(k, min, extent, make_store(y, {i}, load(y, {i}) + load(x, {i, k})),
                              loop_kind::serial, reduction)));
    };
    for (const function& f : {rows(0, expr(i) + 1), rows(i, dim(n) - expr(i))})
      for (const target::cpu& where : {masks, none}) {
        const function g = pass::vectorize_reductions(f, where);
        CHECK((parts(g) > 1) == (n >= 8 * where.lanes(dtype::f32)));
        check_same(f, g, 1e-5);
      }
    const buffer lengths = make_buffer("L", dtype::i32, {dim(n)});
    const function ragged = make_function(
        {y, x, lengths}, make_loop(i, 0, dim(n),
                                   make_loop(k, 0, load(lengths, {i}),
                                             make_store(y, {i}, load(y, {i}) + load(x, {i, k})),
                                             loop_kind::serial, reduction)));
    CHECK(parts(pass::vectorize_reductions(ragged, masks)) == 0);
  }
}

/// Y[0] = Y[0] + X[k, at] * Z[k] under a loop over k.
function fold_column(std::int64_t columns, std::int64_t at, std::int64_t n) {
  const buffer y = make_buffer("Y", dtype::f32, {1}),
               x = make_buffer("X", dtype::f32, {dim(n), dim(columns)}),
               z = make_buffer("Z", dtype::f32, {dim(n)});
  const var k = make_var("k");
  return make_function(
      {y, x, z}, make_loop(k, 0, dim(n),
                           make_store(y, {0}, load(y, {0}) + load(x, {k, expr(at)}) * load(z, {k})),
                           loop_kind::serial, reduction));
}

TEST_CASE("terms that are looked up in a short table lie along memory as their places do") {
  const auto looked_up = [](std::int64_t elements, std::int64_t step) {
    const buffer y = make_buffer("Y", dtype::f32, {1}),
                 table = make_buffer("T", dtype::f32, {dim(elements)}),
                 places = make_buffer("P", dtype::i32, {dim(64 * step)});
    const var k = make_var("k");
    const expr place = floormod(load(places, {k * dim(step)}), dim(elements));
    return make_function(
        {y, table, places},
        make_loop(k, 0, 64, make_store(y, {0}, load(y, {0}) + load(table, {place})),
                  loop_kind::serial, reduction));
  };
  const target::cpu masks = target::named("znver4");
  for (const std::int64_t elements : {2, 16, 60}) {
    const function f = looked_up(elements, 1), g = pass::vectorize_reductions(f, masks);
    CHECK(parts(g) == 32);
    check_same(f, g, 1e-5);
  }
  CHECK(parts(pass::vectorize_reductions(looked_up(1000, 1), masks)) == 0);  // no short one
  CHECK(parts(pass::vectorize_reductions(looked_up(16, 100), masks)) == 0);
}

TEST_CASE("short, far strided and undeclared reductions are left alone") {
  const target::cpu haswell = target::named("haswell");
  CHECK(parts(pass::vectorize_reductions(fold(1, 15, sum), haswell)) == 0);
  CHECK(parts(pass::vectorize_reductions(fold(3, 7, sum), haswell)) == 0);
  CHECK(parts(pass::vectorize_reductions(fold(3, 100, sum, {}), haswell)) == 0);
  CHECK(parts(pass::vectorize_reductions(fold_column(5, 0, 100), haswell)) == 0);
}

TEST_CASE("one vector is enough where other loops of the sum go around it") {
  for (const target::cpu& cpu : {target::named("haswell"), target::named("znver4")})
    for (const std::int64_t n : {8, 11, 16, 20, 31}) {
      const function f = fold(5, n, sum), g = pass::vectorize_reductions(f, cpu);
      CHECK(parts(g) == (n >= cpu.lanes(dtype::f32) ? cpu.lanes(dtype::f32) : 0));
      check_same(f, g, 1e-5);
    }
}

TEST_CASE("elements that lie up to four apart are loaded in whole vectors, whatever is left") {
  for (const target::cpu& cpu : {target::named("haswell"), target::named("znver4")})
    for (const std::int64_t columns : {2, 3, 4})
      for (const std::int64_t n : {32, 37, 100, 131}) {
        const function f = fold_column(columns, columns - 1, n),
                       g = pass::vectorize_reductions(f, cpu);
        CHECK(parts(g) >= cpu.lanes(dtype::f32));
        check_same(f, g, 1e-5);
      }
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

using combination = expr (*)(const expr&, const expr&);

TEST_CASE("fewer partial results than a vector has lanes: the last iterations have a place, too") {
  const target::cpu masks = target::named("znver4");
  for (const int asked : {4, 8})
    for (const std::int64_t n : {17, 19, 67}) {
      annotations notes = reduction;
      notes[pass::reduction_lanes_note] = asked;
      const function f = fold(3, n, sum, notes), g = pass::vectorize_reductions(f, masks);
      CHECK(parts(g) == asked);
      check_same(f, g, 1e-5);
    }
}

TEST_CASE("rows whose length is data: whole vectors, and the rest under a mask, where asked for") {
  const target::cpu haswell = target::named("haswell");
  const buffer length = make_buffer("n", dtype::i32, {6}), y = make_buffer("Y", dtype::f32, {6}),
               x = make_buffer("X", dtype::f32, {6, 40});
  const auto rows = [&](annotations notes, expr (*combine)(const expr&, const expr&)) {
    const var r = make_var("r"), k = make_var("k");
    const stmt step = make_store(y, {r}, combine(load(y, {r}), load(x, {r, k})));
    return make_function({length, y, x}, make_loop(r, 0, dim(6),
                                                   make_loop(k, 0, load(length, {r}), step,
                                                             loop_kind::serial, std::move(notes))));
  };
  annotations notes = reduction;
  CHECK(parts(pass::vectorize_reductions(rows(notes, sum), haswell)) == 0);
  for (const std::int64_t lanes : {4, 8, 16}) {
    notes[pass::reduction_lanes_note] = lanes;
    for (const combination combine : {combination(sum), combination(max)}) {
      const function f = rows(notes, combine), g = pass::vectorize_reductions(f, haswell);
      CHECK(parts(g) == lanes);
      // vectors for long rows alone
      annotations of_long = notes;
      of_long[ir::long_rows_note] = 16;
      const function h = pass::vectorize_reductions(rows(of_long, combine), haswell);
      CHECK(count_loops(h.body, loop_kind::serial) == count_loops(g.body, loop_kind::serial) + 1);
      // shorter than a vector, none at all, less than none, whole vectors, and some over
      const std::vector<std::int32_t> lengths{3, 0, -2, 16, 40, 17};
      const auto run_with = [&](const function& of) {
        std::vector<std::int32_t> n = lengths;
        std::vector<float> out(6, 0.25f), in(240);
        for (std::size_t at = 0; at < in.size(); ++at)
          in[at] = static_cast<float>(at * 37 % 101) - 50;
        interpret(of, {{n.data(), {}}, {out.data(), {}}, {in.data(), {}}});
        return out;
      };
      CHECK(run_with(f) == run_with(g));
      CHECK(run_with(f) == run_with(h));
    }
  }
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

namespace {

constexpr const char* peak_and_total =
    "T.comm_reducer(lambda x0, x1, y0, y1: (T.max(x0, y0), x1 * T.exp(x0 - T.max(x0, y0)) + y1 * "
    "T.exp(y0 - T.max(x0, y0))), [T.min_value(\"float32\"), T.float32(0)])";

/// (P[0], S[0]): the maximum of X and the sum of exponentials relative to it. `stray` reads another
/// element of P than is written.
function online(std::int64_t n, const char* reducer, bool stray = false) {
  const buffer x = make_buffer("X", dtype::f32, {dim(n)}), p = make_buffer("P", dtype::f32, {2}),
               s = make_buffer("S", dtype::f32, {1});
  const var k = make_var("k"), peak = make_var("v_P", dtype::f32),
            total = make_var("v_S", dtype::f32);
  const expr old = load(p, {stray ? 1 : 0}), here = load(x, {k}), top = max(old, here);
  const stmt stores = make_seq({make_store(p, {0}, peak), make_store(s, {0}, total)});
  const stmt body = make_let(peak, top,
                             make_let(total,
                                      load(s, {0}) * call(dtype::f32, "exp", {old - top}) +
                                          f32(1) * call(dtype::f32, "exp", {here - top}),
                                      stores));
  annotations notes = reduction;
  if (reducer) notes[reducer_note] = reducer;
  const stmt start = make_seq(
      {make_store(p, {0}, f32(-9)), make_store(p, {1}, f32(-9)), make_store(s, {0}, f32(0))});
  return make_function({x, p, s},
                       make_seq({start, make_loop(k, 0, dim(n), body, loop_kind::serial, notes)}));
}

}  // namespace

TEST_CASE("folds get partial results that their reducer combines") {
  const target::cpu haswell = target::named("haswell");
  for (const std::int64_t n : {16, 37, 131, 1000}) {
    const function f = online(n, peak_and_total), g = pass::vectorize_reductions(f, haswell);
    CHECK(parts(g) == 8);
    check_same(f, g, 1e-5);
  }
  const auto left_alone = [&](const function& f) {
    return parts(pass::vectorize_reductions(f, haswell)) == 0;
  };
  CHECK(left_alone(online(15, peak_and_total)));
  CHECK(left_alone(online(100, nullptr)));
  CHECK(left_alone(online(100, peak_and_total, true)));
  CHECK(left_alone(online(100, "no reducer")));
  CHECK(left_alone(online(100, "T.comm_reducer(lambda x, y: x + y, [T.float32(0)])")));
  CHECK(left_alone(online(100,
                          "T.comm_reducer(lambda x0, x1, y0, y1: (x0 + y0, x1 + y1), "
                          "[T.int32(0), T.float32(0)])")));
}

TEST_CASE("any and all get partial results") {
  const target::cpu haswell = target::named("haswell");
  for (const bool all : {false, true})
    for (const double limit : {-2.0, 0.9, 2.0}) {
      const buffer x = make_buffer("X", dtype::f32, {131}), y = make_buffer("Y", dtype::f32, {1}),
                   b = make_buffer("B", dtype::boolean, {1}, "local");
      const var k = make_var("k");
      const expr old = load(b, {0}), here = lt(load(x, {k}), f32(limit));
      const stmt loop = make_loop(
          k, 0, 131, make_store(b, {0}, all ? logical_and(old, here) : logical_or(old, here)),
          loop_kind::serial, reduction);
      const function f = make_function(
          {x, y}, make_allocate(b, make_seq({make_store(b, {0}, boolean(all)), loop,
                                             make_store(y, {0}, cast(dtype::f32, old))})));
      const function g = pass::vectorize_reductions(f, haswell);
      CHECK(count_loops(g.body, loop_kind::vectorized) > 2);
      check_same(f, g);
    }
}
