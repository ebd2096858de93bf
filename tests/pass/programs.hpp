// Scheduled functions built by hand, and their execution on random data, for the tests of the
// passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/random.hpp>

namespace programs {

using namespace tilewright;
using namespace tilewright::ir;

inline expr dim(std::int64_t v) { return integer(dtype::i32, v); }
inline expr f32(double v) { return real(dtype::f32, v); }

inline function make_function(std::vector<buffer> params, stmt body) {
  function f;
  for (buffer& p : params) f.params.push_back({std::move(p), {}});
  f.body = std::move(body);
  return f;
}

struct loop_spec {
  var v;
  std::int64_t extent;
  loop_kind kind = loop_kind::serial;
};

/// Loops around `body`, the first one outermost.
inline stmt nest(const std::vector<loop_spec>& loops, stmt body) {
  for (std::size_t k = loops.size(); k-- > 0;)
    body = make_loop(loops[k].v, 0, dim(loops[k].extent), std::move(body), loops[k].kind);
  return body;
}

/// Parameters of float type run on values of [-1, 1]; returns all of them after the run.
inline std::vector<std::vector<float>> run(const function& f, std::uint64_t seed = 1,
                                           bool races = true) {
  support::random draw(seed);
  std::vector<std::vector<float>> data;
  for (const param& p : f.params) {
    std::int64_t size = 1;
    for (const expr& e : p.buffer->shape) size *= as_int(e);
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& x : values) x = static_cast<float>(2 * draw.unit() - 1);
    data.push_back(std::move(values));
  }
  std::vector<tensor_view> args;
  for (auto& values : data) args.push_back({values.data(), {}});
  interpret_options options;
  options.check_races = races;
  interpret(f, args, options);
  return data;
}

/// Runs both on the same data; the results must agree to `tolerance` relative to 1 (0: bit for
/// bit).
inline void check_same(const function& before, const function& after, double tolerance = 0) {
  const auto want = run(before), got = run(after);
  REQUIRE(want.size() == got.size());
  double worst = 0;
  for (std::size_t p = 0; p < want.size(); ++p)
    for (std::size_t k = 0; k < want[p].size(); ++k) {
      if (std::memcmp(&want[p][k], &got[p][k], sizeof(float)) == 0) continue;
      const double d = std::abs(static_cast<double>(want[p][k]) - static_cast<double>(got[p][k]));
      worst = std::max(worst,
                       std::isnan(d) ? 1e30 : d / (1 + std::abs(static_cast<double>(want[p][k]))));
    }
  CHECK(worst <= tolerance);
}

template <class Node>
int count(const stmt& s, stmt_kind kind, const Node& accept) {
  int n = 0;
  for_each_stmt(s, [&](const stmt& x) { n += x->kind == kind && accept(x) ? 1 : 0; });
  return n;
}
inline int count(const stmt& s, stmt_kind kind) {
  return count(s, kind, [](const stmt&) { return true; });
}
inline int count_loops(const stmt& s, loop_kind kind) {
  return count(s, stmt_kind::loop, [&](const stmt& x) { return as_loop(x)->loop == kind; });
}

struct matmul_options {
  std::int64_t m = 13, n = 19, k = 10;
  std::int64_t tile_m = 6, tile_n = 16, tile_k = 4;
  bool stage_b = true;   // B is copied to a panel under k0
  bool local_c = false;  // C is computed in a local buffer, then copied
  bool parallel = true;
  bool vectorized = true;  // register tile annotated
};

