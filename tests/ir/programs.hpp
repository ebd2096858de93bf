// Functions that together use everything the IR can express; the tests of the text forms, of
// equality, of the keys and of the verifier run over all of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::test {

using namespace tilewright::ir;

inline iter_var spatial(const char* name, expr extent) {
  const dtype type = extent.type();
  return {make_var(name, type), {integer(type, 0), std::move(extent)}, iter_kind::spatial};
}
inline iter_var reduce(const char* name, expr extent) {
  iter_var out = spatial(name, std::move(extent));
  out.kind = iter_kind::reduce;
  return out;
}
inline buffer_region point(const buffer& b, std::vector<expr> at) { return {b, point_box(at)}; }
inline stmt realize(std::vector<expr> values, block_node b, expr predicate = boolean(true)) {
  return make_realize(std::move(values), std::move(predicate), make_block(std::move(b)));
}
inline stmt nest(const std::vector<var>& loops, const std::vector<expr>& extents, stmt body) {
  for (std::size_t i = loops.size(); i-- > 0;)
    body = make_loop(loops[i], integer(loops[i].type(), 0), extents[i], std::move(body));
  return body;
}
inline function make_function(std::vector<buffer> buffers, stmt body,
                              std::vector<buffer> allocs = {}) {
  function f;
  for (buffer& b : buffers) f.params.push_back({std::move(b), {}});
  f.body = make_root(std::move(body), std::move(allocs));
  return f;
}

/// The matmul block alone.
inline stmt matmul_block(const buffer& a, const buffer& b, const buffer& c,
                         std::vector<expr> values, expr predicate = boolean(true)) {
  const dtype type = c->type;
  block_node n;
  n.name = c->name;
  n.iters = {spatial("vi", c->shape[0]), spatial("vj", c->shape[1]), reduce("vk", a->shape[1])};
  const var vi = n.iters[0].var, vj = n.iters[1].var, vk = n.iters[2].var;
  n.reads = {point(a, {vi, vk}), point(b, {vk, vj})};
  n.writes = {point(c, {vi, vj})};
  n.init = make_store(c, {vi, vj}, literal(type, 0));
  n.body =
      make_store(c, {vi, vj},
                 load(c, {vi, vj}) + cast(type, load(a, {vi, vk})) * cast(type, load(b, {vk, vj})));
  return realize(std::move(values), std::move(n), std::move(predicate));
}

inline function matmul(int m, int n, int k, dtype in = dtype::f32, const char* block_name = "C") {
  const buffer a = make_buffer("A", in, {m, k}), b = make_buffer("B", in, {k, n});
  const buffer c = make_buffer(block_name, dtype::f32, {m, n});
  const var i = make_var("i"), j = make_var("j"), l = make_var("k");
  return make_function({a, b, c}, nest({i, j, l}, {m, n, k}, matmul_block(a, b, c, {i, j, l})));
}

/// Split loops of all kinds, a guard, annotations, and an elementwise block behind a local buffer.
inline function scheduled_matmul_relu() {
  const buffer a = make_buffer("A", dtype::f32, {127, 64}),
               b = make_buffer("B", dtype::f32, {64, 96});
  const buffer c = make_buffer("C", dtype::f32, {127, 96});
  const buffer local = make_buffer("C_local", dtype::f32, {127, 96}, "local");
  const var i0 = make_var("i_0"), i1 = make_var("i_1"), j = make_var("j"), k0 = make_var("k_0"),
            k1 = make_var("k_1"), x = make_var("ax0"), y = make_var("ax1");
  const stmt block =
      matmul_block(a, b, local, {i0 * 16 + i1, j, k0 * 4 + k1}, lt(i0 * 16 + i1, 127));
  stmt inner = make_loop(k1, 0, 4, block, loop_kind::unrolled);
  inner = make_loop(j, 0, 96, inner, loop_kind::vectorized);
  inner = make_loop(k0, 0, 16, make_loop(i1, 0, 16, inner), loop_kind::serial,
                    {{"pragma_unroll", 1}, {"note", "hot"}});
  block_node relu;
  relu.name = "C";
  relu.iters = {spatial("v_ax0", 127), spatial("v_ax1", 96)};
  const var v0 = relu.iters[0].var, v1 = relu.iters[1].var;
  relu.reads = {point(local, {v0, v1})};
  relu.writes = {point(c, {v0, v1})};
  relu.annotations = {{"tile", attr::list{1, 2.5, "x", attr::dict{{"k", 1}}}}};
  relu.body = make_store(c, {v0, v1}, max(load(local, {v0, v1}), real(dtype::f32, 0)));
  const stmt epilogue =
      nest({x, y}, {16, 96}, realize({i0 * 16 + x, y}, relu, lt(i0 * 16 + x, 127)));
  return make_function(
      {a, b, c}, make_loop(i0, 0, 8, make_seq({inner, epilogue}), loop_kind::parallel), {local});
}

