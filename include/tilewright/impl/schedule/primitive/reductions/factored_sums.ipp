#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/reductions/factored_sums.hpp>
#include <tilewright/impl/schedule/primitive/reductions/sum_in_two.hpp>

namespace tilewright::primitive {
namespace detail::factored {

inline double extents(const std::vector<ir::iter_var>& of) {
  double out = 1;
  for (const ir::iter_var& i : of) out *= static_cast<double>(i.dom.extent->integer);
  return out;
}

/// Multiplications of both sums.
inline double work_of(const ir::block_node& sum, const factoring& way) {
  product_factors outer = way.outer;
  outer.push_back({});  // the first sum
  return extents(way.along) * extents(way.first) * multiplications(way.inner) +
         extents(sum.iters) / extents(way.first) * multiplications(outer);
}

/// The one that leaves the least work; nothing where all leave more than two thirds.
inline std::optional<factoring> best_factoring(const ir::block_node& sum,
                                               const product_factors& factors) {
  constexpr std::size_t most_axes = 6;
  std::vector<ir::var> reduced;
  for (const ir::iter_var& i : sum.iters) {
    if (!ir::is_int(i.dom.extent) || i.dom.extent->integer < 1) return std::nullopt;
    if (i.kind == ir::iter_kind::reduce && i.dom.extent->integer > 1) reduced.push_back(i.var);
  }
  if (reduced.size() > most_axes) return std::nullopt;
  double work = extents(sum.iters) * multiplications(factors) * 2 / 3;
  std::optional<factoring> best;
  for (unsigned set = 1; set < 1u << reduced.size(); ++set) {
    ir::var_set first;
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (set >> i & 1u) first.insert(reduced[i]);
    factoring way = factoring_of(sum, factors, first);
    if (way.inner.empty() || way.outer.empty()) continue;
    const double needed = work_of(sum, way);
    if (needed > work) continue;
    work = needed;
    best = std::move(way);
  }
  return best;
}

/// The function with one sum taken apart; nothing where none is better so.
inline std::optional<ir::function> factor_one(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  if (!scope.schedulable()) return std::nullopt;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const std::optional<component> sum = joining::single_of(scope, c);
    if (!sum || !may_be_in_two(*sum)) continue;
    const ir::block_node& block = scope[c].block();
    if (const std::optional<factoring> way = best_factoring(block, factors_of(sum->element)))
      return in_two(f, block, *sum, *way);
  }
  return std::nullopt;
}

}  // namespace detail::factored

TILEWRIGHT_INLINE std::optional<ir::function> factor_sums(const ir::function& f) {
  constexpr int most = 16;
  std::optional<ir::function> out;
  for (int i = 0; i < most; ++i) {
    std::optional<ir::function> next = detail::factored::factor_one(out ? *out : f);
    if (!next) break;
    out = std::move(next);
  }
  return out;
}

}  // namespace tilewright::primitive
