#include <tilewright/pass/peel_tails.hpp>

#include <set>

#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/trim_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/pass/walk.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

function prepared(const function& f) {
  return pass::sink_vectors(
      pass::simplify_loops(pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(f)))));
}

function peeled(const function& f) {
  function g = pass::trim_loops(prepared(f));
  g = pass::simplify_loops(pass::peel_tails(g));
  return pass::simplify_loops(pass::trim_loops(g));
}

/// Constant extents of (unrolled, vectorized) pairs directly around a store to `name`, one per
/// copy.
std::set<std::pair<std::int64_t, std::int64_t>> tile_sizes(const function& f,
                                                           const std::string& name) {
  std::set<std::pair<std::int64_t, std::int64_t>> out;
  const auto width = [&](const stmt& s, loop_kind kind) -> std::int64_t {
    const loop_node* l = as_loop(s);
    return l && l->loop == kind ? as_int(l->extent) : 0;
  };
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* outer = as_loop(s);
    if (!outer || outer->loop == loop_kind::vectorized) return;
    const loop_node* inner = as_loop(outer->body);
    const bool vector = inner && inner->loop == loop_kind::vectorized;
    const store_node* store = as_store(vector ? inner->body : outer->body);
    if (store && store->buffer->name == name && outer->loop == loop_kind::unrolled)
      out.emplace(as_int(outer->extent), vector ? width(outer->body, loop_kind::vectorized) : 1);
    if (store && store->buffer->name == name && outer->loop == loop_kind::serial && vector)
      out.emplace(1, width(outer->body, loop_kind::vectorized));
  });
  return out;
}

bool guarded(const function& f) {
  bool found = false;
  for_each_stmt(f.body, [&](const stmt& s) {
    const if_node* n = as_if(s);
    if (n && count(n->then_body, stmt_kind::loop) == 0) found = true;
  });
  return found;
}

}  // namespace

TEST_CASE("a matmul that no tile divides gets a main tile and constant edges") {
  for (const bool stage : {false, true})
    for (const bool local : {false, true}) {
      matmul_options o;
      o.m = 13, o.n = 35, o.k = 10;
      o.stage_b = stage;
      o.local_c = local;
      const function f = matmul(o), g = peeled(f);
      CHECK_FALSE(guarded(g));
      CHECK(tile_sizes(g, local ? "C_local" : "C") ==
            std::set<std::pair<std::int64_t, std::int64_t>>{{6, 16}, {6, 3}, {1, 16}, {1, 3}});
      check_same(f, g);
    }
}

TEST_CASE("tiles larger than the dimension are cut to it") {
  matmul_options o;
  o.m = 5, o.n = 7, o.k = 3;
  const function f = matmul(o), g = peeled(f);
  CHECK_FALSE(guarded(g));
  check_same(f, g);
}

TEST_CASE("an unrolled part of the reduction loop leaves a remainder loop") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {30, 16});
  const var k0 = make_var("k0"), k1 = make_var("k1"), k2 = make_var("k2"), j = make_var("j");
  const expr k = k0 * 12 + k1 * 4 + k2;
  const stmt body =
      make_loop(k1, 0, 3,
                nest({{k2, 4, loop_kind::unrolled}, {j, 16, loop_kind::vectorized}},
                     make_if(lt(k, 30), make_store(y, {j}, load(y, {j}) + load(x, {k, j})))),
                loop_kind::serial, {{"tilewright.reduction", 1}});
  const function f = make_function(
      {y, x}, make_loop(k0, 0, 3, body, loop_kind::serial, {{"tilewright.reduction", 1}}));
  const function g = pass::simplify_loops(
      pass::trim_loops(pass::simplify_loops(pass::peel_tails(pass::simplify_loops(f)))));
  CHECK_FALSE(guarded(g));
  check_same(f, g);
}

