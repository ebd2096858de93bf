#include <tilewright/pass/compact_buffers.hpp>

#include <tilewright/ir/text/parse.hpp>
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

namespace {

/// A staged operand of 6 by 7 by 5 elements, with a wish for its strides.
function staged(attr wish) {
  function f = parse(R"(
@T.prim_func
def main(A: T.Buffer((6, 7, 5), "float32"), B: T.Buffer((5, 7, 6), "float32")):
    S = T.alloc_buffer((6, 7, 5), "float32")
    for i, j, k in T.grid(6, 7, 5):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            S[vi, vj, vk] = A[vi, vj, vk] + T.float32(1)
    for k, j, i in T.grid(5, 7, 6):
        with T.block("B"):
            vk, vj, vi = T.axis.remap("SSS", [k, j, i])
            B[vk, vj, vi] = S[vi, vj, vk] * T.float32(2)
)");
  f.body = rewrite(
      f.body, [](const expr& e) { return e; },
      [&](const stmt& s) -> stmt {
        const block_realize_node* r = as_realize(s);
        if (!r || r->block->name != "S") return s;
        block_node b = *r->block;
        b.annotations["buffer_dim_align"] = wish;
        return make_realize(r->values, r->predicate, make_block(std::move(b)));
      });
  return f;
}

shape strides_of(const function& f, const std::string& name) {
  shape out;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (const allocate_node* n = as_allocate(s); n && n->buffer->name == name)
      for (const expr& e : n->buffer->strides) out.push_back(as_int(e));
  });
  return out;
}

}  // namespace

TEST_CASE("strides follow what a block asks for") {
  using list = attr::list;
  const function plain = staged(list{});
  const auto check = [&](const attr& wish, const shape& strides) {
    const function g = compacted(staged(wish));
    CHECK(strides_of(g, "S") == strides);
    CHECK(shape_of(g, "S") == shape{6, 7, 5});
    check_same(plain, g);
    bool remark = false;
    for_each_stmt(g.body, [&](const stmt& s) { remark = remark || as_attribute(s); });
    CHECK_FALSE(remark);
  };
  check(list{}, {});
  check(list{attr(list{0, 1, 8, 0})}, {56, 8, 1});
  check(list{attr(list{0, 0, 32, 8})}, {40, 5, 1});
  check(list{list{0, 0, 32, 1}, list{0, 1, 4, 2}}, {65, 6, 1});
  check(list{attr(list{0, 2, 2, 0})}, {70, 10, 2});
  check(list{attr(list{0, 0, 16, -3})}, {45, 5, 1});
  check(list{attr(list{0, 0, 35, 0})}, {});   // it is so already
  check(list{attr(list{1, 0, 35, 1})}, {});   // no such buffer
  check(list{attr(list{0, 1, 8, "x"})}, {});  // no wish
}

TEST_CASE("a call that names the first elements of pieces touches all of their elements") {
  const buffer c = make_buffer("C", dtype::f32, {4, 8}, "local"),
               a = make_buffer("A", dtype::f16, {4, 8}, "local"),
               s = make_buffer("S", dtype::f16, {64}, "shared");
  const auto call_on = [](const char* name, std::vector<expr> first) {
    return make_evaluate(call(dtype::i32, name, std::move(first)));
  };
  const function f = make_function(
      {},
      make_allocate(
          s, make_allocate(
                 c, make_allocate(
                        a, make_seq({call_on("tw_load_matrix", {load(a, {2, 0}), load(s, {16})}),
                                     call_on("tw_mma", {load(c, {1, 0}), load(a, {2, 0}),
                                                        load(a, {2, 0})})})))));
  const function g = pass::compact_buffers(f);
  CHECK(shape_of(g, "C") == shape{1, 8});
  CHECK(shape_of(g, "A") == shape{1, 8});
  CHECK(shape_of(g, "S") == shape{8});
}

TEST_CASE("a buffer that two statements allocate is as small as each of them needs it") {
  const buffer t = make_buffer("T", dtype::f32, {16}), y = make_buffer("Y", dtype::f32, {2});
  const auto used = [&](int count, int to) {
    const var i = make_var("i");
    return make_allocate(t, make_seq({make_loop(i, 0, count, make_store(t, {i + 4}, f32(1))),
                                      make_store(y, {to}, load(t, {4}))}));
  };
  const function f = make_function({y}, make_seq({used(3, 0), used(16 - 4, 1), used(5, 0)}));
  const function g = pass::compact_buffers(f);
  std::vector<shape> all;
  for_each_stmt(g.body, [&](const stmt& x) {
    if (const allocate_node* n = as_allocate(x)) all.push_back({as_int(n->buffer->shape[0])});
  });
  CHECK(all == std::vector<shape>{{3}, {12}, {5}});
  check_same(f, g);
}
