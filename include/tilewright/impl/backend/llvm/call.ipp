// Calls of intrinsic functions in the IR.
#pragma once

#include <string>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/backend/llvm/math.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {

TILEWRIGHT_INLINE value emitter::emit_call(const ir::expr& e) {
  if (const auto function = ir::called_external(e)) return emit_external(e, *function);
  if (const std::string why = ir::unknown_external(e); !why.empty()) throw argument_error(why);
  if (e->args.empty())
    throw argument_error("intrinsic \"" + e->name +
                         "\" without arguments is not known to the CPU backend");
  if (e->name == "dot4") return emit_dot4(e);
  if (e->name == "dot2") return emit_dot2(e);
  if (e->name == "sad8") return emit_sad8(e);
  std::vector<value> arguments;
  bool vector = false;
  for (const ir::expr& a : e->args) {
    arguments.push_back(emit(a));
    vector = vector || arguments.back().vector;
  }
  std::vector<value_ref> wide;
  for (const value& a : arguments) wide.push_back(widen(a, vector));
  const int lanes = lanes_of(vector);
  const dtype type = e->args[0].type();
  if (e->name == "likely" && wide.size() == 1) return {wide[0], vector};
  const auto has_bits = [](dtype t) { return t != dtype::boolean && t != dtype::handle; };
  if (e->name == "reinterpret" && bits(e.type()) == bits(type) && has_bits(type) &&
      has_bits(e.type())) {
    const value_ref raw = b.to_stored(type, wide[0], lanes);
    return {b.to_held(e.type(), b.convert(opcode::bitcast, raw, b.stored(e.type(), lanes)), lanes),
            vector};
  }
  const value_ref out = is_float(type) ? emit_math(b, e->name, type == dtype::f64, wide, lanes)
                                       : call_integer(e->name, type, wide, lanes);
  if (!out)
    throw argument_error("intrinsic \"" + e->name + "\" of " + std::to_string(wide.size()) +
                         " arguments of " + std::string(name(type)) +
                         " is not known to the CPU backend");
  return {out, vector};
}

TILEWRIGHT_INLINE value_ref emitter::call_integer(const std::string& name, dtype type,
                                                  const std::vector<value_ref>& a, int lanes) {
  const type_ref element = b.held(type), all = b.held(type, lanes);
  const auto number = [&](std::int64_t v) { return b.integer(element, v, lanes); };
  const value_ref x = a[0];
  if (a.size() == 1) {
    if (name == "abs") {
      if (is_unsigned(type) || type == dtype::boolean) return x;
      const value_ref negative = b.compare(int_predicate::slt, x, number(0));
      return b.select(negative, b.binary(opcode::sub, number(0), x), x);
    }
    if (name == "bitwise_not") return b.binary(opcode::xor_, x, number(-1));
    if (name == "popcount") return b.intrinsic("llvm.ctpop", {all}, {x});
    return nullptr;
  }
  if (a.size() != 2) return nullptr;
  const value_ref y = a[1];
  if (name == "bitwise_and") return b.binary(opcode::and_, x, y);
  if (name == "bitwise_or") return b.binary(opcode::or_, x, y);
  if (name == "bitwise_xor") return b.binary(opcode::xor_, x, y);
  // modulo the width, a power of two but for the odd ones
  const value_ref amount = type == dtype::boolean ? nullptr
                           : is_bit_integer(type)
                               ? b.binary(opcode::urem, y, number(bits(type)))
                               : b.binary(opcode::and_, y, number(bits(type) - 1));
  if (name == "shift_left" && amount) return b.binary(opcode::shl, x, amount);
  if (name == "shift_right" && amount)
    return b.binary(is_unsigned(type) ? opcode::lshr : opcode::ashr, x, amount);
  if (name == "pow" && amount) return integer_power(type, x, y, lanes);
  return nullptr;
}

/// x to the power y by squaring, wrapping; 1 for y below 0. One step per bit of y, without
/// branches.
TILEWRIGHT_INLINE value_ref emitter::integer_power(dtype type, value_ref x, value_ref y,
                                                   int lanes) {
  const type_ref element = b.held(type);
  const value_ref zero = b.integer(element, 0, lanes), one = b.integer(element, 1, lanes);
  if (!is_unsigned(type)) y = b.select(b.compare(int_predicate::slt, y, zero), zero, y);
  value_ref result = one, factor = x;
  for (int bit = 0; bit < bits(type); ++bit) {
    const value_ref shifted = b.binary(opcode::lshr, y, b.integer(element, bit, lanes));
    const value_ref odd = b.compare(int_predicate::ne, b.binary(opcode::and_, shifted, one), zero);
    result = b.select(odd, b.binary(opcode::mul, result, factor), result);
    factor = b.binary(opcode::mul, factor, factor);
  }
  return result;
}

}  // namespace tilewright::backend::llvm
