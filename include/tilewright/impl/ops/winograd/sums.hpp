// Sums of a transformation: constant factors of few elements, written so that two sums which differ in
// signs alone share their parts.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ops::detail {

/// Element number k of what is transformed.
using element_of = support::function_ref<ir::expr(std::size_t k)>;

/// A sum under construction: what is added comes before what is subtracted, as far as there is any.
class signed_sum {
 public:
  explicit signed_sum(dtype type) : type_(type) {}

  void add(double factor, const ir::expr& x) {
    if (factor == 0) return;
    const double size = std::abs(factor);
    ir::expr& part = factor < 0 ? subtracted_ : added_;
    const ir::expr term = size == 1 ? x : x * ir::real(type_, size);
    part = part ? part + term : term;
  }
  bool empty() const { return !added_ && !subtracted_; }
  ir::expr take() const {
    if (empty()) return ir::real(type_, 0);
    if (!subtracted_) return added_;
    return added_ ? added_ - subtracted_ : -subtracted_;
  }

 private:
  dtype type_;
  ir::expr added_, subtracted_;
};

/// Sum of row[k] * x(k), even and odd k apart: rows that belong to points p and -p have equal even
/// parts, and odd ones that differ in sign.
inline ir::expr sum_by_parity(const double* row, std::size_t n, dtype type, element_of x) {
  signed_sum even(type), odd(type), all(type);
  double sign = 0;
  for (std::size_t k = 0; k < n; ++k)
    if (k % 2 == 1 && row[k] != 0 && sign == 0) sign = row[k] < 0 ? -1 : 1;
  for (std::size_t k = 0; k < n; k += 2) even.add(row[k], x(k));
  for (std::size_t k = 1; k < n; k += 2) odd.add(sign * row[k], x(k));
  if (!even.empty()) all.add(1, even.take());
  if (!odd.empty()) all.add(sign, odd.take());
  return all.take();
}

/// Sum of row[k] * x(k), where elements 1 and 2, 3 and 4, and so on belong to points p and -p: they are
/// added or subtracted first, which serves several rows.
inline ir::expr sum_by_pairs(const double* row, std::size_t n, dtype type, element_of x) {
  signed_sum all(type);
  all.add(row[0], x(0));
  for (std::size_t k = 1; k + 2 < n; k += 2) {
    if (row[k] == 0) continue;
    signed_sum pair(type);
    pair.add(1, x(k));
    pair.add(row[k + 1] / row[k], x(k + 1));
    all.add(row[k], pair.take());
  }
  all.add(row[n - 1], x(n - 1));
  return all.take();
}

/// One of several values, by a number that is a literal once the loop over it is written out.
inline ir::expr one_of(const ir::expr& number, std::size_t count,
                       support::function_ref<ir::expr(std::size_t)> value) {
  ir::expr out = value(count - 1);
  for (std::size_t k = count - 1; k-- > 0;)
    out = ir::if_then_else(ir::eq(number, ir::integer(number.type(), static_cast<std::int64_t>(k))),
                           value(k), out);
  return out;
}

}  // namespace tilewright::ops::detail
