#include <tilewright/pass/lower.hpp>

#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

/// The promises at the head of pass/lower.hpp.
void check_lowered(const function& f) {
  CHECK(f.attrs.count("tilewright.lowered") == 1);
  for_each_stmt(f.body, [&](const stmt& s) {
    CHECK(s->kind != stmt_kind::block_realize);
    if (const allocate_node* n = as_allocate(s)) {
      const std::string& scope = n->buffer->scope;
      CHECK((scope == "local" || scope == "workspace" || scope == "worker"));
      for (const expr& e : n->buffer->shape) CHECK(is_int(e));
    }
    const loop_node* loop = as_loop(s);
    if (!loop) return;
    CHECK(loop->loop != loop_kind::thread_binding);
    if (loop->loop == loop_kind::unrolled) CHECK((is_int(loop->min) && is_int(loop->extent)));
    if (loop->loop == loop_kind::parallel) CHECK(count_loops(loop->body, loop_kind::parallel) == 0);
    if (loop->loop != loop_kind::vectorized) return;
    REQUIRE((is_int(loop->min) && is_int(loop->extent)));
    const std::int64_t lanes = as_int(loop->extent);
    CHECK((lanes & (lanes - 1)) == 0);
    bool divides = false;
    for_each_expr(loop->body, [&](const expr& e) {
      divides = divides || (e->op == op::div && !uses_var(e->args[1], loop->var));
    });
    CHECK(lanes <= (divides ? 2 : 1) * pass::lanes_of(loop->body, target::named("haswell")));
    CHECK(count(loop->body, stmt_kind::loop) == 0);
    CHECK(count(loop->body, stmt_kind::allocate) == 0);
  });
}

void check_lowering(const function& f, double tolerance) {
  const function g = pass::lower(f, target::named("haswell"));
  check_lowered(g);
  check_same(f, g, tolerance);
}

}  // namespace

TEST_CASE("matmuls") {
  for (const bool stage : {false, true})
    for (const bool local : {false, true})
      for (const bool vectorized : {false, true})
        for (const std::int64_t m : {12, 13}) {
          matmul_options o;
          o.m = m, o.n = 35, o.k = 10;
          o.stage_b = stage;
          o.local_c = local;
          o.vectorized = vectorized;
          check_lowering(matmul(o), 1e-6);
        }
}

TEST_CASE("a matmul of 127 x 129 x 131") {
  matmul_options o;
  o.m = 127, o.k = 129, o.n = 131;
  o.tile_k = 32;
  check_lowering(matmul(o), 1e-5);
}

TEST_CASE("softmax of rows") {
  for (const std::int64_t n : {1, 5, 37, 131}) check_lowering(softmax(3, n), 1e-5);
}

TEST_CASE("padded convolutions") {
  check_lowering(conv2d({}), 1e-5);
  conv_options o;
  o.window = 3, o.stride = 1, o.border = 1, o.size = 13;
  check_lowering(conv2d(o), 1e-5);
}

TEST_CASE("lets in expressions") {
  const buffer y = make_buffer("Y", dtype::f32, {40}), x = make_buffer("X", dtype::f32, {40});
  for (const loop_kind kind : {loop_kind::serial, loop_kind::vectorized}) {
    const var i = make_var("i"), n = make_var("n"), v = make_var("v", dtype::f32);
    const expr value =
        let_in(v, load(x, {let_in(n, dim(39) - i, n)}) + f32(1), call(dtype::f32, "exp", {v}) * v);
    check_lowering(make_function({y, x}, nest({{i, 40, kind}}, make_store(y, {i}, value))), 1e-6);
  }
}
