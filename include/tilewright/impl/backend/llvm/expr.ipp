// Expressions: operators, comparisons and choices, scalar or one value per lane.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/float_range.hpp>
#include <tilewright/impl/backend/llvm/integer_quotient.hpp>
#include <tilewright/impl/pass/vector/rounded_quotient.hpp>
#include <tilewright/impl/target/slow_division.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {
namespace detail::expr_parts {

inline bool no_sign(dtype t) { return is_unsigned(t) || t == dtype::boolean; }

inline int_predicate integer_predicate(ir::op o, bool is_unsigned_type) {
  switch (o) {
    case ir::op::eq: return int_predicate::eq;
    case ir::op::ne: return int_predicate::ne;
    case ir::op::lt: return is_unsigned_type ? int_predicate::ult : int_predicate::slt;
    case ir::op::le: return is_unsigned_type ? int_predicate::ule : int_predicate::sle;
    case ir::op::gt: return is_unsigned_type ? int_predicate::ugt : int_predicate::sgt;
    default: return is_unsigned_type ? int_predicate::uge : int_predicate::sge;
  }
}

/// C++'s comparisons: every one but != is false for a NaN.
inline real_predicate float_predicate(ir::op o) {
  switch (o) {
    case ir::op::eq: return real_predicate::oeq;
    case ir::op::ne: return real_predicate::une;
    case ir::op::lt: return real_predicate::olt;
    case ir::op::le: return real_predicate::ole;
    case ir::op::gt: return real_predicate::ogt;
    default: return real_predicate::oge;
  }
}

inline opcode boolean_operator(ir::op o) {
  if (o == ir::op::add || o == ir::op::max || o == ir::op::logical_or) return opcode::or_;
  return o == ir::op::sub ? opcode::xor_ : opcode::and_;
}

inline opcode plain_operator(ir::op o, bool floating) {
  switch (o) {
    case ir::op::add: return floating ? opcode::fadd : opcode::add;
    case ir::op::sub: return floating ? opcode::fsub : opcode::sub;
    default: return floating ? opcode::fmul : opcode::mul;
  }
}

/// Whether `e` is the larger one of a signed integer and its negative, also of a difference and the one turned
/// round: LLVM has sums of differences between bytes for it.
inline bool is_magnitude(const ir::expr& e) {
  if (e->op != ir::op::max || is_float(e.type()) || no_sign(e.type())) return false;
  const ir::expr &number = e->args[0], &negative = e->args[1];
  if (negative->op != ir::op::sub) return false;
  const bool from_zero = ir::is_int(negative->args[0]) && negative->args[0]->integer == 0 &&
                         ir::equal(negative->args[1], number);
  const bool turned = number->op == ir::op::sub && ir::equal(number->args[0], negative->args[1]) &&
                      ir::equal(number->args[1], negative->args[0]);
  return from_zero || turned;
}

/// Whether `e` widens an integer that 16 bits hold with its sign.
inline bool is_widened_word(const ir::expr& e) {
  if (e->op != ir::op::cast || e.type() != dtype::i32) return false;
  const dtype from = e->args[0].type();
  return from == dtype::i8 || from == dtype::u8 || from == dtype::i16;
}

/// Which operand of a sum is a product of two such integers; nothing where none is.
inline std::optional<std::size_t> product_of_words(const ir::expr& e) {
  if (e->op != ir::op::add || e.type() != dtype::i32) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (const ir::expr& term = e->args[i];
        term->op == ir::op::mul && is_widened_word(term->args[0]) && is_widened_word(term->args[1]))
      return i;
  return std::nullopt;
}

/// The instruction that adds products of 16-bit numbers in pairs to sums of 32 bits; empty where the
/// target has none for so many lanes.
inline std::string sum_of_words(const target::cpu& cpu, int lanes) {
  const bool has =
      cpu.has("avx512vnni") && (lanes == 16 || ((lanes == 4 || lanes == 8) && cpu.has("avx512vl")));
  return has ? "llvm.x86.avx512.vpdpwssd." + std::to_string(lanes * 32) : std::string();
}

/// Whether the integer to which `e` casts a float holds every value that the float can have.
inline bool becomes_integer(const ir::expr& e) {
  const dtype to = e.type();
  if (!is_float(e->args[0].type()) || !is_integer(to) || is_bit_integer(to)) return false;
  const std::optional<float_range> range = range_of(e->args[0]);
  return range && range->becomes(to);
}

/// Such floats as integers, which need neither limits nor a look for NaN.
inline value_ref cut_off(const builder& b, dtype to, value_ref x, int lanes) {
  const bool narrow = bits(to) < 32;
  const value_ref word = b.convert(is_unsigned(to) && !narrow ? opcode::fptoui : opcode::fptosi, x,
                                   narrow ? b.vector(b.i32, lanes) : b.held(to, lanes));
  return narrow ? b.convert(opcode::trunc, word, b.held(to, lanes)) : word;
}

}  // namespace detail::expr_parts

