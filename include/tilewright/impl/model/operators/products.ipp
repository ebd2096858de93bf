#pragma once

#include <tilewright/model/operators.hpp>

// Products of matrices.
namespace tilewright::network {
namespace detail {

inline void infer_matmul(inference& n) {
  shape a = n.in(0).extents, b = n.in(1).extents;
  if (n.in(0).type != n.in(1).type) n.fail("both sides need one element type");
  if (a.empty() || b.empty()) n.fail("its inputs have to be vectors, matrices, or stacks of them");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2])
    n.fail("shapes " + text_of(n.in(0).extents) + " and " + text_of(n.in(1).extents) +
           " do not go together");
  shape out = broadcast(n, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  n.out(0, {n.in(0).type, out});
}

/// Indices of a stack of matrices of the given rank at output indices `batch`.
inline dsl::index_list batch_of(const shape& s, const dsl::index_list& batch) {
  dsl::index_list out;
  const std::size_t own = s.size() - 2;
  for (std::size_t d = 0; d < own; ++d)
    out.push_back(s[d] == 1 ? dsl::runtime_expression(0) : batch[batch.size() - own + d]);
  return out;
}

inline void emit_matmul(emission& e) {
  const dsl::runtime_tensor a = e.tensor(0, "A"), b = e.tensor(1, "B");
  const shape left = e.in(0, "A").type.extents, right = e.in(1, "B").type.extents;
  const dtype t = e.type_of_output().type;
  const auto k = e.axis("k", left.back());
  e.out(0, [=](const dsl::index_list& at) {
    const cast_to_type to{sum_type(t)};
    dsl::index_list batch = at;
    std::optional<dsl::runtime_expression> i, j;
    if (right.size() > 1) {
      j = batch.back();
      batch.pop_back();
    }
    if (left.size() > 1) {
      i = batch.back();
      batch.pop_back();
    }
    const auto x = i ? a(batch_of(left, batch), *i, k) : a(k);
    const auto y = j ? b(batch_of(right, batch), k, *j) : b(k);
    return cast(reduce(dsl::reduction::sum, {k}, to(x) * to(y)), t);
  });
}

inline void infer_gemm(inference& n) {
  const shape &a = n.in(0).extents, &b = n.in(1).extents;
  if (a.size() != 2 || b.size() != 2) n.fail("its inputs have to be matrices");
  const bool ta = n.what().integer("transA", 0) != 0, tb = n.what().integer("transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0])
    n.fail("shapes " + text_of(a) + " and " + text_of(b) + " do not go together");
  const shape out{a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (n.what().has_input(2) && broadcast(n, out, n.in(2).extents) != out)
    n.fail("its summand has the shape " + text_of(n.in(2).extents) + ", which is no part of " +
           text_of(out));
  n.out(0, {n.in(0).type, out});
}

/// Y = alpha A B + beta C.
inline void emit_gemm(emission& e) {
  const bool ta = e.what().integer("transA", 0) != 0, tb = e.what().integer("transB", 0) != 0;
  const double alpha = e.what().real("alpha", 1), beta = e.what().real("beta", 1);
  const dsl::runtime_tensor a = e.tensor(0, "A"), b = e.tensor(1, "B");
  std::optional<reader> c;
  if (e.what().has_input(2)) c = e.broadcast(2, "C");
  const dtype t = e.type_of_output().type;
  const auto k = e.axis("k", a.extent(ta ? 0 : 1));
  e.out(0, [=](const dsl::index_list& at) {
    const cast_to_type to{sum_type(t)};
    const auto x = ta ? a(k, at[0]) : a(at[0], k);
    const auto y = tb ? b(at[1], k) : b(k, at[1]);
    dsl::runtime_expression out = reduce(dsl::reduction::sum, {k}, to(x) * to(y));
    if (alpha != 1) out = out * dsl::runtime_literal(out.type(), alpha);
    if (c) {
      const dsl::runtime_expression z = to(c->at(at));
      out = out + (beta == 1 ? z : z * dsl::runtime_literal(z.type(), beta));
    }
    return cast(out, t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_products(std::vector<operator_definition>& to) {
  to.push_back({"MatMul", op_kind::anchor, detail::infer_matmul, detail::emit_matmul});
  to.push_back({"Gemm", op_kind::anchor, detail::infer_gemm, detail::emit_gemm});
}

}  // namespace tilewright::network
