#pragma once

#include <limits>
#include <string>

#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/schedule/primitive/loops/split.hpp>

namespace tilewright::primitive {
namespace detail::splitting {

using factor_list = std::vector<std::optional<std::int64_t>>;

/// Product of the known factors, after requirements 1 and 2.
inline std::int64_t known_product(const factor_list& factors, const ir::loop_node& loop) {
  const std::string name = "loop \"" + loop.var->name + "\"";
  if (factors.empty()) refusal{"split"}(1, {name, " needs at least one factor"});
  const std::int64_t limit = loop.var.type() == dtype::i64
                                 ? std::numeric_limits<std::int64_t>::max()
                                 : std::numeric_limits<std::int32_t>::max();
  std::int64_t product = 1;
  int unknown = 0;
  for (const auto& f : factors) {
    if (!f) {
      if (++unknown > 1) refusal{"split"}(1, {name, " has more than one factor to infer"});
      continue;
    }
    if (*f <= 0) refusal{"split"}(2, {name, ": factor ", *f, " is not positive"});
    if (*f > limit / product)
      refusal{"split"}(2, {name, ": the product of the factors does not fit its index type"});
    product *= *f;
  }
  return product;
}

/// The factor to infer: ceildiv(extent, product), without the sum that could overflow.
inline ir::expr inferred_factor(const ir::expr& extent, std::int64_t product) {
  const dtype type = extent.type();
  if (!ir::is_int(extent)) return arith::simplify(ir::ceildiv(extent, ir::integer(type, product)));
  const std::int64_t n = extent->integer;
  return ir::integer(type, n / product + (n % product > 0 ? 1 : 0));
}

inline std::vector<ir::expr> extents(const factor_list& factors, std::int64_t product,
                                     const ir::loop_node& loop, known_loops& known) {
  const dtype type = loop.var.type();
  std::vector<ir::expr> out;
  out.reserve(factors.size());
  bool inferred = false;
  for (const auto& f : factors) {
    inferred = inferred || !f;
    out.push_back(f ? ir::integer(type, *f) : inferred_factor(loop.extent, product));
  }
  const bool covers =
      inferred || (ir::is_int(loop.extent)
                       ? loop.extent->integer <= product
                       : known.analyzer().prove_le(loop.extent, ir::integer(type, product)));
  if (!covers)
    refusal{"split"}(5, {quoted(loop), " has an extent that is not provably at most ", product,
                         ", the product of the factors; leave one to infer"});
  return out;
}

/// Whether the parts have iterations beyond the extent.
inline bool exceeds(const std::vector<ir::expr>& extents, const ir::expr& sum,
                    const ir::expr& extent, known_loops& known) {
  if (!ir::is_int(extent)) return !known.analyzer().prove_lt(sum, extent);
  std::int64_t count = 1;
  for (const ir::expr& e : extents)
    if (__builtin_mul_overflow(count, e->integer, &count)) return true;
  return count > extent->integer;
}

}  // namespace detail::splitting

TILEWRIGHT_INLINE new_loops split(const ir::function& f, const ir::var& loop,
                                  const std::vector<std::optional<std::int64_t>>& factors,
                                  bool preserve_unit_iters, bool disable_predication) {
  const path at = need_loop(f, loop, "split");
  const ir::loop_node& old = *ir::as_loop(at.target());
  const std::int64_t product = detail::splitting::known_product(factors, old);
  check_plain_loop(old, "split", 3, 4);
  if (const ir::buffer b = overwritten_bound(old, old.body))
    refusal{"split"}(6, {"loop \"", loop->name, "\" overwrites \"", b->name,
                         "\", from which its extent is loaded"});

  known_loops exact(at);
  const std::vector<ir::expr> extents = detail::splitting::extents(factors, product, old, exact);
  known_loops relaxed(at, preserve_unit_iters);

  const dtype type = loop.type();
  const ir::expr zero = ir::integer(type, 0);
  new_loops out;
  std::vector<ir::expr> digits;  // innermost first
  digits.reserve(factors.size());
  ir::expr stride = ir::integer(type, 1);
  out.loops.resize(factors.size());
  for (std::size_t i = factors.size(); i-- > 0;) {
    const ir::var& part = out.loops[i] = ir::make_var(loop->name + "_" + std::to_string(i), type);
    if (!ir::is_int(old.extent)) exact.add(part, zero, extents[i]);
    relaxed.add(part, zero, extents[i]);
    const bool dropped = !preserve_unit_iters && ir::is_int(extents[i], 1);
    if (!dropped) digits.push_back(part * stride);
    stride = stride * extents[i];
  }
  ir::expr sum = zero;
  for (std::size_t i = digits.size(); i-- > 0;) sum = sum + digits[i];
  const bool guarded =
      !disable_predication && detail::splitting::exceeds(extents, sum, old.extent, exact);
  ir::stmt body =
      rebind(old.body, {{loop, sum}}, guarded ? ir::lt(sum, old.extent) : ir::expr{}, relaxed);
  out.function = replace(f, at, nest_around(out.loops, extents, std::move(body)));
  return out;
}

}  // namespace tilewright::primitive
