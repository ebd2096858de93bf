#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/trim_loops.hpp>

#include "programs.hpp"

using namespace programs;

TEST_CASE("a guard around the body becomes the loop's bound") {
  const buffer y = make_buffer("Y", dtype::f32, {10});
  const var o = make_var("o"), i = make_var("i");
  const expr at = o * 4 + i - 1;
  const function f = make_function(
      {y}, nest({{o, 3}, {i, 4}},
                make_if(logical_and(ge(at, 0), lt(at, 10)), make_store(y, {at}, f32(1)))));
  const function g = pass::trim_loops(f);
  CHECK(count(g.body, stmt_kind::if_else) == 0);
  check_same(f, g);
}

TEST_CASE("factors round to the right side, other conditions stay") {
  const buffer y = make_buffer("Y", dtype::f32, {64});
  const var i = make_var("i");
  for (int c = -5; c < 40; c += 7) {
    const function f = make_function(
        {y}, nest({{i, 8}}, make_if(conjunction({lt(i * 3, c), ge(i * 5, c - 11), ne(i, 2)}),
                                    make_store(y, {i * 3}, f32(1)))));
    const function g = pass::trim_loops(f);
    check_same(f, g);
  }
}

TEST_CASE("vectorized loops take constant bounds only") {
  const buffer y = make_buffer("Y", dtype::f32, {30});
  const var o = make_var("o"), i = make_var("i");
  const function f =
      make_function({y}, nest({{o, 4}, {i, 8, loop_kind::vectorized}},
                              make_if(lt(o * 8 + i, 30), make_store(y, {o * 8 + i}, f32(1)))));
  CHECK(count(pass::trim_loops(f).body, stmt_kind::if_else) == 1);
  const function g = make_function(
      {y}, nest({{i, 8, loop_kind::vectorized}}, make_if(lt(i, 5), make_store(y, {i}, f32(1)))));
  const function trimmed = pass::trim_loops(g);
  REQUIRE(as_loop(trimmed.body));
  CHECK(is_int(as_loop(trimmed.body)->extent, 5));
  check_same(g, trimmed);
}

TEST_CASE("a choice by the loop's variable becomes two loops") {
  const buffer y = make_buffer("Y", dtype::f32, {12});
  const var i = make_var("i");
  const auto chosen = [&](const expr& condition) {
    const function f =
        make_function({y}, nest({{i, 12}}, make_if(condition, make_store(y, {i}, f32(1)),
                                                   make_store(y, {11 - (i - 0)}, f32(2)))));
    const function g = pass::trim_loops(f);
    check_same(f, g);
    return count(g.body, stmt_kind::if_else) == 0 ? count(g.body, stmt_kind::loop) : 0;
  };
  CHECK(chosen(lt(i, 7)) == 2);
  CHECK(chosen(le(i * 3, 7)) == 2);
  CHECK(chosen(ge(i, 5)) == 2);
  CHECK(chosen(ge(i * 4, 13)) == 2);
  CHECK(chosen(lt(i, 0)) == 1);
  CHECK(chosen(lt(i, 12)) == 1);
  CHECK(chosen(ge(i * 2, -3)) == 1);
  CHECK(chosen(eq(floormod(i, 2), 0)) == 0);  // stays
}

TEST_CASE("a loop runs over the iterations that a remainder lets through, and over no others") {
  for (const int by : {2, 3, 5})
    for (const int extent : {1, 2, 3, 4, 6, 7})
      for (const int factor : {1, -1})
        for (const int first : {0, 2}) {
          CAPTURE(by);
          CAPTURE(extent);
          CAPTURE(factor);
          CAPTURE(first);
          const buffer y = make_buffer("Y", dtype::f32, {11, 10});
          const var q = make_var("q"), s = make_var("s");
          const expr fits = eq(floormod(q - 3 + s * factor, by), 0);
          const stmt inner =
              make_loop(s, first, extent,
                        make_if(logical_and(fits, lt(s + q, 15)), make_store(y, {q, s}, f32(1))));
          const function f = make_function({y}, make_loop(q, 0, 11, inner));
          const function g = pass::trim_loops(f);
          check_same(f, g);
          int remainders = 0;
          for_each_stmt(g.body, [&](const stmt& each) {
            if (const if_node* guard = as_if(each))
              for_each_expr(guard->condition,
                            [&](const expr& e) { remainders += e->op == op::eq; });
          });
          CHECK(remainders == 0);
          check_same(f, pass::trim_loops(pass::simplify_loops(g)));
        }
}

