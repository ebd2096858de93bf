#include <tilewright/pass/order_dimensions.hpp>

#include <tilewright/ir/text/parse.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

std::vector<std::int64_t> shape_of(const function& f, const std::string& name) {
  std::vector<std::int64_t> out;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (const allocate_node* n = as_allocate(s); n && n->buffer->name == name)
      for (const expr& e : n->buffer->shape) out.push_back(as_int(e));
  });
  return out;
}

/// P[i, k] = X[k, i], then Y[k, i] = P[i, k], the loop over i being of that kind.
function staged(loop_kind kind) {
  const buffer x = make_buffer("X", dtype::f32, {6, 8}), y = make_buffer("Y", dtype::f32, {6, 8}),
               p = make_buffer("P", dtype::f32, {8, 6});
  const auto both = [&](const auto& body) {
    const var k = make_var("k"), i = make_var("i");
    return nest({{k, 6}, {i, 8, kind}}, body(k, i));
  };
  const stmt fill = both([&](const var& k, const var& i) {
    return make_store(p, {i, k}, load(x, {k, i}));
  });
  const stmt drain = both([&](const var& k, const var& i) {
    return make_store(y, {k, i}, load(p, {i, k}));
  });
  return make_function({x, y}, make_allocate(p, make_seq({fill, drain})));
}

}  // namespace

TEST_CASE("the dimension that vectors move along becomes the last") {
  const function f = staged(loop_kind::vectorized), g = pass::order_dimensions(f);
  CHECK(shape_of(g, "P") == std::vector<std::int64_t>{6, 8});
  check_same(f, g);
}

TEST_CASE("vectors may step over a few elements of a dimension") {
  const auto strided = [](std::int64_t step) {
    const buffer x = make_buffer("X", dtype::f32, {6, 48}),
                 y = make_buffer("Y", dtype::f32, {6, 8}),
                 p = make_buffer("P", dtype::f32, {48, 6});
    const var a = make_var("a"), b = make_var("b"), k = make_var("k"), i = make_var("i");
    const stmt fill = nest({{a, 48}, {b, 6}}, make_store(p, {a, b}, load(x, {b, a})));
    const stmt drain = nest({{k, 6}, {i, 8, loop_kind::vectorized}},
                            make_store(y, {k, i}, load(p, {i * step, k})));
    return make_function({x, y}, make_allocate(p, make_seq({fill, drain})));
  };
  for (const std::int64_t step : {1, 2, 4, 5}) {
    CAPTURE(step);
    const function f = strided(step), g = pass::order_dimensions(f);
    const bool moved = shape_of(g, "P") == std::vector<std::int64_t>{6, 48};
    CHECK(moved == (step < 5));
    check_same(f, g);
  }
}

TEST_CASE("without vectors, buffers stay as they are") {
  const function f = staged(loop_kind::serial), g = pass::order_dimensions(f);
  CHECK(shape_of(g, "P") == std::vector<std::int64_t>{8, 6});
  check_same(f, g);
}

TEST_CASE("the last dimension stays last when more work moves along it") {
  const buffer x = make_buffer("X", dtype::f32, {8, 8}), y = make_buffer("Y", dtype::f32, {8, 8}),
               p = make_buffer("P", dtype::f32, {8, 8});
  const var i = make_var("i"), a = make_var("a"), j = make_var("j");
  const stmt fill =
      nest({{i, 8}, {j, 8, loop_kind::vectorized}}, make_store(p, {i, j}, load(x, {i, j})));
  const stmt one_column =
      nest({{a, 8, loop_kind::vectorized}}, make_store(y, {0, a}, load(p, {a, 3})));
  const function f = make_function({x, y}, make_allocate(p, make_seq({fill, one_column})));
  const function g = pass::order_dimensions(f);
  const stmt body = as_allocate(g.body)->body;
  const store_node& first = *as_store(as_loop(as_loop(as_seq(body)->stmts[0])->body)->body);
  CHECK(is_var(first.indices[1]));
  CHECK(first.indices[1]->name == "j");
}

TEST_CASE("factors of short dot products stay side by side") {
  const function f = parse(R"(@T.prim_func
def main(X: T.Buffer((2, 16), "bfloat16"), A: T.Buffer((2,), "bfloat16"), C: T.Buffer((16,), "float32")):
    P = T.allocate([16, 2], "bfloat16", "global")
    for k in range(2):
        for i in T.vectorized(16):
            P[i, k] = X[k, i]
    for i in T.vectorized(16):
        C[i] = T.call_extern("float32", "dot2", C[i], A[0], A[1], P[i, 0], P[i, 1])
)");
  const function g = pass::order_dimensions(f);
  CHECK(shape_of(g, "P") == std::vector<std::int64_t>{16, 2});
}

TEST_CASE("lanes that run over the last dimensions together keep their order") {
  const auto summed = [](std::int64_t rows) {
    const buffer x = make_buffer("X", dtype::f32, {rows, 2, 4}),
                 y = make_buffer("Y", dtype::f32, {2}), p = make_buffer("P", dtype::f32, {2, 4});
    const var h = make_var("h"), v = make_var("v"), r = make_var("r"), c = make_var("c"),
              g = make_var("g");
    const expr group = floordiv(v, 4), term = floormod(v, 4);
    const stmt fill = nest({{h, rows}, {v, 8, loop_kind::vectorized}},
                           make_store(p, {group, term}, load(x, {h, group, term})));
    const stmt drain = nest({{r, 3}, {c, 4}, {g, 2, loop_kind::vectorized}},
                            make_store(y, {g}, load(y, {g}) + load(p, {g, c})));
    return make_function({x, y}, make_allocate(p, make_seq({fill, drain})));
  };
  // 24 accesses move along the groups, and as many elements of each row along both
  for (const std::int64_t rows : {1, 64}) {
    const function f = summed(rows), g = pass::order_dimensions(f);
    CHECK(shape_of(g, "P") ==
          (rows == 1 ? std::vector<std::int64_t>{4, 2} : std::vector<std::int64_t>{2, 4}));
    check_same(f, g);
  }
}