TILEWRIGHT_INLINE value emitter::emit(const ir::expr& e) {
  namespace p = detail::expr_parts;
  switch (e->op) {
    case ir::op::var: return emit_var(e);
    case ir::op::integer: return {b.integer(b.held(e.type()), e->integer), false};
    case ir::op::real: return {b.real(b.held(e.type()), e->real), false};
    case ir::op::load: return emit_load(e);
    case ir::op::call: return emit_call(e);
    case ir::op::select: return emit_select(e);
    case ir::op::if_then_else: return emit_choice(e);
    case ir::op::eq:
    case ir::op::ne:
    case ir::op::lt:
    case ir::op::le:
    case ir::op::gt:
    case ir::op::ge: return emit_compare(e);
    case ir::op::logical_not: {
      const value x = emit(e->args[0]);
      return {b.c.BuildNot(b.b, x.v, ""), x.vector};
    }
    case ir::op::cast: {
      if (const ir::expr_node* quotient = pass::detail::rounded_quotient(e);
          quotient && lane.lanes >= 4 && b.cpu.fma) {
        const value x = emit(quotient->args[0]), y = emit(quotient->args[1]);
        if (x.vector && !y.vector)
          return {detail::math::integer_quotient(e.type(), {&b, x.v, false, lane.lanes}, y.v),
                  true};
      }
      const value x = emit(e->args[0]);
      if (p::becomes_integer(e))
        return {p::cut_off(b, e.type(), x.v, lanes_of(x.vector)), x.vector};
      return {b.cast(e.type(), e->args[0].type(), x.v, lanes_of(x.vector)), x.vector};
    }
    default: break;
  }
  if (is_float(e.type())) return emit_float_binary(e);
  const bool divides = e->op == ir::op::div || e->op == ir::op::mod || e->op == ir::op::floordiv ||
                       e->op == ir::op::floormod;
  if (divides) return emit_division(e);
  if (const auto product = p::product_of_words(e))
    if (const std::string name = p::sum_of_words(b.cpu, lane.lanes); !name.empty()) {
      const value sum = emit(e->args[1 - *product]), x = emit(e->args[*product]->args[0]),
                  y = emit(e->args[*product]->args[1]);
      const bool vector = sum.vector || x.vector || y.vector;
      // the upper half of one factor is 0, and with it the second product of each pair
      const value &single = x.vector ? y : x, &other = x.vector ? x : y;
      const value_ref low =
          b.binary(opcode::and_, single.v, b.integer(b.i32, 0xffff, lanes_of(single.vector)));
      value_ref out = nullptr;
      if (vector)
        out = b.target_intrinsic(
            name, {widen(sum, true), widen(other, true), widen({low, single.vector}, true)});
      if (!out)
        out = b.binary(opcode::add, widen(sum, vector),
                       b.binary(opcode::mul, widen(x, vector), widen(y, vector)));
      return {out, vector};
    }
  if (p::is_magnitude(e)) {
    const value x = emit(e->args[0]);
    const value_ref all = widen(x, x.vector);
    return {b.intrinsic("llvm.abs", {b.c.TypeOf(all)}, {all, b.integer(b.i1, 0)}), x.vector};
  }
  const value x = emit(e->args[0]), y = emit(e->args[1]);
  const bool vector = x.vector || y.vector;
  const value_ref l = widen(x, vector), r = widen(y, vector);
  if (e.type() == dtype::boolean) return {b.binary(p::boolean_operator(e->op), l, r), vector};
  if (e->op == ir::op::min || e->op == ir::op::max) {
    const value_ref less = b.compare(p::integer_predicate(ir::op::lt, is_unsigned(e.type())), l, r);
    return {e->op == ir::op::min ? b.select(less, l, r) : b.select(less, r, l), vector};
  }
  return {b.binary(p::plain_operator(e->op, false), l, r), vector};
}

