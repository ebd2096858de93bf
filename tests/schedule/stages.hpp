// Programs of several stages for the tests of movement: one nest with one block per definition.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/region.hpp>
#include <tilewright/ir/stmt.hpp>

namespace stages {

using namespace tilewright;
using namespace tilewright::ir;

using indices = std::vector<expr>;
using value_of = std::function<expr(const indices&)>;
using place_of = std::function<indices(const indices&)>;

struct axis {
  std::string name;
  expr extent;
};

class program {
 public:
  buffer input(const std::string& name, std::vector<expr> shape, dtype type = dtype::f32) {
    return param(make_buffer(name, type, std::move(shape)));
  }
  buffer output(const std::string& name, std::vector<expr> shape, dtype type = dtype::f32) {
    return param(make_buffer(name, type, std::move(shape)));
  }
  buffer temp(const std::string& name, std::vector<expr> shape, dtype type = dtype::f32) {
    temps_.push_back(make_buffer(name, type, std::move(shape)));
    return temps_.back();
  }

  /// to[place(v)] = value(v), a block named `name` (default: the buffer's name).
  void map(const buffer& to, const std::vector<axis>& axes, const value_of& value,
           const place_of& place = {}, const std::string& name = {}) {
    add(to, axes, 0, value, place, name, {});
  }
  /// to[v of the first axes] = sum over the last `reduced` axes of value(v).
  void sum(const buffer& to, const std::vector<axis>& axes, std::size_t reduced,
           const value_of& value, const std::string& name = {}) {
    add(to, axes, reduced, value, {}, name, [](const expr& c, const expr& x) { return c + x; });
  }
  /// The same with the maximum.
  void peak(const buffer& to, const std::vector<axis>& axes, std::size_t reduced,
            const value_of& value, const std::string& name = {}) {
    add(
        to, axes, reduced, value, {}, name, [](const expr& c, const expr& x) { return max(c, x); },
        true);
  }
  /// Any statement as the next stage.
  void raw(stmt s) { stages_.push_back(std::move(s)); }

  ir::function finish() const {
    ir::function f;
    f.params = params_;
    f.body = make_root(make_seq(stages_), temps_);
    return f;
  }

 private:
  buffer param(buffer b) {
    params_.push_back({b, {}});
    return b;
  }

  void add(const buffer& to, const std::vector<axis>& axes, std::size_t reduced,
           const value_of& value, const place_of& place, const std::string& name,
           const std::function<expr(const expr&, const expr&)>& combine, bool lowest = false) {
    block_node b;
    b.name = name.empty() ? to->name : name;
    std::vector<var> loops;
    indices v;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const dtype type = axes[i].extent.type();
      const iter_kind kind = i + reduced < axes.size() ? iter_kind::spatial : iter_kind::reduce;
      loops.push_back(make_var(axes[i].name, type));
      v.push_back(make_var("v" + axes[i].name, type));
      b.iters.push_back({v.back(), {integer(type, 0), axes[i].extent}, kind});
    }
    const indices spatial(v.begin(), v.end() - static_cast<std::ptrdiff_t>(reduced));
    const indices at = place ? place(v) : spatial;
    b.writes = {{to, point_box(at)}};
    b.body = make_store(to, at, combine ? combine(load(to, at), value(v)) : value(v));
    if (combine)
      b.init = make_store(to, at, lowest ? lowest_value(to->type) : literal(to->type, 0));
    std::vector<buffer_region> reads, unused;
    arith::access_options options;
    options.use_conditions = false;
    arith::access_regions(b.body, reads, unused, {}, options);
    for (buffer_region& r : reads)
      if (r.buffer != to || !combine) b.reads.push_back(std::move(r));
    stmt s = make_realize({loops.begin(), loops.end()}, boolean(true), make_block(std::move(b)));
    for (std::size_t i = axes.size(); i-- > 0;)
      s = make_loop(loops[i], integer(axes[i].extent.type(), 0), axes[i].extent, std::move(s));
    stages_.push_back(std::move(s));
  }

  std::vector<ir::param> params_;
  std::vector<buffer> temps_;
  std::vector<stmt> stages_;
};

inline expr f32(double x) { return real(dtype::f32, x); }