/// C = A * B under the loops i0 j0 (k0 [panel] k1 i1 j1), with predicates where tiles do not
/// divide.
inline function matmul(const matmul_options& o) {
  const buffer a = make_buffer("A", dtype::f32, {dim(o.m), dim(o.k)});
  const buffer b = make_buffer("B", dtype::f32, {dim(o.k), dim(o.n)});
  const buffer c = make_buffer("C", dtype::f32, {dim(o.m), dim(o.n)});
  const buffer panel = make_buffer("B_panel", dtype::f32, {dim(o.k), dim(o.n)});
  const buffer local = make_buffer("C_local", dtype::f32, {dim(o.m), dim(o.n)}, "local");
  const var i0 = make_var("i0"), j0 = make_var("j0"), k0 = make_var("k0"), k1 = make_var("k1"),
            i1 = make_var("i1"), j1 = make_var("j1"), ax0 = make_var("ax0"), ax1 = make_var("ax1");
  const loop_kind vec = o.vectorized ? loop_kind::vectorized : loop_kind::serial;
  const loop_kind unr = o.vectorized ? loop_kind::unrolled : loop_kind::serial;
  const auto up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  const auto row = [&](const var& i) { return i0 * dim(o.tile_m) + i; };
  const auto column = [&](const var& j) { return j0 * dim(o.tile_n) + j; };
  const auto guard = [](const expr& e, std::int64_t bound, std::int64_t tile) {
    return bound % tile == 0 ? boolean(true) : lt(e, dim(bound));
  };
  const expr depth = k0 * dim(o.tile_k);

  block_node copy;
  copy.name = "B_panel";
  const var u = make_var("v0"), w = make_var("v1");
  copy.iters = {{u, {0, dim(o.k)}, iter_kind::spatial}, {w, {0, dim(o.n)}, iter_kind::spatial}};
  copy.reads = {{b, point_box({u, w})}};
  copy.writes = {{panel, point_box({u, w})}};
  copy.body = make_store(panel, {u, w}, load(b, {u, w}));
  const stmt stage = nest({{ax0, o.tile_k}, {ax1, o.tile_n, vec}},
                          make_realize({depth + ax0, column(ax1)},
                                       logical_and(guard(depth + ax0, o.k, o.tile_k),
                                                   guard(column(ax1), o.n, o.tile_n)),
                                       make_block(copy)));

  const buffer from = o.stage_b ? panel : b, to = o.local_c ? local : c;
  block_node update;
  update.name = "C";
  const var vi = make_var("vi"), vj = make_var("vj"), vk = make_var("vk");
  update.iters = {{vi, {0, dim(o.m)}, iter_kind::spatial},
                  {vj, {0, dim(o.n)}, iter_kind::spatial},
                  {vk, {0, dim(o.k)}, iter_kind::reduce}};
  update.reads = {{a, point_box({vi, vk})}, {from, point_box({vk, vj})}};
  update.writes = {{to, point_box({vi, vj})}};
  update.init = make_store(to, {vi, vj}, f32(0));
  update.body =
      make_store(to, {vi, vj}, load(to, {vi, vj}) + load(a, {vi, vk}) * load(from, {vk, vj}));
  const expr predicate =
      logical_and(logical_and(guard(row(i1), o.m, o.tile_m), guard(column(j1), o.n, o.tile_n)),
                  guard(depth + k1, o.k, o.tile_k));
  stmt body = nest({{k1, o.tile_k}, {i1, o.tile_m, unr}, {j1, o.tile_n, vec}},
                   make_realize({row(i1), column(j1), depth + k1}, predicate, make_block(update)));
  if (o.stage_b) body = make_seq({stage, body});
  body = nest({{k0, up(o.k, o.tile_k)}}, body);
  if (o.local_c) {
    block_node back;
    back.name = "C_back";
    const var x = make_var("x"), y = make_var("y"), r = make_var("r"), s = make_var("s");
    back.iters = {{x, {0, dim(o.m)}, iter_kind::spatial}, {y, {0, dim(o.n)}, iter_kind::spatial}};
    back.reads = {{local, point_box({x, y})}};
    back.writes = {{c, point_box({x, y})}};
    back.body = make_store(c, {x, y}, load(local, {x, y}));
    body = make_seq({body, nest({{r, o.tile_m, unr}, {s, o.tile_n, vec}},
                                make_realize({row(r), column(s)},
                                             logical_and(guard(row(r), o.m, o.tile_m),
                                                         guard(column(s), o.n, o.tile_n)),
                                             make_block(back)))});
  }
  body = nest({{i0, up(o.m, o.tile_m), o.parallel ? loop_kind::parallel : loop_kind::serial},
               {j0, up(o.n, o.tile_n)}},
              body);
  std::vector<buffer> allocs;
  if (o.stage_b) allocs.push_back(panel);
  if (o.local_c) allocs.push_back(local);
  return make_function({a, b, c}, make_root(body, allocs));
}

