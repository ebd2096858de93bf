#pragma once

#include <limits>
#include <string>

#include <tilewright/schedule/state.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright {
namespace detail {

inline constexpr support::refusal<argument_error> refuse_factor{"factor: "};

inline std::int64_t combine(factor::op o, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  if (a == inferred_value || b == inferred_value)
    refuse_factor("arithmetic with an inferred factor");
  std::int64_t out = 0;
  bool overflow = false;
  switch (o) {
    case factor::op::add: overflow = __builtin_add_overflow(a, b, &out); break;
    case factor::op::sub: overflow = __builtin_sub_overflow(a, b, &out); break;
    case factor::op::mul: overflow = __builtin_mul_overflow(a, b, &out); break;
    case factor::op::floordiv:
    case factor::op::floormod:
      if (b == 0) refuse_factor("the expression divides by zero");
      overflow = a == lowest && b == -1;
      out = o == factor::op::floordiv ? ir::floor_divide(a, b) : ir::floor_modulo(a, b);
      break;
    case factor::op::eq: out = a == b; break;
    case factor::op::ne: out = a != b; break;
    case factor::op::lt: out = a < b; break;
    case factor::op::le: out = a <= b; break;
    case factor::op::gt: out = a > b; break;
    case factor::op::ge: out = a >= b; break;
    default: throw internal_error("combine of a factor without operands");
  }
  if (overflow) refuse_factor("the expression overflows 64 bits");
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE symbol symbol::of_block(std::uint64_t id) {
  return {rv_class::block, static_cast<std::int64_t>(id), {}};
}
TILEWRIGHT_INLINE symbol symbol::of_loop(ir::var v) { return {rv_class::loop, 0, std::move(v)}; }
TILEWRIGHT_INLINE symbol symbol::of_integer(std::int64_t value) {
  return {rv_class::integer, value, {}};
}
TILEWRIGHT_INLINE symbol symbol::of_marker(std::int64_t marker) {
  return {rv_class::loop, marker, {}};
}

TILEWRIGHT_INLINE const symbol& schedule_state::at(rv v) const {
  if (v.number >= symbols.size() || symbols[v.number].kind != v.kind)
    throw argument_error("random variable " + std::string(1, static_cast<char>(v.kind)) +
                         std::to_string(v.number) +
                         " is none of this schedule; use the ones that its own calls returned");
  return symbols[v.number];
}

TILEWRIGHT_INLINE std::uint64_t schedule_state::block(rv v) const {
  const symbol& s = at(v);
  if (s.kind != rv_class::block) throw argument_error("a block variable is needed");
  return static_cast<std::uint64_t>(s.value);
}

TILEWRIGHT_INLINE const ir::var& schedule_state::loop(rv v) const {
  const symbol& s = at(v);
  if (s.kind != rv_class::loop) throw argument_error("a loop variable is needed");
  return s.loop;
}

TILEWRIGHT_INLINE std::int64_t schedule_state::value(const factor& f) const {
  switch (f.kind()) {
    case factor::op::inferred: return inferred_value;
    case factor::op::literal: return f.value();
    case factor::op::variable:
      return at({rv_class::integer, static_cast<std::uint32_t>(f.value())}).value;
    default: return detail::combine(f.kind(), value(f.left()), value(f.right()));
  }
}

}  // namespace tilewright
