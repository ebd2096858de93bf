#pragma once

#include <limits>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Arithmetic of two and more elements.
namespace tilewright::network {
namespace detail {

/// Integers are divided towards zero.
inline runtime_expression quotient(const runtime_expression& a, const runtime_expression& b,
                                   const node&) {
  if (!is_signed_integer(a.type())) return a / b;
  const runtime_expression size = abs(a) / abs(b);
  return select((a < 0) == (b < 0), size, -size);
}

/// The remainder has the sign of the divisor, with `fmod` that of the dividend. Floats go through
/// f64, where quotients of narrower types are whole only when they are.
inline runtime_expression remainder(const runtime_expression& a, const runtime_expression& b,
                                    const node& n) {
  const bool of_dividend = n.integer("fmod", 0) != 0;
  if (!is_float(a.type())) return of_dividend ? a - quotient(a, b, n) * b : a % b;
  const runtime_expression x = cast(a, dtype::f64), y = cast(b, dtype::f64), q = x / y;
  const runtime_expression whole = select(q < 0, ceil(q), floor(q));
  // what an infinite number divides stays as it is, and infinite dividends have no remainder
  const runtime_expression rest =
      select(abs(y) == std::numeric_limits<double>::infinity(), x + x * 0.0, x - y * whole);
  if (of_dividend) return cast(rest, a.type());
  const runtime_expression is_turned = (rest != 0) & ((rest < 0) != (y < 0));
  return cast(select(is_turned, rest + y, rest), a.type());
}

/// A power with a small whole exponent is a product.
inline runtime_expression power(const runtime_expression& a, const runtime_expression& b,
                                const node&) {
  const dsl::node& exponent = b.nodes().back();
  const bool is_number = b.nodes().size() == 1 &&
                         (exponent.op == ir::op::real || exponent.op == ir::op::integer) &&
                         exponent.kind == dsl::node_kind::operation;
  const double number =
      exponent.op == ir::op::real ? exponent.real : static_cast<double>(exponent.integer);
  if (is_number && number == 1) return a;
  if (is_number && number == 2) return a * a;
  if (is_number && number == 3) return a * a * a;
  if (is_number && number == 0.5 && is_float(a.type())) return sqrt(a);
  const dtype t = is_float(a.type()) ? a.type() : dtype::f64;
  return cast(pow(cast(a, t), cast(b, t)), a.type());
}

inline void infer_power(inference& n) {
  n.out(0, {n.in(0).type, broadcast(n, n.in(0).extents, n.in(1).extents)});
}

inline runtime_expression mean(const runtime_expression& sum_of_two, const runtime_expression& next,
                               const node&) {
  return sum_of_two + next;
}

inline void emit_mean(emission& e) {
  std::vector<reader> x;
  for (std::size_t k = 0; k < e.input_count(); ++k) x.push_back(e.broadcast(k, k == 0 ? "A" : "B"));
  e.out(0, [x](const dsl::index_list& at) {
    runtime_expression out = x.at(0).at(at);
    for (std::size_t k = 1; k < x.size(); ++k) out = out + x[k].at(at);
    return x.size() == 1 ? out : out / static_cast<double>(x.size());
  });
}

inline runtime_expression prelu(const runtime_expression& x, const runtime_expression& slope,
                                const node&) {
  return select(x < 0, slope * x, x);
}

}  // namespace detail

TILEWRIGHT_INLINE void add_arithmetic(std::vector<operator_definition>& to) {
  using detail::runtime_expression, detail::emit_fold;
  const auto add = [&](std::string_view name, void (*emit)(emission&),
                       void (*infer)(inference&) = infer_broadcast) {
    to.push_back({name, op_kind::elementwise, infer, emit});
  };
  using x = const runtime_expression&;
  add("Add", emit_fold<[](x a, x b, const node&) { return a + b; }>);
  add("Sum", emit_fold<[](x a, x b, const node&) { return a + b; }>);
  add("Sub", emit_fold<[](x a, x b, const node&) { return a - b; }>);
  add("Mul", emit_fold<[](x a, x b, const node&) { return a * b; }>);
  add("Div", emit_fold<detail::quotient>);
  add("Mod", emit_fold<detail::remainder>);
  add("Max", emit_fold<[](x a, x b, const node&) { return max(a, b); }>);
  add("Min", emit_fold<[](x a, x b, const node&) { return min(a, b); }>);
  add("Mean", detail::emit_mean);
  add("Pow", emit_fold<detail::power>, detail::infer_power);
  add("PRelu", emit_fold<detail::prelu>);
}

}  // namespace tilewright::network
