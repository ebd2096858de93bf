// Small programs that the tests of schedules transform.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace programs {

using namespace tilewright;
using namespace tilewright::ir;

/// Loops with the given names over the given extents, and a block bound to them one by one.
struct nest {
  std::vector<var> loops;
  std::vector<iter_var> iters;
  std::vector<expr> extents;

  nest(const std::vector<std::string>& names, std::vector<expr> sizes) : extents(std::move(sizes)) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const dtype type = extents[i].type();
      loops.push_back(make_var(names[i], type));
      iters.push_back(
          {make_var("v" + names[i], type), {integer(type, 0), extents[i]}, iter_kind::spatial});
    }
  }
  const var& v(std::size_t i) const { return iters[i].var; }
  std::vector<expr> values() const { return std::vector<expr>(loops.begin(), loops.end()); }

  stmt wrap(block_node b) const {
    b.iters = iters;
    return wrap(make_realize(values(), boolean(true), make_block(std::move(b))));
  }
  stmt wrap(stmt body) const {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_loop(loops[i], integer(loops[i].type(), 0), extents[i], std::move(body));
    return body;
  }
};

inline block_node store_block(const std::string& name, const buffer& to, std::vector<expr> at,
                              expr value, std::vector<buffer_region> reads) {
  block_node b;
  b.name = name;
  b.writes = {{to, point_box(at)}};
  b.reads = std::move(reads);
  b.body = make_store(to, std::move(at), std::move(value));
  return b;
}

/// B[i, ...] = A[i, ...] * 2 + 1, block "B".
inline function elementwise(const std::vector<std::string>& names, const std::vector<expr>& shape,
                            dtype type = dtype::f32) {
  const buffer a = make_buffer("A", type, shape), b = make_buffer("B", type, shape);
  const nest n(names, shape);
  std::vector<expr> at;
  for (const iter_var& i : n.iters) at.push_back(i.var);
  const expr value = load(a, at) * literal(type, 2) + literal(type, 1);
  function f;
  f.params = {{a, {}}, {b, {}}};
  f.body = make_root(n.wrap(store_block("B", b, at, value, {{a, point_box(at)}})));
  return f;
}

/// Loops i, j, k around block `name`: to[vi, vj] += a[vi, vk] * b[vk, vj].
inline stmt matmul_nest(const std::string& name, const buffer& a, const buffer& b,
                        const buffer& to) {
  nest n({"i", "j", "k"}, {to->shape[0], to->shape[1], a->shape[1]});
  n.iters[2].kind = iter_kind::reduce;
  const std::vector<expr> at{n.v(0), n.v(1)}, at_a{n.v(0), n.v(2)}, at_b{n.v(2), n.v(1)};
  block_node block = store_block(name, to, at, load(to, at) + load(a, at_a) * load(b, at_b),
                                 {{a, point_box(at_a)}, {b, point_box(at_b)}});
  block.init = make_store(to, at, literal(to->type, 0));
  return n.wrap(std::move(block));
}

/// C = A * B; block "C".
inline function matmul(int m, int n, int k) {
  const buffer a = make_buffer("A", dtype::f32, {m, k}), b = make_buffer("B", dtype::f32, {k, n});
  const buffer c = make_buffer("C", dtype::f32, {m, n});
  function f;
  f.params = {{a, {}}, {b, {}}, {c, {}}};
  f.body = make_root(matmul_nest("C", a, b, c));
  return f;
}

/// C = A * B in a temporary, D = max(C, 0); blocks "C" and "D".
inline function matmul_relu(int m, int n, int k) {
  const buffer a = make_buffer("A", dtype::f32, {m, k}), b = make_buffer("B", dtype::f32, {k, n});
  const buffer c = make_buffer("C", dtype::f32, {m, n}), d = make_buffer("D", dtype::f32, {m, n});
  const nest relu({"i", "j"}, {m, n});
  const std::vector<expr> at{relu.v(0), relu.v(1)};
  function f;
  f.params = {{a, {}}, {b, {}}, {d, {}}};
  const stmt second = relu.wrap(
      store_block("D", d, at, ir::max(load(c, at), real(dtype::f32, 0)), {{c, point_box(at)}}));
  f.body = make_root(make_seq({matmul_nest("C", a, b, c), second}), {c});
  return f;
}

/// B[i] = A[i] + 1 and C[i] = B[i] * 2 in two nests, B temporary; blocks "B" and "C".
inline function two_stages(int n) {
  const buffer a = make_buffer("A", dtype::f32, {n}), b = make_buffer("B", dtype::f32, {n});
  const buffer c = make_buffer("C", dtype::f32, {n});
  const nest first({"i"}, {n}), second({"i"}, {n});
  const std::vector<expr> at_b{first.v(0)}, at_c{second.v(0)};
  function f;
  f.params = {{a, {}}, {c, {}}};
  f.body =
      make_root(make_seq({first.wrap(store_block("B", b, at_b, load(a, at_b) + real(dtype::f32, 1),
                                                 {{a, point_box(at_b)}})),
                          second.wrap(store_block("C", c, at_c, load(b, at_c) * real(dtype::f32, 2),
                                                  {{b, point_box(at_c)}}))}),
                {b});
  return f;
}

}  // namespace programs