TILEWRIGHT_INLINE value emitter::emit_var(const ir::expr& e) {
  const auto found = bound.find(e.get());
  if (found == bound.end())
    throw argument_error("variable \"" + e->name +
                         "\" is used but has no value in the lowered function; bind it with a "
                         "loop, a let or a scalar parameter");
  const binding& known = found->second;
  switch (known.is) {
    case binding::kind::constant: return {b.integer(b.held(e.type()), known.constant), false};
    case binding::kind::value: return known.held;
    default: return integer_of(index(e), e.type());
  }
}

TILEWRIGHT_INLINE value emitter::emit_compare(const ir::expr& e) {
  namespace p = detail::expr_parts;
  if (const auto known = decided(e)) return {b.integer(b.i1, *known ? 1 : 0), false};
  const dtype type = e->args[0].type();
  const value x = emit(e->args[0]), y = emit(e->args[1]);
  const bool vector = x.vector || y.vector;
  const value_ref l = widen(x, vector), r = widen(y, vector);
  if (is_float(type)) return {b.compare(p::float_predicate(e->op), l, r), vector};
  return {b.compare(p::integer_predicate(e->op, p::no_sign(type)), l, r), vector};
}

TILEWRIGHT_INLINE value emitter::emit_float_binary(const ir::expr& e) {
  namespace p = detail::expr_parts;
  if (e->op == ir::op::add || e->op == ir::op::sub) return emit_contracted(e);
  const value x = emit(e->args[0]), y = emit(e->args[1]);
  const bool vector = x.vector || y.vector;
  const int lanes = lanes_of(vector);
  const value_ref l = widen(x, vector), r = widen(y, vector);
  const type_ref type = b.held(e.type(), lanes);
  const auto floor_of_quotient = [&] {
    return b.intrinsic("llvm.floor", {type}, {b.binary(opcode::fdiv, l, r)});
  };
  switch (e->op) {
    case ir::op::mul: return {b.binary(opcode::fmul, l, r), vector};
    case ir::op::div:
      if (x.vector && !y.vector && target::divides_slowly(b.cpu, e.type(), lanes))
        return {detail::math::quotient_by_one({&b, l, e.type() == dtype::f64, lanes}, y.v).v, true};
      if (x.vector && y.vector && shared.has(e) && target::divides_slowly(b.cpu, e.type(), lanes)) {
        const detail::math::num numerator{&b, l, e.type() == dtype::f64, lanes};
        return {detail::math::quotient_by_each(numerator, numerator.with(r)).v, true};
      }
      return {b.binary(opcode::fdiv, l, r), vector};
    case ir::op::min: return {b.select(b.compare(real_predicate::olt, l, r), l, r), vector};
    case ir::op::max: return {b.select(b.compare(real_predicate::ogt, l, r), l, r), vector};
    case ir::op::floordiv: return {floor_of_quotient(), vector};
    case ir::op::floormod:
      return {b.binary(opcode::fsub, l, b.binary(opcode::fmul, floor_of_quotient(), r)), vector};
    case ir::op::mod:
      return {b.library_call(e.type() == dtype::f64 ? "fmod" : "fmodf", b.held(e.type()), {l, r},
                             lanes),
              vector};
    default:
      throw argument_error("the CPU backend met an operator of floats that it does not know");
  }
}

/// Whether `e` has one value in all iterations of the innermost loop around.
TILEWRIGHT_INLINE bool emitter::stays_in_loop(const ir::expr& e) const {
  if (changing_.empty()) return false;
  bool stays = true;
  ir::for_each_expr(e, [&](const ir::expr& part) {
    stays = stays && changing_.count(part.get()) == 0 && part->op != ir::op::call &&
            !(part->op == ir::op::load && written.count(part->buffer.get()));
  });
  return stays;
}

