#include <tilewright/pass/hoist_invariants.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

const var i = make_var("i"), j = make_var("j");
const buffer x = make_buffer("X", dtype::f32, {4, 8}), v = make_buffer("V", dtype::f32, {4}),
             y = make_buffer("Y", dtype::f32, {4, 8});

expr root(const expr& e) {
  return call(dtype::f32, "rsqrt", {call(dtype::f32, "abs", {e}) + f32(1)});
}

/// Y[i, j] = value under loops over i and j.
function rows(const expr& value, loop_kind outer = loop_kind::serial) {
  return make_function({x, v, y}, nest({{i, 4, outer}, {j, 8}}, make_store(y, {i, j}, value)));
}

/// Loops around the first let; -1 without one.
int depth_of_let(const stmt& s, int depth = 0) {
  if (as_let(s)) return depth;
  if (const loop_node* l = as_loop(s)) return depth_of_let(l->body, depth + 1);
  if (const if_node* n = as_if(s)) return depth_of_let(n->then_body, depth);
  if (const seq_node* seq = as_seq(s))
    for (const stmt& child : seq->stmts)
      if (const int found = depth_of_let(child, depth); found >= 0) return found;
  return -1;
}

int lets(const stmt& s) { return count(s, stmt_kind::let); }

/// The depth of the let after the pass, which keeps the meaning.
int hoisted(const function& f) {
  const function g = pass::hoist_invariants(f);
  check_same(f, g);
  return depth_of_let(g.body);
}

}  // namespace

TEST_CASE("roots and quotients leave the loops that they do not depend on") {
  const expr here = load(x, {i, j}), row = load(v, {i});
  CHECK(hoisted(rows(here * root(row))) == 1);
  CHECK(hoisted(rows(here * div(row, f32(3)))) == 1);
  CHECK(hoisted(rows(here * root(f32(2)))) == 0);
  CHECK(hoisted(rows(here * root(load(v, {2})))) == 0);
  CHECK(hoisted(rows(root(here))) == -1);
  CHECK(hoisted(rows(here * (row + f32(2)))) == -1);
}

TEST_CASE("what is loaded to divide by it leaves the loops that it does not depend on") {
  const expr here = load(x, {i, j}), row = load(v, {i});
  CHECK(hoisted(rows(div(here, row))) == 1);
  CHECK(hoisted(rows(div(here, row * f32(2) + f32(1)))) == 1);
  CHECK(hoisted(rows(div(here, load(v, {2})))) == 0);
  CHECK(hoisted(rows(div(here, f32(3)))) == -1);
  CHECK(hoisted(rows(div(row, here))) == -1);
}

TEST_CASE("the largest expression leaves, once") {
  const expr here = load(x, {i, j}), mean = div(load(v, {i}), f32(3));
  const function f = rows((here - mean) * root(mean) + root(mean));
  const function g = pass::hoist_invariants(f);
  check_same(f, g);
  CHECK(lets(g.body) == 2);
  int slow = 0;
  for_each_expr(g.body, [&](const expr& e) {
    slow += e->op == op::div || (e->op == op::call && e->name == "rsqrt") ? 1 : 0;
  });
  CHECK(slow == 3);  // the mean, and the root with the mean in it
}

TEST_CASE("nothing leaves a parallel loop") {
  const expr value = load(x, {i, j}) * root(f32(2));
  CHECK(hoisted(rows(value, loop_kind::parallel)) == 1);
  const function f = make_function(
      {x, v, y}, nest({{j, 8}, {i, 4, loop_kind::parallel}}, make_store(y, {i, j}, value)));
  CHECK(hoisted(f) == -1);
}

TEST_CASE("what loads stays where the loop stores to it, or may not come to it") {
  const expr here = load(x, {i, j}), row = root(load(v, {i}));
  const auto with = [&](const stmt& body) {
    return make_function({x, v, y}, nest({{i, 4}, {j, 8}}, body));
  };
  const stmt store = make_store(y, {i, j}, here * row);
  CHECK(hoisted(with(make_seq({make_store(v, {i}, here), store}))) == -1);
  CHECK(hoisted(with(make_if(gt(here, f32(0)), store))) == -1);
  CHECK(hoisted(rows(if_then_else(gt(here, f32(0)), row, here))) == -1);
  // what does not load may be computed anywhere
  const stmt plain = make_store(y, {i, j}, here * root(f32(2)));
  CHECK(hoisted(with(make_if(gt(here, f32(0)), plain))) == 0);
  const function symbolic =
      make_function({x, v, y}, make_loop(i, 0, 4, make_loop(j, 0, i * dim(2), store)));
  CHECK(hoisted(symbolic) == -1);
}

TEST_CASE("variables that the loop binds stay inside") {
  const var twice = make_var("twice", dtype::f32);
  const stmt body =
      make_let(twice, load(v, {i}) * f32(2), make_store(y, {i, j}, load(x, {i, j}) * root(twice)));
  const function f = make_function({x, v, y}, nest({{i, 4}, {j, 8}}, body));
  const function g = pass::hoist_invariants(f);
  check_same(f, g);
  CHECK(lets(g.body) == 1);
}

TEST_CASE("elements of different tensors are different values") {
  const buffer w = make_buffer("W", dtype::f32, v->shape);
  const expr value = load(x, {i, j}) * root(load(v, {i})) + root(load(w, {i}));
  const function f =
      make_function({x, v, w, y}, nest({{i, 4}, {j, 8}}, make_store(y, {i, j}, value)));
  const function g = pass::hoist_invariants(f);
  check_same(f, g);
  CHECK(lets(g.body) == 2);
}

TEST_CASE("what a loop and the tail after it compute is computed once before both") {
  const auto slow = [](const function& f) {
    int out = 0;
    for_each_expr(f.body, [&](const expr& e) { out += e->op == op::call && e->name == "rsqrt"; });
    return out;
  };
  const expr row = root(load(v, {i}));
  const auto at = [&](const expr& column) {
    return make_store(y, {i, column}, load(x, {i, column}) * row);
  };
  const stmt most = make_loop(j, 0, 5, at(j)), reset = make_store(v, {i}, f32(2));
  const auto of = [&](std::vector<stmt> parts) {
    const function f = make_function({x, v, y}, make_loop(i, 0, 4, make_seq(std::move(parts))));
    const function g = pass::hoist_invariants(f);
    check_same(f, g);
    return slow(g);
  };
  CHECK(of({most, at(5), at(6)}) == 1);
  CHECK(of({at(5), at(6)}) == 1);
  CHECK(of({reset, most, at(5)}) == 1);
  // a store in between may change it
  CHECK(of({most, reset, at(5)}) == 2);
  CHECK(of({most, at(5), reset, at(6), at(7)}) == 2);
  // and what may not be computed is not
  const stmt maybe = make_if(gt(load(x, {i, 6}), f32(0)), at(6));
  CHECK(of({maybe, maybe}) == 2);
  CHECK(of({most, maybe, at(7)}) == 1);
}
