#include <tilewright/pass/simplify_loops.hpp>

#include <tilewright/pass/lower_blocks.hpp>

#include "programs.hpp"

using namespace programs;

TEST_CASE("loops of one iteration and proven conditions disappear") {
  const buffer y = make_buffer("Y", dtype::f32, {8});
  const var i = make_var("i"), j = make_var("j");
  const function f = make_function(
      {y}, make_loop(i, 0, 8,
                     make_loop(j, 0, 1, make_if(lt(i + j, 8), make_store(y, {i + j}, f32(1))))));
  const function g = pass::simplify_loops(f);
  CHECK(count(g.body, stmt_kind::loop) == 1);
  CHECK(count(g.body, stmt_kind::if_else) == 0);
  check_same(f, g);
}

TEST_CASE("invariant conditions move in front of loops") {
  const buffer y = make_buffer("Y", dtype::f32, {8, 8});
  const var i = make_var("i"), j = make_var("j");
  const function f =
      make_function({y}, make_loop(i, 0, 8,
                                   make_loop(j, 0, 8,
                                             make_if(logical_and(lt(i * 3, 16), lt(j * i, 20)),
                                                     make_store(y, {i, j}, f32(1))))));
  const function g = pass::simplify_loops(f);
  REQUIRE(as_loop(g.body));
  const if_node* outer = as_if(as_loop(g.body)->body);
  REQUIRE(outer);
  CHECK(conjuncts(outer->condition).size() == 1);
  check_same(f, g);
}

TEST_CASE("a condition that guards a load in another condition stays in front of it") {
  const buffer y = make_buffer("Y", dtype::f32, {8}), n = make_buffer("N", dtype::f32, {4});
  const var i = make_var("i");
  const function f = make_function(
      {y, n},
      make_loop(i, 0, 8,
                make_if(lt(i, 4), make_if(lt(load(n, {i}), f32(0)), make_store(y, {i}, f32(1))))));
  check_same(f, pass::simplify_loops(f));
}

TEST_CASE("programs keep their meaning") {
  for (const function& f : {matmul({}), softmax(3, 5), conv2d({})})
    check_same(f, pass::simplify_loops(pass::lower_blocks(f)));
}

TEST_CASE("neighbours under the same condition share it") {
  const buffer y = make_buffer("Y", dtype::f32, {8}), z = make_buffer("Z", dtype::f32, {8});
  const var i = make_var("i");
  const function f = make_function(
      {y, z}, make_loop(i, 0, 8,
                        make_seq({make_if(lt(i * 3, 16), make_store(y, {i}, f32(1))),
                                  make_if(lt(i * 3, 16), make_store(z, {i}, f32(2)))})));
  const function g = pass::simplify_loops(f);
  CHECK(count(g.body, stmt_kind::if_else) == 1);
  check_same(f, g);
}