/// Symbolic extents, strides and offset, a scalar parameter, 64-bit indices.
inline function symbolic_add() {
  const var n = make_var("n", dtype::i64), stride = make_var("s", dtype::i64);
  const var offset = make_var("offset", dtype::i64), alpha = make_var("alpha", dtype::f32);
  auto* node = new buffer_node;
  node->name = "A";
  node->shape = {n, n * 2};
  node->strides = {stride, expr(std::int64_t{1})};
  node->elem_offset = offset;
  node->alignment = 16;
  node->offset_factor = 4;
  const buffer a(node), b = make_buffer("B", dtype::f32, {n, n * 2});
  const var i = make_var("i", dtype::i64), j = make_var("j", dtype::i64);
  block_node add;
  add.name = "B";
  add.iters = {spatial("vi", n), spatial("vj", n * 2)};
  const var vi = add.iters[0].var, vj = add.iters[1].var;
  add.reads = {point(a, {vi, vj})};
  add.writes = {point(b, {vi, vj})};
  add.body = make_store(b, {vi, vj}, load(a, {vi, vj}) * alpha + real(dtype::f32, 0.1));
  function f = make_function({a, b}, nest({i, j}, {n, n * 2}, realize({i, j}, add)));
  f.params.insert(f.params.begin() + 1, {{}, alpha});
  f.attrs = {{"tilewright.level", 3}, {"global_symbol", "add"}};
  return f;
}

/// Lets, if/else and a tuple reduction: the position of the largest element of each row.
inline function argmax() {
  const buffer x = make_buffer("X", dtype::f32, {32, 100});
  const buffer v = make_buffer("best", dtype::f32, {32}), at = make_buffer("at", dtype::i32, {32});
  const var i = make_var("i"), k = make_var("k");
  block_node b;
  b.name = "argmax";
  b.iters = {spatial("vi", 32), reduce("vk", 100)};
  const var vi = b.iters[0].var, vk = b.iters[1].var;
  b.reads = {point(x, {vi, vk})};
  b.writes = {point(v, {vi}), point(at, {vi})};
  b.init = make_seq({make_store(v, {vi}, lowest_value(dtype::f32)), make_store(at, {vi}, 0)});
  const var value = make_var("value", dtype::f32), index = make_var("index");
  const expr better = gt(load(x, {vi, vk}), load(v, {vi}));
  b.body = make_let(value, select(better, load(x, {vi, vk}), load(v, {vi})),
                    make_let(index, if_then_else(better, vk, load(at, {vi})),
                             make_seq({make_store(v, {vi}, value), make_store(at, {vi}, index)})));
  return make_function({x, v, at}, nest({i, k}, {32, 100}, realize({i, k}, b)));
}

/// Nested blocks, an offset iteration domain, a view of a tile, a block without iteration
/// variables.
inline function tiled_view() {
  const buffer a = make_buffer("A", dtype::f16, {64, 64}),
               c = make_buffer("C", dtype::f16, {64, 64});
  const buffer total = make_buffer("total", dtype::f16, {});
  auto* view = new buffer_node;
  view->name = "A_tile";
  view->type = dtype::f16;
  view->shape = {16, 16};
  view->strides = {make_var("A_s0"), make_var("A_s1")};
  view->elem_offset = make_var("A_at");
  view->offset_factor = 16;
  const buffer tile(view);
  const var i = make_var("i"), j = make_var("j"), x = make_var("x"), y = make_var("y");
  block_node outer;
  outer.name = "C_o";
  outer.iters = {spatial("vio", 4), {make_var("vjo"), {1, 3}, iter_kind::ordered}};
  const var vio = outer.iters[0].var, vjo = outer.iters[1].var;
  const std::vector<range> box{{vio * 16, 16}, {vjo * 16, 16}};
  outer.reads = {{a, box}};
  outer.writes = {{c, box}};
  outer.match_buffers = {{tile, {a, box}}};
  block_node inner;
  inner.name = "C";
  inner.iters = {spatial("vi", 16), spatial("vj", 16)};
  const var vi = inner.iters[0].var, vj = inner.iters[1].var;
  inner.reads = {point(tile, {vi, vj})};
  inner.writes = {point(c, {vio * 16 + vi, vjo * 16 + vj})};
  inner.body = make_store(c, {vio * 16 + vi, vjo * 16 + vj},
                          call(dtype::f16, "exp", {load(tile, {vi, vj})}));
  outer.body = nest({x, y}, {16, 16}, realize({x, y}, inner));
  block_node last;
  last.name = "total";
  last.reads = {point(c, {0, 16})};
  last.writes = {{total, {}}};
  last.body = make_store(total, {}, load(c, {0, 16}));
  const stmt tiles = make_loop(i, 0, 4, make_loop(j, 1, 3, realize({i, j}, outer)));
  return make_function({a, c, total}, make_seq({tiles, realize({}, last)}));
}

