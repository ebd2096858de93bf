#include <tilewright/impl/pass/accumulators/scattered_terms.hpp>

#include <tilewright/ir/term_order.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const buffer x = make_buffer("X", dtype::f32, {50}), v = make_buffer("V", dtype::f32, {50, 6}),
             y = make_buffer("Y", dtype::f32, {12, 6});
const var n = make_var("n"), row = make_var("b"), column = make_var("d");

/// Y[b, d] += `term` for all rows of terms, the loop over b noted.
function sums(const expr& term, bool noted = true, loop_kind columns = loop_kind::serial) {
  const stmt store = make_store(y, {row, column}, load(y, {row, column}) + term);
  const annotations notes = noted ? annotations{{scattered_note, 1}} : annotations{};
  return make_function({x, v, y},
                       make_loop(n, 0, 50,
                                 make_loop(row, 0, 12, make_loop(column, 0, 6, store, columns),
                                           loop_kind::serial, notes),
                                 loop_kind::serial, {{pass::reduction_note, 1}}));
}

/// A row, or none: from -8 to 15.
const expr place = cast(dtype::i32, load(x, {n}) * f32(12) + f32(4));

int loops(const function& f) { return count(f.body, stmt_kind::loop); }

}  // namespace

TEST_CASE("a term is added to the row that it belongs to, or to none") {
  for (const expr& term : {select(eq(place, row), load(v, {n, column}), f32(0)),
                           if_then_else(eq(row, place + 1), load(v, {n, column}), f32(0)),
                           cast(dtype::f32, eq(expr(11) - row, place)),
                           select(logical_and(lt(column, 4), eq(place, row)),
                                  load(v, {n, column}) * cast(dtype::f32, row), f32(0))}) {
    const function f = sums(term), g = pass::detail::scatter_terms(f);
    CHECK(loops(f) == 3);
    CHECK(loops(g) == 2);
    check_same(f, g);
  }
  const function lanes =
      sums(select(eq(place, row), load(v, {n, column}), f32(0)), true, loop_kind::vectorized);
  check_same(lanes, pass::detail::scatter_terms(lanes));
}

TEST_CASE("loops that nobody noted stay, and so does what has no place or reads the sums") {
  const auto stays = [](const function& f) {
    CHECK(pass::detail::scatter_terms(f).body == f.body);
  };
  stays(sums(select(eq(place, row), load(v, {n, column}), f32(0)), false));
  stays(sums(load(v, {n, column})));
  stays(sums(select(eq(place, column), load(v, {n, column}), f32(0))));
  stays(sums(select(eq(place + column, row), load(v, {n, column}), f32(0))));
  stays(sums(select(eq(place, row), load(y, {expr(0), column}), f32(0))));
  const expr of_sums = cast(dtype::i32, load(y, {expr(1), expr(2)}));
  stays(sums(select(eq(of_sums, row), load(v, {n, column}), f32(0))));
}
