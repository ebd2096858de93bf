#include <tilewright/impl/pass/vector/clamped_lanes.hpp>

#include <tilewright/pass/peel_tails.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/trim_loops.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const buffer source = make_buffer("A", dtype::f32, {3, 100});

/// B[i, x] = the sum of A[i, index(x)] over the indices, in vectors of 16 elements of rows of 100.
template <class... Index>
function rows(const Index&... index) {
  const buffer b = make_buffer("B", dtype::f32, {3, 100});
  const var i = make_var("i"), outer = make_var("x0"), lane = make_var("x1");
  const expr x = outer * 16 + lane;
  expr sum = f32(0);
  ((sum = sum + load(source, {i, index(x)})), ...);
  return make_function({source, b}, nest({{i, 3}, {outer, 7}, {lane, 16, loop_kind::vectorized}},
                                         make_if(lt(x, 100), make_store(b, {i, x}, sum))));
}

expr clamped(const expr& place) { return min(max(place, dim(0)), dim(99)); }

function decided(const function& f) {
  function out = f;
  out.body = pass::detail::clamped_lanes().mutate(f.body);
  return out;
}

function peeled(const function& f) {
  const function g =
      pass::simplify_loops(pass::peel_tails(pass::trim_loops(pass::simplify_loops(f))));
  return pass::simplify_loops(pass::trim_loops(g));
}

int count_of(const function& f, op which) {
  int out = 0;
  for_each_expr(f.body, [&](const expr& e) { out += e->op == which; });
  return out;
}

/// Whether there are vectors that read side by side without a question.
bool has_plain_vectors(const function& f) {
  bool out = false;
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* loop = as_loop(s);
    const store_node* store = loop ? as_store(loop->body) : nullptr;
    if (!store || loop->loop != loop_kind::vectorized) return;
    bool asks = false;
    for_each_expr(store->value, [&](const expr& e) {
      asks = asks || e->op == op::if_then_else || e->op == op::min || e->op == op::max;
    });
    out = out || !asks;
  });
  return out;
}

}  // namespace

TEST_CASE("lanes at clamped places read side by side, and those beyond an edge its element") {
  const function f = rows([](const expr& x) { return clamped(x - 2); },
                          [](const expr& x) { return clamped(x + 3); });
  const function g = decided(f);
  CHECK(count_of(g, op::min) + count_of(g, op::max) == 0);
  CHECK(count_of(g, op::if_then_else) == 2);
  check_same(f, g);
}

TEST_CASE("vectors within both edges are plain loads") {
  const function f = rows([](const expr& x) { return clamped(x - 2); },
                          [](const expr& x) { return clamped(x + 3); });
  CHECK_FALSE(has_plain_vectors(pass::simplify_loops(f)));
  const function g = peeled(f);
  CHECK(has_plain_vectors(g));
  check_same(f, g);
}

TEST_CASE("one edge alone, bounds in any order, and edges that no or every lane is beyond") {
  for (const int shift : {-130, -100, -99, -1, 0, 1, 99, 100, 130}) {
    const function both = rows([&](const expr& x) { return max(dim(0), min(dim(99), x + shift)); });
    CHECK(count_of(decided(both), op::if_then_else) == 1);
    check_same(both, decided(both));
    check_same(both, peeled(both));
    const function one = rows([&](const expr& x) {
      return shift < 0 ? min(max(x + shift, dim(0)), dim(50)) : min(x + shift, dim(99));
    });
    CHECK(count_of(decided(one), op::if_then_else) == 1);
    check_same(one, decided(one));
    check_same(one, peeled(one));
  }
}

TEST_CASE("what is not clamped by literals, or not along the lanes, stays") {
  const var n = make_var("n");
  const auto stays = [](const function& f) { CHECK(count_of(decided(f), op::if_then_else) == 0); };
  stays(rows([](const expr& x) { return x; }));
  stays(rows([](const expr& x) { return clamped(x * 2); }));
  stays(rows([](const expr& x) { return clamped(floordiv(x, dim(2)) + x); }));
  stays(rows([](const expr& x) { return min(max(x, dim(7)), dim(3)); }));
  stays(rows([](const expr& x) { return min(max(x, dim(-2)), dim(99)); }));  // no place
  stays(rows([&](const expr& x) { return min(x, n); }));
  const buffer b = make_buffer("B", dtype::f32, {100});
  const var x = make_var("x");
  stays(make_function({source, b}, nest({{x, 100, loop_kind::vectorized}},
                                        make_store(b, {x}, load(source, {min(x, dim(2)), x})))));
  stays(make_function(
      {source, b}, nest({{x, 100}}, make_store(b, {x}, load(source, {dim(0), clamped(x - 1)})))));
}

TEST_CASE("lanes at mirrored places read side by side, and backwards beyond an edge") {
  const auto mirrored = [](const expr& place) {
    const expr turn = floormod(place, dim(198));
    return min(turn, dim(198) - turn);
  };
  for (const int shift : {-2, 3, -60, 99, 100, 196, -198, 400}) {
    const function f =
        rows([&](const expr& x) { return mirrored(x + shift); }, [](const expr& x) { return x; });
    const function g = decided(f);
    CAPTURE(shift);
    CHECK(count_of(g, op::if_then_else) >= 1);
    check_same(f, g);
    check_same(f, peeled(f));
  }
  const function near = rows([&](const expr& x) { return mirrored(x - 2); });
  CHECK(count_of(decided(near), op::floormod) == 0);
  CHECK(has_plain_vectors(peeled(near)));
  // other periods, and what is no mirror
  const auto other = [](const expr& x) {
    return min(floormod(x, dim(98)), dim(98) - floormod(x, dim(98)));
  };
  check_same(rows(other), decided(rows(other)));
  const auto none = [](const expr& x) {
    return min(floormod(x, dim(98)), dim(97) - floormod(x, dim(98)));
  };
  const function left = rows(none);
  CHECK(decided(left).body == left.body);
}

TEST_CASE(
    "lanes at periodic places read side by side, and on from the first element beyond the last "
    "one") {
  const auto periodic = [](std::int64_t n) {
    return [n](const expr& place) { return floormod(place, dim(n)); };
  };
  for (const std::int64_t n : {100, 64, 99, 17})
    for (const int shift : {-1, 0, 3, 50, 99, -100, 250}) {
      const function f = rows([&](const expr& x) { return periodic(n)(x + shift); });
      CAPTURE(n);
      CAPTURE(shift);
      CHECK(count_of(decided(f), op::if_then_else) >= 1);
      check_same(f, decided(f));
      check_same(f, peeled(f));
    }
  const function near = rows([&](const expr& x) { return periodic(100)(x - 1); },
                             [&](const expr& x) { return periodic(100)(x + 1); });
  CHECK(count_of(decided(near), op::floormod) == 0);
  CHECK(has_plain_vectors(peeled(near)));
  const function twice = rows([&](const expr& x) { return periodic(100)(x * 2); });
  CHECK(decided(twice).body == twice.body);
}
