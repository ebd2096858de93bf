#include <tilewright/pass/lower_blocks.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

bool has_block(const function& f) { return count(f.body, stmt_kind::block_realize) != 0; }

}  // namespace

TEST_CASE("a tiled matmul without blocks computes the same bits") {
  for (const bool stage : {false, true})
    for (const bool local : {false, true}) {
      matmul_options o;
      o.stage_b = stage;
      o.local_c = local;
      const function f = matmul(o), g = pass::lower_blocks(f);
      CHECK_FALSE(has_block(g));
      check_same(f, g);
    }
}

TEST_CASE("the initialization stands in front of the outermost reduction loop") {
  const function g = pass::lower_blocks(matmul({}));
  const int ifs_on_k = count(g.body, stmt_kind::if_else, [](const stmt& s) {
    bool compares = false;
    for_each_expr(as_if(s)->condition,
                  [&](const expr& e) { compares = compares || e->op == op::eq; });
    return compares;
  });
  CHECK(ifs_on_k == 0);
}

TEST_CASE("temporaries are allocated in the loop that uses them, outside their reduction loops") {
  const function g = pass::lower_blocks(softmax(3, 5));
  CHECK(count(g.body, stmt_kind::allocate) == 3);
  const loop_node* rows = as_loop(g.body);
  REQUIRE(rows);
  CHECK(rows->loop == loop_kind::parallel);
  CHECK(count(rows->body, stmt_kind::allocate) == 3);
  check_same(softmax(3, 5), g);
  matmul_options o;
  o.local_c = true;
  const function h = pass::lower_blocks(matmul(o));
  // the accumulator lives across k0, the panel within one iteration of it
  for_each_stmt(h.body, [&](const stmt& s) {
    const allocate_node* n = as_allocate(s);
    if (!n) return;
    const bool holds_k0 = count(n->body, stmt_kind::loop,
                                [](const stmt& x) { return as_loop(x)->var->name == "k0"; }) > 0;
    CHECK(holds_k0 == (n->buffer->name == "C_local"));
  });
}

TEST_CASE("padding conditions of a convolution survive") {
  const function f = conv2d({});
  check_same(f, pass::lower_blocks(f));
}

TEST_CASE("an initialization that another block sees stays under a condition") {
  // B reads the running sum C inside the reduction loop
  const buffer a = make_buffer("A", dtype::f32, {4}), c = make_buffer("C", dtype::f32, {1}),
               b = make_buffer("B", dtype::f32, {4});
  const var k = make_var("k"), vk = make_var("vk"), vi = make_var("vi");
  block_node sum;
  sum.name = "C";
  sum.iters = {{vk, {0, 4}, iter_kind::reduce}};
  sum.init = make_store(c, {0}, f32(1));
  sum.body = make_store(c, {0}, load(c, {0}) + load(a, {vk}));
  block_node copy;
  copy.name = "B";
  copy.iters = {{vi, {0, 4}, iter_kind::spatial}};
  copy.body = make_store(b, {vi}, load(c, {0}));
  const function f = make_function(
      {a, b, c},
      make_root(make_loop(k, 0, 4,
                          make_seq({make_realize({k}, boolean(true), make_block(sum)),
                                    make_realize({k}, boolean(true), make_block(copy))}))));
  const function g = pass::lower_blocks(f);
  CHECK(count(g.body, stmt_kind::if_else) == 1);
  check_same(f, g);
}

TEST_CASE("match buffers become accesses of their source") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 4}),
               part = make_buffer("part", dtype::f32, {2});
  const var i = make_var("i"), vi = make_var("vi"), j = make_var("j");
  block_node b;
  b.name = "B";
  b.iters = {{vi, {0, 4}, iter_kind::spatial}};
  b.match_buffers = {{part, {y, {{vi, 1}, {1, 2}}}}};
  b.body = make_loop(j, 0, 2, make_store(part, {j}, cast(dtype::f32, vi * 10 + j)));
  const function f = make_function(
      {y}, make_root(make_loop(i, 0, 4, make_realize({i}, boolean(true), make_block(b)))));
  check_same(f, pass::lower_blocks(f));
}
