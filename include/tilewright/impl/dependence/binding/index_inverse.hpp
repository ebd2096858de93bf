// A tuple of indices solved for the iteration variables in it, as compute_inline and
// reverse_compute_inline need to tell which instance made an element.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::index_inverse {

/// Iteration variables in terms of the values of an index tuple: `indices(iters) == outputs`
/// solved.
struct inverse {
  std::vector<ir::var> outputs;    // [indices] stand for the values
  std::vector<ir::expr> solution;  // [iters] in terms of `outputs`
};

/// The iteration variables with domains long enough for every digit that the indices take of them:
/// 127 points at `[i // 16, i % 16]` are solved as 128, and the guard of the fold drops the last.
inline std::vector<ir::iter_var> filled_up(const std::vector<ir::expr>& indices,
                                           std::vector<ir::iter_var> iters) {
  for (ir::iter_var& v : iters) {
    if (!ir::is_int(v.dom.extent)) continue;
    std::int64_t unit = 1;
    for (const ir::expr& index : indices)
      ir::for_each_expr(index, [&](const ir::expr& e) {
        const bool digit = e->op == ir::op::floordiv || e->op == ir::op::floormod;
        if (!digit || !ir::is_int(e->args[1]) || !ir::uses_var(e->args[0], v.var)) return;
        const std::int64_t by = ir::as_int(e->args[1]);
        if (by > 0 && by <= ir::as_int(v.dom.extent)) unit = std::lcm(unit, by);
      });
    const std::int64_t extent = ir::as_int(v.dom.extent);
    if (unit <= extent)
      v.dom.extent = ir::integer(v.dom.extent.type(), (extent + unit - 1) / unit * unit);
  }
  return iters;
}

/// Where `v % n` stands when the index is `v // n` with a symbolic n.
inline std::optional<std::size_t> remainder_of(const ir::expr& index,
                                               const std::vector<ir::expr>& indices) {
  if (index->op != ir::op::floordiv || !ir::is_var(index->args[1])) return std::nullopt;
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (indices[d]->op == ir::op::floormod && indices[d]->args[0].same(index->args[0]) &&
        indices[d]->args[1].same(index->args[1]))
      return d;
  return std::nullopt;
}
inline bool is_remainder(const ir::expr& index, const std::vector<ir::expr>& indices) {
  return support::any(indices, [&](const ir::expr& other) {
    const auto at = remainder_of(other, indices);
    return at && indices[*at].same(index);
  });
}

/// Whether the index falls with all that it is made of, as `11 - v`.
inline bool falls(const ir::expr& index) {
  const arith::linear sum = arith::to_linear(index);
  return !sum.terms.empty() && support::all(sum.terms, [](const auto& t) { return t.second < 0; });
}

inline std::optional<inverse> invert(const std::vector<ir::expr>& indices,
                                     const std::vector<ir::iter_var>& iters) {
  inverse out;
  for (const ir::expr& i : indices) out.outputs.push_back(ir::make_var("at", i.type()));
  out.solution.resize(iters.size());
  bool plain = true;  // every index is a variable of its own, a digit of one, or a literal
  for (std::size_t d = 0; d < indices.size() && plain; ++d) {
    if (ir::is_int(indices[d])) continue;
    const std::optional<std::size_t> rest = remainder_of(indices[d], indices);
    const ir::expr& alone = rest ? indices[d]->args[0] : indices[d];
    if (is_remainder(indices[d], indices)) continue;
    std::size_t i = 0;
    while (i < iters.size() && !iters[i].var.same(alone)) ++i;
    plain = i < iters.size() && !out.solution[i];
    if (!plain) break;
    out.solution[i] =
        rest ? out.outputs[d] * indices[d]->args[1] + out.outputs[*rest] : ir::expr(out.outputs[d]);
  }
  if (plain) {
    for (std::size_t i = 0; i < iters.size(); ++i) {
      if (out.solution[i]) continue;
      if (!ir::is_int(iters[i].dom.extent, 1)) return std::nullopt;
      out.solution[i] = iters[i].dom.min;
    }
    return out;
  }
  std::vector<ir::expr> rising = indices, values(out.outputs.begin(), out.outputs.end());
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!falls(indices[d])) continue;
    const ir::expr zero = ir::integer(indices[d].type(), 0);
    rising[d] = arith::simplify(zero - indices[d]);
    values[d] = zero - values[d];
  }
  const auto detect = [&](const std::vector<ir::iter_var>& vars) {
    return arith::detect_iter_map(rising, domains(vars), ir::boolean(true),
                                  arith::iter_map_level::bijective, {});
  };
  auto map = detect(iters);
  if (!map) map = detect(filled_up(indices, iters));
  if (!map) return std::nullopt;
  const auto solved = arith::inverse_affine(*map, values);
  if (!solved) return std::nullopt;
  for (std::size_t i = 0; i < iters.size(); ++i) {
    const auto at = solved->find(iters[i].var);
    if (at != solved->end())
      out.solution[i] = at->second;
    else if (ir::is_int(iters[i].dom.extent, 1))
      out.solution[i] = iters[i].dom.min;
    else
      return std::nullopt;
  }
  return out;
}

/// What the iteration variables are where the index tuple has the values `at`.
inline ir::var_map solve(const inverse& inv, const std::vector<ir::iter_var>& iters,
                         const std::vector<ir::expr>& at) {
  ir::var_map outputs;
  for (std::size_t d = 0; d < at.size(); ++d)
    outputs.emplace(inv.outputs[d], ir::cast(inv.outputs[d].type(), at[d]));
  ir::var_map out;
  for (std::size_t i = 0; i < iters.size(); ++i)
    out.emplace(iters[i].var,
                ir::cast(iters[i].var.type(), ir::substitute(inv.solution[i], outputs)));
  return out;
}

}  // namespace tilewright::dependence::index_inverse
