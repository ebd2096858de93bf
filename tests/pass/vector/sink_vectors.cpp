#include <tilewright/pass/vector/sink_vectors.hpp>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

bool vectors_are_innermost(const function& f) {
  bool ok = true;
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* loop = as_loop(s);
    if (loop && loop->loop == loop_kind::vectorized)
      ok = ok && count(loop->body, stmt_kind::loop) == 0;
  });
  return ok;
}

}  // namespace

TEST_CASE("loops inside a vectorized loop move out of it") {
  const buffer y = make_buffer("Y", dtype::f32, {6, 16}), x = make_buffer("X", dtype::f32, {6, 16});
  const var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const stmt update = make_store(y, {i, j}, load(y, {i, j}) + load(x, {k, j}));
  const stmt body =
      make_seq({make_store(y, {0, j}, f32(2)), nest({{k, 4}, {i, 6, loop_kind::unrolled}}, update),
                make_if(lt(j, 11), nest({{i, 6}}, make_store(x, {i, j}, f32(0))))});
  const function f = make_function({y, x}, nest({{j, 16, loop_kind::vectorized}}, body));
  const function g = pass::sink_vectors(f);
  CHECK(vectors_are_innermost(g));
  CHECK(count_loops(g.body, loop_kind::vectorized) == 3);
  check_same(f, g);
}

TEST_CASE("what does not depend on the lane is not vectorized") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), t = make_buffer("T", dtype::f32, {1});
  const var i = make_var("i"), j = make_var("j");
  const function f = make_function(
      {y, t},
      nest({{j, 16, loop_kind::vectorized}},
           make_seq({make_store(t, {0}, cast(dtype::f32, j)), make_store(y, {j}, load(t, {0}))})));
  CHECK(count_loops(pass::sink_vectors(f).body, loop_kind::vectorized) == 0);
  // lanes that share T race in the program before, and come one after another in the one after
  CHECK(run(f, 1, false) == run(pass::sink_vectors(f)));
  const function g = make_function(
      {y}, make_loop(j, 0, 16, make_loop(i, 0, j, make_store(y, {j}, load(y, {j}) + f32(1))),
                     loop_kind::vectorized));
  CHECK(count_loops(pass::sink_vectors(g).body, loop_kind::vectorized) == 0);
  check_same(g, pass::sink_vectors(g));
}

TEST_CASE("conditions on the lane around conditions around loops") {
  const buffer y = make_buffer("Y", dtype::f32, {6, 16}), x = make_buffer("X", dtype::f32, {6, 16});
  const var i = make_var("i"), j = make_var("j"), n = make_var("n");
  const auto lanes = [&](const expr& inner) {
    const stmt yes = nest({{i, 6}}, make_store(y, {i, j}, load(y, {i, j}) + f32(1)));
    const stmt no = nest({{i, 6}}, make_store(x, {i, j}, f32(3)));
    return make_function({y, x},
                         nest({{n, 3}, {j, 16, loop_kind::vectorized}},
                              make_if(lt(j, 11), make_if(inner, yes, no), make_if(inner, no))));
  };
  const function f = lanes(lt(n, 2));
  const function g = pass::sink_vectors(f);
  CHECK(vectors_are_innermost(g));
  CHECK(count_loops(g.body, loop_kind::vectorized) > 0);
  check_same(f, g);
  // what the outer condition may keep from being read is not read without it
  const buffer z = make_buffer("Z", dtype::f32, {11});
  const function h = make_function(
      {y, z}, nest({{j, 16, loop_kind::vectorized}},
                   make_if(lt(j, 11), make_if(lt(load(z, {j}), f32(2)),
                                              nest({{i, 6}}, make_store(y, {i, j}, f32(0)))))));
  CHECK(count_loops(pass::sink_vectors(h).body, loop_kind::vectorized) == 0);
  check_same(h, pass::sink_vectors(h));
}

TEST_CASE("programs keep their meaning when vectors sink") {
  for (const function& f : {matmul({}), softmax(3, 5), conv2d({})}) {
    const function g = pass::sink_vectors(pass::simplify_loops(pass::lower_blocks(f)));
    CHECK(vectors_are_innermost(g));
    check_same(f, g);
  }
}

TEST_CASE("lanes that add to shared elements run one after the other") {
  const buffer y = make_buffer("Y", dtype::f32, {16, 9}), x = make_buffer("X", dtype::f32, {16});
  const buffer t = make_buffer("T", dtype::f32, {32});
  const var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const expr at = ir::min(j, k) + i;
  const auto sums = [&](const expr& place) {
    return nest({{i, 9}}, make_seq({make_store(t, {place}, f32(0)),
                                    make_store(t, {place}, load(t, {place}) + load(x, {j}))}));
  };
  const auto program = [&](const expr& place) {
    return make_function({y, x, t},
                         nest({{j, 16, loop_kind::vectorized}, {k, 9}},
                              make_seq({sums(place), make_store(y, {j, k}, load(t, {place}))})));
  };
  CHECK(count_loops(pass::sink_vectors(program(at)).body, loop_kind::vectorized) == 0);
  CHECK(count_loops(pass::sink_vectors(program(j + i)).body, loop_kind::vectorized) == 0);
  CHECK(count_loops(pass::sink_vectors(program(j * 2)).body, loop_kind::vectorized) == 2);
  const expr digits = floordiv(j, 4) * 8 + floormod(j, 4);
  CHECK(count_loops(pass::sink_vectors(program(digits)).body, loop_kind::vectorized) == 2);
}

TEST_CASE("pixels and channels that lanes run over together are sums of their own") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 24, 3}),
               x = make_buffer("X", dtype::f32, {4, 24});
  const var p = make_var("p"), u = make_var("u"), k = make_var("k"), l = make_var("l");
  const auto lanes_of = [&](const expr& pixel, const expr& channel, bool own) {
    const function f = make_function(
        {y, x},
        nest({{p, 4}, {u, 4}, {l, 16, loop_kind::vectorized}, {k, 24}},
             make_store(y, {p, pixel, channel}, load(y, {p, pixel, channel}) + load(x, {p, k}))));
    const function g = pass::sink_vectors(f);
    if (own) check_same(f, g);
    return count_loops(g.body, loop_kind::vectorized);
  };
  const expr at = u * 16 + l;
  CHECK(lanes_of(floordiv(at, 3), floormod(at, 3), true) == 1);
  CHECK(lanes_of(floordiv(l, 3) + u * 6, floormod(l, 3), true) == 1);
  // no digits of one number
  CHECK(lanes_of(floordiv(at, 3), floormod(at + 1, 3), false) == 0);
  CHECK(lanes_of(floordiv(at, 4), floormod(at, 3), false) == 0);
}