/// Sums with a product among their operands become one fused multiply-add where the target has it, and the
/// function doesn't ask for sums of rounded products. A product that the loop around does not change is computed
/// before it, where one factor is a number, as other products are too many to stay in registers: of m c, the sum of (x - m c)^2
/// takes a difference, which leaves multipliers to the squares.
TILEWRIGHT_INLINE value emitter::emit_contracted(const ir::expr& e) {
  namespace p = detail::expr_parts;
  const bool minus = e->op == ir::op::sub;
  const auto is_product = [&](const ir::expr& term, const ir::expr& other) {
    if (term->op != ir::op::mul) return false;
    const bool scales = term->args[0]->op == ir::op::real || term->args[1]->op == ir::op::real;
    return !(scales && stays_in_loop(term) && !stays_in_loop(other));
  };
  const bool right = is_product(e->args[1], e->args[0]), left = is_product(e->args[0], e->args[1]);
  if (!b.cpu.fma || rounds_products || !(left || right)) {
    const value x = emit(e->args[0]), y = emit(e->args[1]);
    const bool vector = x.vector || y.vector;
    return {b.binary(p::plain_operator(e->op, true), widen(x, vector), widen(y, vector)), vector};
  }
  const ir::expr& product = e->args[right ? 1 : 0];
  const value addend = emit(e->args[right ? 0 : 1]);
  const value x = emit(product->args[0]), y = emit(product->args[1]);
  const bool vector = addend.vector || x.vector || y.vector;
  value_ref factor = widen(x, vector), rest = widen(addend, vector);
  const value_ref other = widen(y, vector);
  if (minus && right) factor = b.c.BuildFNeg(b.b, factor, "");
  if (minus && !right) rest = b.c.BuildFNeg(b.b, rest, "");
  return {b.multiply_add(factor, other, rest), vector};
}

/// By a literal: what is not negative is divided without a sign, and what is, where it is rounded down, with so many divisors
/// more that it is not. Simplified, a mean of bytes weighted by 255 - w and w is one of those:
/// ```
/// (b * (255 - w) + 127) // 255   ->   b + (127 - b * w) // 255   ->   b + (65152 - b * w) / 255 - 255
/// ```
TILEWRIGHT_INLINE std::optional<value> emitter::divide_unsigned(ir::op o, const ir::expr& e,
                                                                value x, std::int64_t divisor) {
  interval range = bounds(e->args[0]);
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(divisor));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(), word = 0xffff;
  std::int64_t more = 0;
  if (range.lo < 0) {
    const bool floors = o == ir::op::floordiv || o == ir::op::floormod;
    if (!floors || power || !x.vector || bits(e.type()) != 32 || range.lo <= -most / 2 ||
        range.hi > most / 2 - divisor)
      return std::nullopt;
    more = (divisor - 1 - range.lo) / divisor;
    range = {range.lo + more * divisor, range.hi + more * divisor};
  }
  // truncating and flooring agree now, and the latter is a shift or a mask more often
  o = o == ir::op::div ? ir::op::floordiv : o == ir::op::mod ? ir::op::floormod : o;
  // hardware multiplies words for the quotients of twice as many lanes, and in one instruction
  const bool narrow =
      x.vector && !power && bits(e.type()) == 32 && range.hi <= word && divisor <= word;
  const dtype type = narrow ? dtype::u16 : integer_type(bits(e.type()), true);
  const int lanes = lanes_of(x.vector);
  const auto number = [&](dtype of, std::int64_t n) { return b.integer(b.held(of), n, lanes); };
  value_ref out = x.v;
  if (more != 0) out = b.binary(opcode::add, out, number(e.type(), more * divisor));
  if (narrow) out = b.convert(opcode::trunc, out, b.held(type, lanes));
  out = divide(o, type, out, number(type, divisor), x.vector, divisor);
  if (narrow) out = b.convert(opcode::zext, out, b.held(e.type(), lanes));
  if (more != 0 && o == ir::op::floordiv) out = b.binary(opcode::sub, out, number(e.type(), more));
  return value{out, x.vector};
}

TILEWRIGHT_INLINE value emitter::emit_division(const ir::expr& e) {
  const value x = emit(e->args[0]), y = emit(e->args[1]);
  const bool vector = x.vector || y.vector;
  const interval by = bounds(e->args[1]);
  std::optional<std::int64_t> divisor;
  if (by.lo == by.hi && e.type() != dtype::u64) divisor = by.lo;
  if (divisor && *divisor > 0)
    if (const auto out = divide_unsigned(e->op, e, {widen(x, vector), vector}, *divisor))
      return *out;
  return {divide(e->op, e.type(), widen(x, vector), widen(y, vector), vector, divisor), vector};
}

