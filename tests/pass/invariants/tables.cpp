// Tables of function values, through hoist_invariants.hpp and whole programs.
#include <tilewright/impl/pass/invariants/tables.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/hoist_invariants.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const var h = make_var("h"), i = make_var("i"), j = make_var("j");
const buffer x = make_buffer("X", dtype::f32, {6, 8}), v = make_buffer("V", dtype::f32, {8}),
             y = make_buffer("Y", dtype::f32, {5, 6, 8});

expr cosine(const expr& e) { return call(dtype::f32, "cos", {e}); }

/// Y[h, i, j] = X[i, j] * value
stmt product(const expr& value) { return make_store(y, {h, i, j}, load(x, {i, j}) * value); }

function under(const std::vector<loop_spec>& loops, const stmt& body) {
  return make_function({x, v, y}, nest(loops, body));
}

/// Elements of the tables that the pass makes, which keeps the meaning.
std::vector<std::int64_t> tables(const function& f) {
  const function g = pass::hoist_invariants(f);
  INFO(print(g));
  check_same(f, g);
  std::vector<std::int64_t> out;
  for_each_stmt(g.body, [&](const stmt& s) {
    if (as_allocate(s)) out.push_back(pass::constant_size(as_allocate(s)->buffer));
  });
  return out;
}

using sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE(
    "values that a loop repeats for each iteration of loops inside it are read from a table") {
  const expr of_column = cosine(load(v, {j}) * f32(3));
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(of_column))) == sizes{8});
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8, loop_kind::vectorized}}, product(of_column))) ==
        sizes{8});
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(cosine(load(x, {i, j}))))) == sizes{48});
  // in the order of the loops
  CHECK(tables(under({{h, 5}, {j, 8}, {i, 6}}, product(cosine(load(x, {i, j}))))) == sizes{48});
  // below the loop that the value depends on
  const expr of_both = cosine(load(v, {j}) * cast(dtype::f32, h));
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(of_both))) == sizes{8});
  // two values, one of which occurs twice
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}},
                     product(of_column * of_column + cosine(load(x, {i, j}))))) == sizes{48, 8});
  // the outer function holds the inner one
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(cosine(of_column)))) == sizes{8});
}

TEST_CASE("tables of roots and quotients that fit the nearest cache") {
  const std::vector<loop_spec> loops{{h, 5}, {i, 6}, {j, 8, loop_kind::vectorized}};
  const expr of_column = load(v, {j}) * load(v, {j}) + f32(1);
  CHECK(tables(under(loops, product(call(dtype::f32, "rsqrt", {div(of_column, f32(3))})))) ==
        sizes{8});
  CHECK(tables(under(loops, product(div(of_column, f32(3))))) == sizes{8});
  CHECK(tables(under(loops, product(div(f32(3), of_column)))) == sizes{8});
  CHECK(tables(under(loops, product(div(of_column, f32(4))))).empty());  // a product
  CHECK(tables(under(loops, product(div(f32(2), load(x, {i, j})) - of_column))) == sizes{48});
  for (const std::int64_t columns : {2048, 2049}) {
    const buffer wide = make_buffer("W", dtype::f32, {columns});
    const var k = make_var("k");
    const function f = make_function(
        {wide, y},
        nest({{h, 5}, {k, columns}},
             make_store(y, {h, 0, 0}, load(y, {h, 0, 0}) + div(f32(3), f32(2) + load(wide, {k})))));
    CHECK(tables(f) == (columns == 2048 ? sizes{2048} : sizes{}));
  }
}

TEST_CASE("tables of loops that begin behind 0") {
  const stmt body = make_loop(j, 2, 5, product(cosine(load(v, {j}))));
  CHECK(tables(under({{h, 5}, {i, 6}}, body)) == sizes{5});
}

TEST_CASE("there is no table for what varies, is cheap, or would not be used often") {
  const expr of_column = cosine(load(v, {j}));
  CHECK(
      tables(under({{j, 8}, {i, 6}, {h, 5}}, product(of_column))).empty());  // one value at a time
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(load(v, {j}) * f32(2)))).empty());
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, product(call(dtype::f32, "abs", {load(v, {j})}))))
            .empty());
  CHECK(tables(under({{h, 3}, {i, 3}, {j, 8}}, product(of_column))).empty());
  CHECK(tables(under({{h, 5, loop_kind::parallel}, {i, 3}, {j, 8}}, product(of_column))).empty());
  CHECK(tables(under({{h, 5}, {i, 6, loop_kind::parallel}, {j, 8}}, product(of_column))).size() <=
        1);
  // not in each iteration
  const stmt maybe = make_if(gt(load(x, {i, j}), f32(0)), product(of_column));
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, maybe)).empty());
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}},
                     product(if_then_else(gt(load(x, {i, j}), f32(0)), of_column, f32(1)))))
            .empty());
  // what it loads is stored meanwhile
  const stmt changes = make_seq({product(of_column), make_store(v, {j}, load(x, {i, j}))});
  CHECK(tables(under({{h, 5}, {i, 6}, {j, 8}}, changes)).empty());
  // an index that is data may be another one in each iteration
  const buffer wide = make_buffer("W", dtype::f32, {40000});
  const var k = make_var("k");
  const function large = make_function(
      {wide, y}, nest({{h, 5}, {k, 40000}},
                      make_store(y, {h, 0, 0}, load(y, {h, 0, 0}) + cosine(load(wide, {k})))));
  CHECK(tables(large).empty());
}

TEST_CASE("loops beside each other that have one variable keep what they compute") {
  const expr of_column = cosine(load(v, {j}));
  const stmt two =
      make_seq({make_loop(j, 0, 4, product(of_column)), make_loop(j, 4, 4, product(of_column))});
  CHECK(tables(under({{h, 5}, {i, 6}}, two)).empty());
}

TEST_CASE("a rotation by angles computes each sine once for all heads") {
  const function f = parse(R"(
@T.prim_func
def main(X: T.Buffer((5, 12, 64), "float32"), F: T.Buffer((32,), "float32"), Y: T.Buffer((5, 12, 64), "float32")):
    for t, h, d0, d1 in T.grid(5, 12, 4, 16):
        with T.block("Y"):
            vt, vh = T.axis.remap("SS", [t, h])
            vd = T.axis.spatial(64, d0 * 16 + d1)
            Y[vt, vh, vd] = X[vt, vh, vd] * T.cos(T.Cast("float32", vt) * F[vd % 32]) + X[vt, vh, (vd + 32) % 64] * T.sin(T.Cast("float32", vt) * F[vd % 32])
)");
  const function lowered = pass::lower(f, target::named("haswell"));
  INFO(print(lowered));
  check_same(f, lowered, 1e-6);
  int inside = 0;
  for_each_stmt(lowered.body, [&](const stmt& s) {
    const loop_node* l = as_loop(s);
    if (l && l->var->name == "h")
      for_each_expr(l->body, [&](const expr& e) {
        inside += e->op == op::call && (e->name == "sin" || e->name == "cos") ? 1 : 0;
      });
  });
  CHECK(inside == 0);
}
