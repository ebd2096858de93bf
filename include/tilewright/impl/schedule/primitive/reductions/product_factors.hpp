// Products and quotients as lists of factors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tilewright/ir/expr.hpp>

namespace tilewright::primitive::detail::factored {

/// One factor of a product.
struct product_factor {
  ir::expr value;
  bool divides = false;  // the product is divided by it
};

using product_factors = std::vector<product_factor>;

/// Adds the factors of `e`. A quotient of integers is one factor, since the quotient is rounded; a divisor is one factor,
/// since a product of divisors may be out of range.
inline void add_factors(product_factors& to, const ir::expr& e) {
  const bool quotient = e->op == ir::op::div && is_float(e.type());
  if (e->op != ir::op::mul && !quotient) return to.push_back({e});
  add_factors(to, e->args[0]);
  if (quotient)
    to.push_back({e->args[1], true});
  else
    add_factors(to, e->args[1]);
}

inline product_factors factors_of(const ir::expr& e) {
  product_factors out;
  add_factors(out, e);
  return out;
}

/// The product: factors that multiply stand before factors that divide, both in the order of the list.
inline ir::expr product(const product_factors& factors, dtype type) {
  ir::expr out;
  for (const product_factor& f : factors)
    if (!f.divides) out = out ? out * f.value : f.value;
  if (!out) out = ir::literal(type, 1);
  for (const product_factor& f : factors)
    if (f.divides) out = ir::div(out, f.value);
  return out;
}

/// What a term of a sum costs, in multiplications: the last multiplication is fused with the addition, and a division takes as
/// long as four multiplications.
inline double multiplications(const product_factors& factors) {
  constexpr double of_division = 4;
  std::size_t divisors = 0;
  for (const product_factor& f : factors) divisors += f.divides;
  return static_cast<double>(std::max<std::size_t>(factors.size() - divisors, 2) - 1) +
         of_division * static_cast<double>(divisors);
}

}  // namespace tilewright::primitive::detail::factored
