// Tails of vectorized loops under a mask, through split_vectors.hpp and whole programs.
#include <tilewright/pass/vector/split_vectors.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

const target::cpu& with_masks() {
  static const target::cpu out = target::named("skylake-avx512");
  return out;
}

std::vector<std::int64_t> widths(const function& f) {
  std::vector<std::int64_t> out;
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* loop = as_loop(s);
    if (loop && loop->loop == loop_kind::vectorized) out.push_back(as_int(loop->extent));
  });
  return out;
}

int conditions(const function& f) {
  int out = 0;
  for_each_stmt(f.body, [&](const stmt& s) { out += as_if(s) != nullptr; });
  return out;
}

/// Y = X + X for `n` elements, in a vectorized loop.
function doubled(std::int64_t n, dtype type = dtype::f32) {
  const buffer y = make_buffer("Y", type, {dim(n)}), x = make_buffer("X", type, {dim(n)});
  const var j = make_var("j");
  return make_function({y, x}, nest({{j, n, loop_kind::vectorized}},
                                    make_store(y, {j}, load(x, {j}) + load(x, {j}))));
}

}  // namespace

TEST_CASE("a tail of several vectors is one under a mask, where the machine has masks") {
  const auto split = [](std::int64_t n, dtype type = dtype::f32) {
    const function f = doubled(n, type), g = pass::split_vectors(f, with_masks());
    if (type == dtype::f32) check_same(f, g);
    return g;
  };
  CHECK(widths(split(31)) == std::vector<std::int64_t>{16, 16});
  CHECK(conditions(split(31)) == 1);
  CHECK(widths(split(7)) == std::vector<std::int64_t>{8});
  CHECK(widths(split(19)) == std::vector<std::int64_t>{16, 4});
  CHECK(widths(split(13, dtype::f64)) == std::vector<std::int64_t>{8, 8});
  // one narrower vector needs no mask
  CHECK(widths(split(24)) == std::vector<std::int64_t>{16, 8});
  CHECK(conditions(split(24)) == 0);
  CHECK(widths(split(17)) == std::vector<std::int64_t>{16});
  // elements of a byte keep their vectors
  CHECK(conditions(split(7, dtype::i8)) == 0);
  CHECK(conditions(pass::split_vectors(doubled(31), target::named("haswell"))) == 0);
}

TEST_CASE("lanes that lie apart get a mask only where it saves several vectors") {
  const auto spread = [](std::int64_t n) {
    const buffer y = make_buffer("Y", dtype::f32, {dim(n)});
    const buffer x = make_buffer("X", dtype::f32, {dim(3 * n)});
    const buffer a = make_buffer("A", dtype::f32, {dim(n)}, "local");
    const var j = make_var("j"), k = make_var("k");
    const function f = make_function(
        {y, x},
        make_allocate(a, make_seq({make_loop(j, 0, dim(n), make_store(a, {j}, load(x, {j * 3})),
                                             loop_kind::vectorized),
                                   make_loop(k, 0, dim(n), make_store(y, {k}, load(a, {k})),
                                             loop_kind::vectorized)})));
    const function g = pass::split_vectors(f, with_masks());
    check_same(f, g);
    return widths(g);
  };
  CHECK(spread(6) == std::vector<std::int64_t>{4, 2, 4, 2});  // one width in local memory
  CHECK(spread(15) == std::vector<std::int64_t>{16, 16});
}

TEST_CASE("integer divisions are never computed for elements that are not there") {
  const buffer y = make_buffer("Y", dtype::i32, {dim(7)}),
               x = make_buffer("X", dtype::i32, {dim(7)});
  const var j = make_var("j");
  const function f = make_function(
      {y, x}, nest({{j, 7, loop_kind::vectorized}},
                   make_store(y, {j},
                              floordiv(integer(dtype::i32, 100),
                                       load(x, {j}) * load(x, {j}) + integer(dtype::i32, 1)))));
  CHECK(conditions(pass::split_vectors(f, with_masks())) == 0);
}

TEST_CASE("rows that a masked tail ends become whole vectors, and stay apart") {
  const function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((4, 13), "float32"), Y: T.Buffer((4, 13), "float32")):
    with T.block("root"):
        T.reads()
        T.writes()
        A = T.alloc_buffer((4, 13), "float32")
        for i in range(4):
            for j in T.vectorized(13):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    A[vi, vj] = X[vi, vj] * T.float32(2)
        for i in range(4):
            for j in T.vectorized(13):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[3 - vi, vj] + A[vi, vj]
)");
  const function g = pass::split_vectors(
      pass::sink_vectors(pass::simplify_loops(pass::lower_blocks(f))), with_masks());
  bool longer = false;
  for_each_expr(g.body, [&](const expr& e) {
    if (e->op == op::load && e->buffer->name == "A")
      longer = longer || is_int(e->buffer->shape.back(), 16);
  });
  CHECK(longer);
  check_same(f, g);
}

TEST_CASE("a loop that ends within a row of local memory leaves what follows") {
  const buffer x = make_buffer("X", dtype::f32, {dim(16)}),
               y = make_buffer("Y", dtype::f32, {dim(16)});
  const buffer a = make_buffer("A", dtype::f32, {dim(16)}, "local");
  const var i = make_var("i"), j = make_var("j"), k = make_var("k");
  const function f = make_function(
      {y, x},
      make_allocate(a, make_seq({make_loop(i, 0, 16, make_store(a, {i}, load(x, {i}))),
                                 make_loop(j, 0, 7, make_store(a, {j}, load(a, {j}) * load(x, {j})),
                                           loop_kind::vectorized),
                                 make_loop(k, 0, 16, make_store(y, {k}, load(a, {k})))})));
  const function g = pass::split_vectors(f, with_masks());
  CHECK(conditions(g) == 0);
  CHECK(widths(g) == std::vector<std::int64_t>{4, 2});
  check_same(f, g);
}