TEST_CASE("the interior of a padded convolution has no padding condition") {
  for (const std::int64_t size : {12, 14}) {
    conv_options o;
    o.size = size;
    o.window = 3, o.stride = 1, o.border = 1;
    const function f = conv2d(o), g = peeled(f);
    check_same(f, g);
    int plain = 0, conditional = 0;
    for_each_stmt(g.body, [&](const stmt& s) {
      const store_node* store = as_store(s);
      if (!store || store->value->op != op::add) return;
      bool asks = false;
      for_each_expr(store->value, [&](const expr& e) { asks = asks || e->op == op::if_then_else; });
      ++(asks ? conditional : plain);
    });
    CHECK(plain > 0);
    CHECK(conditional > 0);
  }
}

TEST_CASE("statements beside a guarded one keep running at the edge") {
  const buffer y = make_buffer("Y", dtype::f32, {10}), z = make_buffer("Z", dtype::f32, {5});
  const var o = make_var("o"), i = make_var("i");
  const function f = make_function(
      {y, z},
      make_loop(o, 0, 5,
                make_seq({make_store(z, {o}, f32(3)),
                          nest({{i, 4, loop_kind::unrolled}},
                               make_if(lt(o * 4 + i, 10), make_store(y, {o * 4 + i}, f32(1))))})));
  check_same(f, peeled(f));
  const function g = peeled(f);
  CHECK(count(g.body, stmt_kind::store) <= 6);
}

TEST_CASE("without allowance guards stay") {
  const function f = prepared(matmul({}));
  pass::peel_limits none;
  none.growth_base = 0;
  none.growth_factor = 1;
  check_same(f, pass::peel_tails(f, none));
  CHECK(count(pass::peel_tails(f, none).body, stmt_kind::store) == count(f.body, stmt_kind::store));
}

TEST_CASE("a tile that is whole or empty leaves no code for an edge") {
  const buffer y = make_buffer("Y", dtype::f32, {16});
  const var o = make_var("o"), v = make_var("v"), i = make_var("i");
  const expr at = o * 24 + v * 8 + i;
  const function f = make_function({y}, nest({{o, 2}, {v, 3}, {i, 8, loop_kind::vectorized}},
                                             make_if(lt(at, 16), make_store(y, {at}, f32(1)))));
  const function g = peeled(f);
  CHECK(count(g.body, stmt_kind::store) == 1);
  check_same(f, g);
}

TEST_CASE("a padded copy becomes a copy between two fills") {
  const buffer y = make_buffer("Y", dtype::f32, {14, 16}),
               x = make_buffer("X", dtype::f32, {12, 16});
  const var i = make_var("i"), j = make_var("j");
  const function f =
      make_function({y, x}, nest({{i, 14}, {j, 16, loop_kind::vectorized}},
                                 make_store(y, {i, j},
                                            if_then_else(logical_and(ge(i, 1), lt(i, 13)),
                                                         load(x, {i - 1, j}), f32(0)))));
  const function g = peeled(f);
  int choices = 0;
  for_each_expr(g.body, [&](const expr& e) { choices += e->op == op::if_then_else; });
  CHECK(choices == 0);
  CHECK(count(g.body, stmt_kind::store) == 3);
  CHECK(count(g.body, stmt_kind::if_else) == 0);
  check_same(f, g);
}