/// C = A * B.
inline ir::function matmul(int m, int n, int k) {
  program p;
  const buffer a = p.input("A", {m, k}), b = p.input("B", {k, n}), c = p.output("C", {m, n});
  p.sum(c, {{"i", m}, {"j", n}, {"k", k}}, 1, [&](const indices& v) {
    return load(a, {v[0], v[2]}) * load(b, {v[2], v[1]});
  });
  return p.finish();
}

/// D = max(A * B + bias, 0) in three stages C, E, D.
inline ir::function matmul_bias_relu(int m, int n, int k) {
  program p;
  const buffer a = p.input("A", {m, k}), b = p.input("B", {k, n}), bias = p.input("bias", {n});
  const buffer d = p.output("D", {m, n});
  const buffer c = p.temp("C", {m, n}), e = p.temp("E", {m, n});
  p.sum(c, {{"i", m}, {"j", n}, {"k", k}}, 1, [&](const indices& v) {
    return load(a, {v[0], v[2]}) * load(b, {v[2], v[1]});
  });
  p.map(e, {{"i", m}, {"j", n}}, [&](const indices& v) { return load(c, v) + load(bias, {v[1]}); });
  p.map(d, {{"i", m}, {"j", n}}, [&](const indices& v) { return max(load(e, v), f32(0)); });
  return p.finish();
}

/// Batched C[b] = A[b] * B[b].
inline ir::function batch_matmul(int batch, int m, int n, int k) {
  program p;
  const buffer a = p.input("A", {batch, m, k}), b = p.input("B", {batch, k, n}),
               c = p.output("C", {batch, m, n});
  p.sum(c, {{"b", batch}, {"i", m}, {"j", n}, {"k", k}}, 1, [&](const indices& v) {
    return load(a, {v[0], v[1], v[3]}) * load(b, {v[0], v[3], v[2]});
  });
  return p.finish();
}

/// B = A * 2 and C[i] = B[i] + B[i + 1] + B[i + 2]; C is shorter by 2.
inline ir::function stencil(int n) {
  program p;
  const buffer a = p.input("A", {n}), b = p.temp("B", {n}), c = p.output("C", {n - 2});
  p.map(b, {{"i", n}}, [&](const indices& v) { return load(a, v) * f32(2); });
  p.map(c, {{"i", n - 2}}, [&](const indices& v) {
    return load(b, {v[0]}) + load(b, {v[0] + 1}) + load(b, {v[0] + 2});
  });
  return p.finish();
}

/// B = A * 2 over n, C[i] = B[index(i)] + 1 over m.
inline ir::function reading(int n, int m, const std::function<expr(const expr&)>& index) {
  program p;
  const buffer a = p.input("A", {n}), b = p.temp("B", {n}), c = p.output("C", {m});
  p.map(b, {{"i", n}}, [&](const indices& v) { return load(a, v) * f32(2); });
  p.map(c, {{"i", m}}, [&](const indices& v) { return load(b, {index(v[0])}) + f32(1); });
  return p.finish();
}

/// conv2d, NHWC, with a padding stage X_pad.
inline ir::function conv2d(int h, int w, int ci, int co, int r, int stride, int border) {
  program p;
  const int oh = (h + 2 * border - r) / stride + 1, ow = (w + 2 * border - r) / stride + 1;
  const buffer x = p.input("X", {1, h, w, ci}), f = p.input("F", {r, r, ci, co}),
               y = p.output("Y", {1, oh, ow, co});
  const buffer pad = p.temp("X_pad", {1, h + 2 * border, w + 2 * border, ci});
  p.map(pad, {{"n", 1}, {"h", h + 2 * border}, {"w", w + 2 * border}, {"c", ci}},
        [&](const indices& v) {
          const expr row = v[1] - border, col = v[2] - border;
          const expr inside =
              logical_and(logical_and(ge(row, 0), lt(row, h)), logical_and(ge(col, 0), lt(col, w)));
          return if_then_else(inside, load(x, {v[0], row, col, v[3]}), f32(0));
        });
  p.sum(y, {{"n", 1}, {"p", oh}, {"q", ow}, {"k", co}, {"r", r}, {"s", r}, {"c", ci}}, 3,
        [&](const indices& v) {
          return load(pad, {v[0], v[1] * stride + v[4], v[2] * stride + v[5], v[6]}) *
                 load(f, {v[4], v[5], v[6], v[3]});
        });
  return p.finish();
}

}  // namespace stages
