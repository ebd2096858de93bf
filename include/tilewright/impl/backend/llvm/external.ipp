// Calls of C functions that a program has made known (ir/external.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {

/// Address of the element that a pointer argument points to.
TILEWRIGHT_INLINE value_ref emitter::emit_pointer(const ir::expr& e) {
  const ir::pointed to = ir::pointed_by(e);
  const place& p = place_of(to.buffer);
  const affine at_element = index(to.offset);
  return at_element.fixed() && at_element.constant == 0
             ? pointer(p, affine{})
             : b.element_pointer(b.stored(p.type), pointer(p, affine{}), scalar_sum(at_element));
}

/// An array of packed_argument on the stack, and the call with it.
TILEWRIGHT_INLINE value_ref emitter::emit_packed_call(const std::vector<value_ref>& values,
                                                      const std::vector<dtype>& types,
                                                      const std::string& name) {
  static_assert(sizeof(ir::packed_argument) == 16 && offsetof(ir::packed_argument, type) == 8);
  // in the entry block: a loop around the call reuses the slot
  const block_ref here = b.here();
  b.at(at.entry);
  const value_ref slots = b.c.BuildAlloca(b.b, b.c.ArrayType2(b.i64, 2 * values.size()), "packed");
  b.at(here);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(16 * i);
    b.store(values[i], b.byte_pointer(slots, offset), 8);
    b.store(b.integer(b.i32, static_cast<std::int64_t>(types[i])),
            b.byte_pointer(slots, offset + 8), 4);
  }
  value_ref declared = b.c.GetNamedFunction(b.module, name.c_str());
  if (!declared) {
    std::vector<type_ref> parameters{b.ptr, b.i32};
    declared =
        b.c.AddFunction(b.module, name.c_str(), b.c.FunctionType(b.none, parameters.data(), 2, 0));
  }
  return b.call(declared, {slots, b.integer(b.i32, static_cast<std::int64_t>(values.size()))});
}

TILEWRIGHT_INLINE value emitter::emit_external(const ir::expr& e,
                                               const ir::external_function& function) {
  if (const std::string why = ir::misfit(function, e); !why.empty()) throw build_error(why);
  if (lane.lanes != 1)
    throw build_error("function " + function.name +
                      " is called in a vectorized loop; it takes one value at a time");
  const std::vector<ir::expr> arguments = ir::external_arguments(e);
  std::vector<value_ref> values;
  std::vector<dtype> types;
  std::vector<type_ref> parameters;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ir::expr& a = arguments[i];
    const dtype wanted = function.packed ? a.type() : function.parameters[i].type;
    types.push_back(wanted);
    if (wanted == dtype::handle) {
      values.push_back(emit_pointer(a));
      parameters.push_back(b.ptr);
      continue;
    }
    // the integer of a packed argument has 64 bits
    const dtype held = function.packed && wanted == dtype::i32 ? dtype::i64 : wanted;
    values.push_back(b.cast(held, a.type(), emit(a).v, 1));
    parameters.push_back(b.held(wanted));
  }
  if (function.packed) {
    emit_packed_call(values, types, function.name);
    return {b.integer(b.i32, 0), false};
  }
  value_ref declared = b.c.GetNamedFunction(b.module, function.name.c_str());
  if (!declared)
    declared = b.c.AddFunction(
        b.module, function.name.c_str(),
        b.c.FunctionType(function.returns ? b.held(function.result) : b.none, parameters.data(),
                         static_cast<unsigned>(parameters.size()), 0));
  const value_ref out = b.call(declared, values);
  return {function.returns ? out : b.integer(b.i32, 0), false};
}

}  // namespace tilewright::backend::llvm