/// Softmax of rows, everything computed under the row loop: peak, e, total, Y.
inline function softmax(std::int64_t m, std::int64_t n, loop_kind rows = loop_kind::parallel) {
  const buffer x = make_buffer("X", dtype::f32, {dim(m), dim(n)}),
               y = make_buffer("Y", dtype::f32, {dim(m), dim(n)});
  const buffer peak = make_buffer("peak", dtype::f32, {dim(m)}),
               total = make_buffer("total", dtype::f32, {dim(m)});
  const buffer e = make_buffer("e", dtype::f32, {dim(m), dim(n)});
  const var i = make_var("i");
  const auto part = [&](const char* name, const buffer& to, bool reduce, auto value) {
    const var vi = make_var("vi"), vj = make_var("vj"), j = make_var("j");
    block_node b;
    b.name = name;
    b.iters = {{vi, {0, dim(m)}, iter_kind::spatial},
               {vj, {0, dim(n)}, reduce ? iter_kind::reduce : iter_kind::spatial}};
    const std::vector<expr> at = reduce ? std::vector<expr>{vi} : std::vector<expr>{vi, vj};
    b.writes = {{to, point_box(at)}};
    b.body = make_store(to, at, value(vi, vj));
    if (reduce) b.init = make_store(to, at, to == peak ? lowest_value(dtype::f32) : f32(0));
    return make_loop(j, 0, dim(n), make_realize({i, j}, boolean(true), make_block(b)),
                     reduce ? loop_kind::serial : loop_kind::vectorized);
  };
  const stmt body =
      make_seq({part("peak", peak, true,
                     [&](auto vi, auto vj) {
                       return max(load(peak, {vi}), load(x, {vi, vj}));
                     }),
                part("e", e, false,
                     [&](auto vi, auto vj) {
                       return call(dtype::f32, "exp", {load(x, {vi, vj}) - load(peak, {vi})});
                     }),
                part("total", total, true,
                     [&](auto vi, auto vj) {
                       return load(total, {vi}) + load(e, {vi, vj});
                     }),
                part("Y", y, false, [&](auto vi, auto vj) {
                  return div(load(e, {vi, vj}), load(total, {vi}));
                })});
  return make_function({x, y}, make_root(make_loop(i, 0, dim(m), body, rows), {peak, total, e}));
}

/// Direct convolution of one image in NHWC with the padding as a condition of the read:
/// Y[p, q, k] = sum of X[p * s + r - b, q * s + t - b, c] * F[r, t, c, k], q and k tiled.
struct conv_options {
  std::int64_t size = 12, channels = 3, filters = 8, window = 7, stride = 2, border = 3;
  std::int64_t tile_q = 4;
};
inline function conv2d(const conv_options& o) {
  const std::int64_t out = (o.size + 2 * o.border - o.window) / o.stride + 1;
  const buffer x = make_buffer("X", dtype::f32, {dim(o.size), dim(o.size), dim(o.channels)});
  const buffer f =
      make_buffer("F", dtype::f32, {dim(o.window), dim(o.window), dim(o.channels), dim(o.filters)});
  const buffer y = make_buffer("Y", dtype::f32, {dim(out), dim(out), dim(o.filters)});
  const var p = make_var("p"), q0 = make_var("q0"), r = make_var("r"), t = make_var("s"),
            c = make_var("c"), q1 = make_var("q1"), k = make_var("k");
  const var vp = make_var("vp"), vq = make_var("vq"), vk = make_var("vk"), vr = make_var("vr"),
            vs = make_var("vs"), vc = make_var("vc");
  block_node b;
  b.name = "Y";
  b.iters = {
      {vp, {0, dim(out)}, iter_kind::spatial},       {vq, {0, dim(out)}, iter_kind::spatial},
      {vk, {0, dim(o.filters)}, iter_kind::spatial}, {vr, {0, dim(o.window)}, iter_kind::reduce},
      {vs, {0, dim(o.window)}, iter_kind::reduce},   {vc, {0, dim(o.channels)}, iter_kind::reduce}};
  b.writes = {{y, point_box({vp, vq, vk})}};
  b.init = make_store(y, {vp, vq, vk}, f32(0));
  const expr h = vp * dim(o.stride) + vr - dim(o.border),
             w = vq * dim(o.stride) + vs - dim(o.border);
  const expr inside = conjunction({ge(h, 0), lt(h, dim(o.size)), ge(w, 0), lt(w, dim(o.size))});
  b.body = make_store(y, {vp, vq, vk},
                      load(y, {vp, vq, vk}) + if_then_else(inside, load(x, {h, w, vc}), f32(0)) *
                                                  load(f, {vr, vs, vc, vk}));
  const expr q = q0 * dim(o.tile_q) + q1;
  const stmt body =
      nest({{p, out, loop_kind::parallel},
            {q0, (out + o.tile_q - 1) / o.tile_q},
            {r, o.window},
            {t, o.window},
            {c, o.channels},
            {q1, o.tile_q, loop_kind::unrolled},
            {k, o.filters, loop_kind::vectorized}},
           make_realize({p, q, k, r, t, c}, out % o.tile_q ? lt(q, dim(out)) : boolean(true),
                        make_block(b)));
  return make_function({x, f, y}, make_root(body));
}

}  // namespace programs
