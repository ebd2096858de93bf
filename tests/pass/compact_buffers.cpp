#include <tilewright/pass/compact_buffers.hpp>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

function compacted(const function& f) {
  return pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(f)));
}

std::vector<std::int64_t> shape_of(const function& f, const std::string& name) {
  std::vector<std::int64_t> out;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (const allocate_node* n = as_allocate(s); n && n->buffer->name == name)
      for (const expr& e : n->buffer->shape) out.push_back(as_int(e));
  });
  return out;
}

using shape = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a staged operand becomes a panel, a local result the tile") {
  matmul_options o;
  o.local_c = true;
  const function f = matmul(o), g = compacted(f);
  CHECK(shape_of(g, "B_panel") == shape{4, 16});
  CHECK(shape_of(g, "C_local") == shape{6, 16});
  check_same(f, g);
}

TEST_CASE("temporaries of a fused softmax shrink to one row") {
  const function f = softmax(3, 37), g = compacted(f);
  CHECK(shape_of(g, "peak") == shape{1});
  CHECK(shape_of(g, "e") == shape{1, 37});
  check_same(f, g);
}

TEST_CASE("rows of a large buffer are aligned and do not alias in the cache") {
  const buffer y = make_buffer("Y", dtype::f32, {1}), t = make_buffer("T", dtype::f32, {16, 1000}),
               u = make_buffer("U", dtype::f32, {16, 1024});
  const function f = make_function(
      {y}, make_allocate(
               t, make_allocate(
                      u, make_seq({make_store(t, {3, 999}, f32(1)), make_store(t, {15, 0}, f32(1)),
                                   make_store(t, {0, 0}, f32(1)), make_store(u, {15, 1023}, f32(1)),
                                   make_store(u, {0, 0}, f32(1)),
                                   make_store(y, {0}, load(t, {3, 999}))}))));
  const function g = pass::compact_buffers(f);
  CHECK(shape_of(g, "T") == shape{16, 1008});
  CHECK(shape_of(g, "U") == shape{16, 1040});
  check_same(f, g);
}

TEST_CASE("a gathered dimension is kept whole") {
  const buffer y = make_buffer("Y", dtype::f32, {4}), t = make_buffer("T", dtype::f32, {4, 8}),
               n = make_buffer("N", dtype::f32, {4});
  const var i = make_var("i"), j = make_var("j");
  const expr at = floormod(cast(dtype::i32, load(n, {i}) * f32(100)), 8);
  const function f = make_function(
      {y, n},
      make_loop(
          i, 0, 4,
          make_allocate(t, make_seq({make_loop(j, 0, 8, make_store(t, {i, j}, cast(dtype::f32, j))),
                                     make_store(y, {i}, load(t, {i, at}))}))));
  const function g = pass::compact_buffers(f);
  CHECK(shape_of(g, "T") == shape{1, 8});
  check_same(f, g);
}
