#include <tilewright/pass/plan_workspace.hpp>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/support/error.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

std::int64_t number(const function& f, const char* key) {
  return std::get<std::int64_t>(f.attrs.at(key).value);
}

stmt fill(const buffer& b, std::int64_t n) {
  const var i = make_var("i");
  return make_loop(i, 0, dim(n), make_store(b, {i}, f32(1)));
}

}  // namespace

TEST_CASE("small buffers go to the stack, large ones to the workspace, lifetimes share memory") {
  const buffer a = make_buffer("a", dtype::f32, {dim(10000)}),
               b = make_buffer("b", dtype::f32, {dim(5000)}),
               c = make_buffer("c", dtype::f32, {dim(6000)}),
               d = make_buffer("d", dtype::f32, {dim(16)});
  const function f = make_function(
      {}, make_allocate(a, make_seq({fill(a, 3), make_allocate(b, fill(b, 3)),
                                     make_allocate(c, fill(c, 3)), make_allocate(d, fill(d, 3))})));
  const function g = pass::plan_workspace(f, {});
  CHECK(number(g, "tilewright.workspace_bytes") == 40000 + 24000);
  CHECK(number(g, "tilewright.worker_bytes") == 0);
  for_each_stmt(g.body, [](const stmt& s) {
    const allocate_node* n = as_allocate(s);
    if (!n) return;
    CHECK(n->buffer->scope == (n->buffer->name == "d" ? "local" : "workspace"));
    if (n->buffer->name == "b" || n->buffer->name == "c")
      CHECK(is_int(n->buffer->elem_offset, 10000));
  });
  check_same(f, g);
}

TEST_CASE("buffers of a parallel body have one slot per worker") {
  const buffer a = make_buffer("a", dtype::f32, {dim(2048)}),
               shared = make_buffer("s", dtype::f32, {dim(2000)});
  const var i = make_var("p");
  const function f = make_function(
      {},
      make_allocate(shared, make_loop(i, 0, 4, make_allocate(a, fill(a, 5)), loop_kind::parallel)));
  pass::workspace_options o;
  o.workers = 3;
  const function g = pass::plan_workspace(f, o);
  CHECK(number(g, "tilewright.worker_offset") == 8000);
  CHECK(number(g, "tilewright.worker_bytes") == 8192 + 64);
  CHECK(number(g, "tilewright.workspace_bytes") == 8000 + 3 * (8192 + 64));
  CHECK(number(g, "tilewright.workers") == 3);
  for_each_stmt(g.body, [](const stmt& s) {
    if (const store_node* n = as_store(s)) CHECK(n->buffer->scope == "worker");
  });
}

TEST_CASE("an allocation of symbolic size is refused") {
  const buffer a = make_buffer("a", dtype::f32, {make_var("n")});
  CHECK_THROWS_AS(pass::plan_workspace(make_function({}, make_allocate(a, fill(a, 1))), {}),
                  build_error);
}