TILEWRIGHT_INLINE value_ref emitter::divide(ir::op o, dtype type, value_ref x, value_ref y,
                                            bool vector, std::optional<std::int64_t> by) {
  const int lanes = lanes_of(vector);
  const type_ref element = b.held(type);
  const auto number = [&](std::int64_t v) { return b.integer(element, v, lanes); };
  const bool quotient = o == ir::op::div || o == ir::op::floordiv;
  const bool floors = o == ir::op::floordiv || o == ir::op::floormod;
  const bool plain = detail::expr_parts::no_sign(type);
  if (by && *by > 0 && std::has_single_bit(static_cast<std::uint64_t>(*by)) && (floors || plain)) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(*by));
    if (!quotient) return b.binary(opcode::and_, x, number(*by - 1));
    return b.binary(plain ? opcode::lshr : opcode::ashr, x, number(shift));
  }
  // A zero divisor, which lanes that are off may hold too, would trap.
  if (!by) y = b.select(b.compare(int_predicate::eq, y, number(0)), number(1), y);
  if (plain) return b.binary(quotient ? opcode::udiv : opcode::urem, x, y);
  // The smallest value divided by -1 wraps in the language and traps in hardware.
  value_ref minus_one = nullptr;
  if (!by || *by == -1) {
    minus_one = b.compare(int_predicate::eq, y, number(-1));
    y = b.select(minus_one, number(1), y);
  }
  const auto fixed = [&](value_ref normal, value_ref for_minus_one) {
    return minus_one ? b.select(minus_one, for_minus_one, normal) : normal;
  };
  const value_ref negated = minus_one ? b.binary(opcode::sub, number(0), x) : nullptr;
  const value_ref q = b.binary(opcode::sdiv, x, y);
  if (!floors && quotient) return fixed(q, negated);
  const value_ref r = b.binary(opcode::sub, x, b.binary(opcode::mul, q, y));
  if (!floors) return fixed(r, number(0));
  const value_ref nonzero = b.compare(int_predicate::ne, r, number(0));
  const value_ref differ = b.compare(int_predicate::slt, b.binary(opcode::xor_, r, y), number(0));
  const value_ref below = b.binary(opcode::and_, nonzero, differ);
  if (quotient)
    return fixed(b.binary(opcode::add, q, b.convert(opcode::sext, below, b.vector(element, lanes))),
                 negated);
  return fixed(b.select(below, b.binary(opcode::add, r, y), r), number(0));
}

TILEWRIGHT_INLINE value emitter::emit_select(const ir::expr& e) {
  if (const auto known = decided(e->args[0])) return emit(e->args[*known ? 1 : 2]);
  const value condition = emit(e->args[0]), x = emit(e->args[1]), y = emit(e->args[2]);
  const bool vector = condition.vector || x.vector || y.vector;
  return {b.select(condition.v, widen(x, vector), widen(y, vector)), vector};
}

/// True when evaluating `e` where it was not chosen does no harm and costs little.
TILEWRIGHT_INLINE bool emitter::safe_everywhere(const ir::expr& e) {
  int nodes = 0;
  bool safe = true;
  ir::for_each_expr(e, [&](const ir::expr& x) {
    ++nodes;
    const bool divides =
        !is_float(x.type()) && (x->op == ir::op::div || x->op == ir::op::mod ||
                                x->op == ir::op::floordiv || x->op == ir::op::floormod);
    if (x->op == ir::op::load && !in_bounds(x->buffer, x->args)) safe = false;
    if (x->op == ir::op::call && x->name != "likely") safe = false;
    if (divides && !(ir::is_int(x->args[1]) && x->args[1]->integer != 0)) safe = false;
  });
  return safe && nodes <= 24;
}

/// Terms that are the same for all lanes are kept apart from the mask: a load whose mask is empty takes hundreds
/// of cycles where its page cannot be read, as rows of a padding before the first one of an image.
TILEWRIGHT_INLINE emitter::split_condition emitter::emit_condition(const ir::expr& e) {
  split_condition out;
  for (const ir::expr& term : ir::conjuncts(e)) {
    if (decided(term) == true) continue;
    const value holds = emit(term);
    value_ref& part = holds.vector ? out.varying : out.uniform;
    part = part ? b.binary(opcode::and_, part, holds.v) : holds.v;
  }
  if (!out.uniform && !out.varying) out.uniform = b.integer(b.i1, 1);
  return out;
}