TEST_CASE("rows outside of an image are filled, and rows inside ask about their lanes alone") {
  const buffer y = make_buffer("Y", dtype::f32, {14, 16}),
               x = make_buffer("X", dtype::f32, {12, 14});
  const var i = make_var("i"), j = make_var("j");
  const auto inside = [](const expr& at, std::int64_t low, std::int64_t high) {
    return logical_and(ge(at, low), lt(at, high));
  };
  const auto check_choices = [](const function& f, const var& row) {
    int choices = 0, of_rows = 0;
    for_each_expr(f.body, [&](const expr& e) {
      if (e->op != op::if_then_else) return;
      ++choices;
      of_rows += uses_var(e->args[0], row);
    });
    CHECK(choices > 0);
    return of_rows;
  };
  SUBCASE("a copy") {
    const function f = make_function(
        {y, x}, nest({{i, 14}, {j, 16, loop_kind::vectorized}},
                     make_store(y, {i, j},
                                if_then_else(logical_and(inside(i, 1, 13), inside(j, 1, 15)),
                                             load(x, {i - 1, j - 1}), f32(7)))));
    const function g = peeled(f);
    CHECK(check_choices(g, i) == 0);
    CHECK(count(g.body, stmt_kind::store) ==
          3);  // rows before the image, its own, and those behind it
    check_same(f, g);
  }
  SUBCASE("two operands with borders of their own") {
    const buffer z = make_buffer("Z", dtype::f32, {14, 16});
    const expr padded = if_then_else(logical_and(inside(i, 1, 13), inside(j, 1, 15)),
                                     load(x, {i - 1, j - 1}), f32(7)),
               cut = if_then_else(logical_and(inside(i, 2, 14), inside(j, 3, 16)), load(z, {i, j}),
                                  f32(5));
    const function f = make_function({y, x, z}, nest({{i, 14}, {j, 16, loop_kind::vectorized}},
                                                     make_store(y, {i, j}, padded + cut)));
    check_same(f, peeled(f));  // one of them is outside where the other one isn't
  }
}

TEST_CASE("guards that ask for the variable of a let are asked inside of it") {
  const buffer y = make_buffer("Y", dtype::f32, {16, 64}), x = make_buffer("X", dtype::f32, {64});
  for (const bool value : {false, true}) {
    const var k = make_var("k"), j = make_var("j"), n = make_var("n");
    const expr at = n + k + j, inside = lt(at, dim(35));
    const stmt body = value
                          ? make_store(y, {k, at}, if_then_else(inside, load(x, {at - 1}), f32(1)))
                          : make_if(inside, make_store(y, {k, at}, load(x, {at - 1})));
    const function f = make_function(
        {y, x},
        make_loop(k, 0, 7,
                  make_let(n, cast(dtype::i32, load(x, {k}) * f32(5)) + 5,
                           make_loop(j, 0, 8, body,
                                     value ? loop_kind::vectorized : loop_kind::unrolled))));
    const function g = pass::peel_tails(f);
    check_same(f, g);
  }
}

TEST_CASE("a scalar that lanes of a sum share keeps its condition, and the sum one store") {
  const buffer x = make_buffer("X", dtype::f32, {6}), w = make_buffer("W", dtype::f32, {4, 8}),
               y = make_buffer("Y", dtype::f32, {2, 8});
  const var s = make_var("s"), h = make_var("h"), c = make_var("c");
  const expr at = floordiv(h + s, 2), inside = ge(at, 1);
  const auto sums = [&](const expr& pixel, bool reduction) {
    const stmt one = make_store(
        y, {h, c}, load(y, {h, c}) + if_then_else(inside, pixel, f32(0)) * load(w, {s, c}));
    const stmt tile =
        make_loop(h, 0, 2, make_loop(c, 0, 8, one, loop_kind::vectorized), loop_kind::unrolled);
    return make_function(
        {x, w, y}, make_loop(s, 0, 4, tile, loop_kind::serial,
                             reduction ? annotations{{pass::reduction_note, 1}} : annotations{}));
  };
  const auto stores = [](const function& f) {
    const function g = pass::simplify_loops(pass::peel_tails(f));
    check_same(f, g);
    return count(g.body, stmt_kind::store);
  };
  CHECK(stores(sums(load(x, {at - 1}), true)) == 1);
  CHECK(stores(sums(load(x, {at - 1}), false)) > 1);
  CHECK(stores(sums(load(x, {at - 1}) * load(w, {0, c}), true)) > 1);  // a vector
}