TEST_CASE("a remainder that lanes or the loop's own quotient decide stays a condition") {
  const buffer y = make_buffer("Y", dtype::f32, {8, 8});
  const var q = make_var("q"), s = make_var("s");
  const auto kept = [&](loop_kind kind, const expr& sum) {
    const function f = make_function(
        {y}, make_loop(
                 q, 0, 8,
                 make_loop(s, 0, 8, make_if(eq(floormod(sum, 3), 0), make_store(y, {q, s}, f32(1))),
                           kind)));
    const function g = pass::trim_loops(f);
    check_same(f, g);
    return count(g.body, stmt_kind::if_else) == 1;
  };
  CHECK(kept(loop_kind::vectorized, q + s));
  CHECK(kept(loop_kind::serial, q + s * 2));
  CHECK(kept(loop_kind::serial, q + s + floordiv(s, 2)));
}

TEST_CASE("a choice in a loop of little work is asked before it") {
  const buffer y = make_buffer("Y", dtype::f32, {9, 24});
  const var h = make_var("h"), w = make_var("w");
  const stmt inside = make_store(y, {h, w}, f32(1)), border = make_store(y, {h, w}, f32(2));
  const auto left = [&](const expr& condition, std::vector<stmt> bodies) {
    const function f =
        make_function({y}, nest({{h, 9}, {w, 24}}, make_if(condition, bodies.at(0), bodies.at(1))));
    const function g = pass::trim_loops(f);
    check_same(f, g);
    int inner = 0;  // choices in loops over w
    for_each_stmt(g.body, [&](const stmt& s) {
      const loop_node* l = as_loop(s);
      if (l && l->var->name == "w") inner += count(l->body, stmt_kind::if_else);
    });
    return inner;
  };
  CHECK(left(logical_and(le(1, h), le(1, w)), {inside, border}) == 0);
  CHECK(left(conjunction({le(1, h), lt(h, 8), le(2, w), lt(w, 23)}), {inside, border}) == 0);
  CHECK(left(conjunction({le(1, w), lt(w, 0)}), {inside, border}) == 0);
  CHECK(left(lt(h, 3), {inside, border}) == 0);
  // ends that another loop moves, also beyond the loop's own
  CHECK(left(le(5, h * 4 + w), {inside, border}) == 0);
  CHECK(left(conjunction({le(h * 3 - 4, w), lt(w * 2, 50 - h * 7), lt(h, 7)}), {inside, border}) ==
        0);
  CHECK(left(conjunction({lt(w, 4 - h * 2), ge(w, h)}), {inside, border}) == 0);
  // what is no bound, or stands beside more work
  CHECK(left(conjunction({ne(w, 3), le(1, h)}), {inside, border}) == 1);
  const var k = make_var("k");
  const auto long_loop = [&](float value) {
    return nest({{k, 65}}, make_store(y, {h, w}, f32(value)));
  };
  CHECK(left(logical_and(le(1, h), le(1, w)), {long_loop(1), long_loop(2)}) == 1);
}

TEST_CASE("a loop on whose remainders written-out code asks is written out for each of them") {
  const var s = make_var("s"), k = make_var("k"), h = make_var("h");
  // Y[h, s] += 1 for each k where the condition holds
  const auto program = [&](std::int64_t extent, const expr& condition, int rows = 8) {
    const buffer y = make_buffer("Y", dtype::f32, {rows, extent});
    const stmt body = make_store(y, {h, s}, load(y, {h, s}) + f32(1));
    return make_function({y}, nest({{s, extent}, {k, 20}, {h, rows, loop_kind::unrolled}},
                                   make_if(condition, body)));
  };
  // conditions that ask of what runs, and is not written out
  const auto open = [](const function& f) {
    var_set written_out;
    for_each_stmt(f.body, [&](const stmt& x) {
      const loop_node* l = as_loop(x);
      if (l && l->loop == loop_kind::unrolled) written_out.insert(l->var);
    });
    return count(f.body, stmt_kind::if_else, [&](const stmt& x) {
      const std::vector<var> asked = free_vars(as_if(x)->condition);
      return std::any_of(asked.begin(), asked.end(),
                         [&](const var& v) { return written_out.count(v) == 0; });
    });
  };
  const auto decided = [&](const function& f) {
    const function once = pass::simplify_loops(pass::trim_loops(f));
    check_same(f, once);
    check_same(f, pass::simplify_loops(pass::trim_loops(once)));
    return open(f) > 0 && open(once) == 0;
  };
  for (const int by : {2, 3, 4})
    for (const int left : {0, 1}) {
      CAPTURE(by);
      CAPTURE(left);
      const auto fits = [&](const expr& sum) { return eq(floormod(sum, by), left); };
      CHECK(decided(program(12, fits(h + s))));
      CHECK(decided(program(12, fits(h * 2 - s + by * k))));
      CHECK_FALSE(decided(program(13, fits(h + s))));  // some are left
      CHECK_FALSE(decided(program(12, fits(h + s + k))));
    }
  CHECK_FALSE(decided(program(12, eq(floormod(h + s, 2), 0), 6)));  // few results
  CHECK_FALSE(decided(program(10, eq(floormod(h + s, 5), 0))));     // too many
}