/// The mask of a condition that has varying terms.
TILEWRIGHT_INLINE value_ref emitter::both(const split_condition& condition) {
  if (!condition.uniform) return condition.varying;
  return b.binary(opcode::and_, widen({condition.uniform, false}, true), condition.varying);
}

TILEWRIGHT_INLINE value emitter::emit_choice(const ir::expr& e) {
  if (const auto known = decided(e->args[0])) return emit(e->args[*known ? 1 : 2]);
  const split_condition condition = emit_condition(e->args[0]);
  const bool yes_everywhere = safe_everywhere(e->args[1]);
  const auto no = [&] { return emit(e->args[2]); };
  if (!condition.varying) {
    if (!yes_everywhere || !safe_everywhere(e->args[2]))
      return branch_choice(
          e.type(), condition.uniform, [&] { return emit(e->args[1]); }, no);
    const value x = emit(e->args[1]), y = emit(e->args[2]);
    const bool vector = x.vector || y.vector;
    return {b.select(condition.uniform, widen(x, vector), widen(y, vector)), vector};
  }
  const bool is_number = e->args[2]->op == ir::op::real || e->args[2]->op == ir::op::integer;
  if (!condition.uniform || yes_everywhere || !is_number) return lane_choice(e, both(condition));
  return branch_choice(
      e.type(), condition.uniform, [&] { return lane_choice(e, condition.varying); }, no);
}

/// A choice that each lane makes for itself.
TILEWRIGHT_INLINE value emitter::lane_choice(const ir::expr& e, value_ref condition) {
  const value_ref before = lane.mask;
  // side by side and perhaps not in bounds: loaded under the mask, with zeros in the other lanes
  const auto is_zero_elsewhere = [&](const ir::expr& choice) {
    const ir::expr &x = choice->args[1], &zero = choice->args[2];
    const bool is_zero =
        (zero->op == ir::op::real && zero->real == 0 && !std::signbit(zero->real)) ||
        ir::is_int(zero, 0);
    if (!is_zero || x->op != ir::op::load || in_bounds(x->buffer, x->args)) return false;
    const affine a = offset(place_of(x->buffer), x->buffer, x->args);
    return !a.uniform() && a.lane_steps.empty() && a.vectors.empty() && a.lane_step == 1;
  };
  const auto under = [&](value_ref on, const ir::expr& branch) {
    lane.mask = before ? b.binary(opcode::and_, before, on) : on;
    const scope inner(*this);
    const value_ref v = widen(emit(branch), true);
    lane.mask = before;
    return v;
  };
  const value_ref yes = under(condition, e->args[1]);
  if (is_zero_elsewhere(e)) return {yes, true};
  const value_ref no = under(b.c.BuildNot(b.b, condition, ""), e->args[2]);
  return {b.select(condition, yes, no), true};
}

/// One of two values of type `type`, of which only the chosen one is computed.
TILEWRIGHT_INLINE value emitter::branch_choice(dtype type, value_ref condition,
                                               support::function_ref<value()> yes,
                                               support::function_ref<value()> no) {
  const block_ref yes_block = b.new_block(at.function, "yes"),
                  no_block = b.new_block(at.function, "no");
  const block_ref join = b.new_block(at.function, "join");
  b.branch(condition, yes_block, no_block);
  const auto side = [&](block_ref start, support::function_ref<value()> emit_value) {
    const scope inner(*this);
    b.at(start);
    const value v = emit_value();
    return std::pair{v, b.here()};
  };
  const auto [x, x_end] = side(yes_block, yes);
  const auto [y, y_end] = side(no_block, no);
  const bool vector = x.vector || y.vector;
  b.at(x_end);
  const value_ref xv = widen(x, vector);
  b.branch(join);
  b.at(y_end);
  const value_ref yv = widen(y, vector);
  b.branch(join);
  b.at(join);
  return {b.phi(b.held(type, lanes_of(vector)), {{xv, x_end}, {yv, y_end}}), vector};
}

}  // namespace tilewright::backend::llvm
