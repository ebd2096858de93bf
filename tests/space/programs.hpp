// Small programs that the tests of spaces share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace programs {

using namespace tilewright::ir;

struct axis {
  const char* name;
  int extent;
  iter_kind kind = iter_kind::spatial;
};

/// A nest of one block: `body(iteration variables)` is stored to `out` at the spatial variables; a
/// reduction starts from `init` and combines by `combine`.
template <class Body>
stmt nest(const char* name, const buffer& out, const std::vector<axis>& axes, expr init,
          Body body) {
  block_node block;
  block.name = name;
  std::vector<var> loops, iters, spatial;
  for (const axis& a : axes) {
    loops.push_back(make_var(a.name));
    iters.push_back(make_var(std::string("v") + a.name));
    block.iters.push_back({iters.back(), {0, a.extent}, a.kind});
    if (a.kind == iter_kind::spatial) spatial.push_back(iters.back());
  }
  block.writes = {{out, point_box({spatial.begin(), spatial.end()})}};
  const std::vector<expr> at(spatial.begin(), spatial.end());
  if (init) block.init = make_store(out, at, init);
  const expr value = body(iters, load(out, at));
  for_each_expr(value, [&](const expr& e) {
    if (e->op == op::load && e->buffer != out)
      block.reads.push_back({e->buffer, point_box(e->args)});
  });
  block.body = make_store(out, at, value);
  stmt s = make_realize({loops.begin(), loops.end()}, boolean(true), make_block(std::move(block)));
  for (std::size_t i = axes.size(); i-- > 0;) s = make_loop(loops[i], 0, axes[i].extent, s);
  return s;
}

inline buffer tensor(const char* name, std::vector<expr> shape) {
  return make_buffer(name, tilewright::dtype::f32, std::move(shape));
}

/// A nest that sums `element(iteration variables)` over the reduced axes.
template <class Element>
stmt sum(const buffer& out, const std::vector<axis>& axes, Element element) {
  return nest(out->name.c_str(), out, axes, real(tilewright::dtype::f32, 0),
              [&](const std::vector<var>& v, const expr& acc) { return acc + element(v); });
}

/// The nests one after the other, with `own` between them.
inline function program(const std::vector<buffer>& params, std::vector<stmt> nests,
                        std::vector<buffer> own = {}) {
  function f;
  for (const buffer& b : params) f.params.push_back({b, {}});
  f.body = make_root(make_seq(std::move(nests)), std::move(own));
  return f;
}

inline stmt product(const buffer& a, const buffer& b, const buffer& c, int m, int n, int k) {
  return sum(c, {{"i", m}, {"j", n}, {"k", k, iter_kind::reduce}}, [&](const std::vector<var>& v) {
    return load(a, {v[0], v[2]}) * load(b, {v[2], v[1]});
  });
}

/// C[i, j] = sum over k of A[i, k] * B[k, j]
inline function matmul(int m, int n, int k) {
  const buffer a = tensor("A", {m, k}), b = tensor("B", {k, n}), c = tensor("C", {m, n});
  return program({a, b, c}, {product(a, b, c, m, n, k)});
}

/// The same with max(., 0) after it.
inline function matmul_relu(int m, int n, int k) {
  const buffer a = tensor("A", {m, k}), b = tensor("B", {k, n}), p = tensor("P", {m, n}),
               c = tensor("C", {m, n});
  const stmt relu =
      nest("C", c, {{"i", m}, {"j", n}}, {}, [&](const std::vector<var>& v, const expr&) {
        return max(load(p, {v[0], v[1]}), real(tilewright::dtype::f32, 0));
      });
  return program({a, b, c}, {product(a, b, p, m, n, k), relu}, {p});
}

/// S[i] = sum over j of X[i, j]; Y[i, j] = X[i, j] / S[i]. By columns: S[j] = sum over i of X[i, j]; Y[i, j] = X[i, j] / S[j].
inline function normalization(int m, int n, bool by_columns) {
  const int kept = by_columns ? n : m, summed = by_columns ? m : n;
  const char* const names[] = {"i", "j"};
  const buffer x = tensor("X", {m, n}), s = tensor("S", {kept}), y = tensor("Y", {m, n});
  const stmt total =
      sum(s, {{names[by_columns], kept}, {names[!by_columns], summed, iter_kind::reduce}},
          [&](const std::vector<var>& v) {
            return by_columns ? load(x, {v[1], v[0]}) : load(x, {v[0], v[1]});
          });
  const stmt divide =
      nest("Y", y, {{"i", m}, {"j", n}}, {}, [&](const std::vector<var>& v, const expr&) {
        return div(load(x, {v[0], v[1]}), load(s, {v[by_columns ? 1 : 0]}));
      });
  return program({x, y}, {total, divide}, {s});
}

inline function row_normalization(int m, int n) { return normalization(m, n, false); }
inline function column_normalization(int m, int n) { return normalization(m, n, true); }

/// P[i] = X[min(i, n - 1)]; Y[i] is the sum of the window P[i .. i + w), or P[i] + P[i + w - 1].
inline function clamped(int n, int w, bool reduction) {
  const buffer x = tensor("X", {n}), p = tensor("P", {n + w - 1}), y = tensor("Y", {n});
  const stmt pad =
      nest("P", p, {{"i", n + w - 1}}, {},
           [&](const std::vector<var>& v, const expr&) { return load(x, {min(v[0], n - 1)}); });
  const stmt windows =
      reduction ? sum(y, {{"i", n}, {"r", w, iter_kind::reduce}},
                      [&](const std::vector<var>& v) { return load(p, {v[0] + v[1]}); })
                : nest("Y", y, {{"i", n}}, {}, [&](const std::vector<var>& v, const expr&) {
                    return load(p, {v[0]}) + load(p, {v[0] + (w - 1)});
                  });
  return program({x, y}, {pad, windows}, {p});
}

}  // namespace programs