/// A block whose reads are only known at run time, with integer arithmetic of every kind.
inline function gather() {
  const buffer x = make_buffer("X", dtype::f64, {128}), at = make_buffer("at", dtype::i64, {40});
  const buffer y = make_buffer("Y", dtype::f64, {40}),
               m = make_buffer("mask", dtype::boolean, {40});
  const var i = make_var("i");
  block_node b;
  b.name = "Y";
  b.iters = {spatial("vi", 40)};
  const var vi = b.iters[0].var;
  b.reads = {full_region(x), point(at, {vi}), point(m, {vi})};
  b.writes = {point(y, {vi})};
  const expr p = load(at, {vi});
  const expr wrapped = floormod(p - cast(dtype::i64, vi) * 3, integer(dtype::i64, 128));
  const expr odd = ne(mod(p, integer(dtype::i64, 2)), integer(dtype::i64, 0));
  const expr guard = logical_and(
      load(m, {vi}), logical_or(odd, logical_not(le(p, div(p, integer(dtype::i64, -3))))));
  b.body = make_if(
      guard, make_store(y, {vi}, div(load(x, {wrapped}), real(dtype::f64, 3))),
      make_if(eq(floordiv(vi, 4), 2), make_store(y, {vi}, call(dtype::f64, "user_function", {p})),
              make_evaluate(call(dtype::i32, "trace_point", {vi, integer(dtype::u8, 200)}))));
  return make_function({x, at, y, m}, make_loop(i, 0, 40, realize({i}, b)));
}

/// What lowering leaves: no blocks, allocations in the middle, run-time strides, bounded loops.
inline function lowered() {
  const var s0 = make_var("A_stride_0", dtype::i64);
  auto* node = new buffer_node;
  node->name = "A";
  node->shape = {8, 32};
  node->strides = {s0, expr(std::int64_t{1})};
  const buffer a(node), c = make_buffer("C", dtype::f32, {8, 32});
  const buffer row = make_buffer("row", dtype::f32, {32}, "local");
  const buffer acc = make_buffer("row", dtype::f32, {1}, "local");
  const var i = make_var("i"), j = make_var("j"), t = make_var("j"), twice = make_var("twice");
  const stmt fill =
      make_loop(j, 0, 32, make_store(row, {j}, load(a, {i, j})), loop_kind::vectorized);
  const stmt sum = make_allocate(
      acc,
      make_seq({make_store(acc, {0}, real(dtype::f32, 0)),
                make_loop(t, i * 4, 4, make_store(acc, {0}, load(acc, {0}) + load(row, {t})))}));
  const stmt last = make_let(twice, i * 2, make_store(c, {i, twice}, real(dtype::f32, 1e-30)));
  const stmt first = make_let(make_var("unused"), 7, make_store(c, {i, 0}, real(dtype::f32, 2)));
  function f;
  f.params = {{a, {}}, {c, {}}};
  f.attrs = {{"tilewright.workspace_bytes", 0}};
  f.body = make_loop(i, 0, 8, make_allocate(row, make_seq({fill, sum, first, last})),
                     loop_kind::parallel);
  return f;
}

/// One store per element type, and thread-bound loops.
inline function every_type() {
  std::vector<buffer> buffers;
  std::vector<stmt> stores;
  const var b = make_var("blockIdx_x"), t = make_var("threadIdx_x");
  for (dtype type : all_dtypes) {
    const buffer x = make_buffer("X", type, {4, 8});
    const expr value = type == dtype::boolean ? expr(lt(b, t))
                       : is_float(type)       ? real(type, 1.0 / 3)
                                              : lowest_value(type);
    stores.push_back(make_store(x, {b, t}, value));
    stores.push_back(make_store(x, {b, t}, highest_value(type)));
    buffers.push_back(x);
  }
  const stmt body = make_loop(
      b, 0, 4, make_loop(t, 0, 8, make_seq(stores), loop_kind::thread_binding, {}, "threadIdx.x"),
      loop_kind::thread_binding, {}, "blockIdx.x");
  function f = make_function(buffers, body);
  f.body = body;
  return f;
}

inline std::vector<std::pair<const char*, function>> all_programs() {
  return {{"matmul", matmul(128, 128, 128)},
          {"bf16 matmul", matmul(16, 32, 8, dtype::bf16)},
          {"scheduled matmul relu", scheduled_matmul_relu()},
          {"symbolic add", symbolic_add()},
          {"argmax", argmax()},
          {"tiled view", tiled_view()},
          {"gather", gather()},
          {"lowered", lowered()},
          {"every type", every_type()}};
}

}  // namespace tilewright::test
