// One LLVM module under construction: types, constants and instructions in the library's own terms.
//
// A value is a scalar, or a vector of `lanes` elements; `lanes` 1 means scalar everywhere here.
// Values are held in registers in a type that need not be that of memory: booleans as i1, f16 and
// bf16 as f32 that was not rounded yet (ir/expr.hpp says when rounding happens).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/api.hpp>
#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend::llvm {

/// Owns a context and a module in it; one per compilation, so that threads share nothing.
class builder {
 public:
  /// @throws build_error when no LLVM can be opened
  builder(const target::cpu& cpu, const std::string& module_name);
  ~builder();
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  const api& c;
  const target::cpu& cpu;
  context_ref context = nullptr;
  module_ref module = nullptr;
  builder_ref b = nullptr;
  type_ref i1 = nullptr, i8 = nullptr, i16 = nullptr, i32 = nullptr, i64 = nullptr;
  type_ref half = nullptr, f32 = nullptr, f64 = nullptr, ptr = nullptr, none = nullptr;

  /// @name Types
  /// @{
  type_ref held(dtype t, int lanes = 1) const;    // of a value in registers
  type_ref stored(dtype t, int lanes = 1) const;  // of an element in memory
  type_ref vector(type_ref element, int lanes) const;
  /// @}

  /// @name Constants
  /// @{
  value_ref integer(type_ref scalar, std::int64_t value, int lanes = 1) const;
  value_ref index(std::int64_t value) const { return integer(i64, value); }
  value_ref real(type_ref scalar, double value, int lanes = 1) const;
  /// first, first + step, ... of an integer type.
  value_ref ramp(type_ref scalar, std::int64_t first, std::int64_t step, int lanes) const;
  value_ref integers(type_ref scalar, const std::vector<std::int64_t>& values) const;
  /// @}

  /// @name Instructions
  /// @{
  value_ref binary(opcode op, value_ref x, value_ref y) const;
  value_ref convert(opcode op, value_ref x, type_ref to) const;
  value_ref compare(int_predicate p, value_ref x, value_ref y) const;
  value_ref compare(real_predicate p, value_ref x, value_ref y) const;
  value_ref select(value_ref condition, value_ref yes, value_ref no) const;
  value_ref add_nsw(value_ref x, value_ref y) const;
  value_ref mul_nsw(value_ref x, value_ref y) const;
  value_ref extract(value_ref vector, int lane) const;
  value_ref splat(value_ref scalar, int lanes) const;
  /// base + index elements; the index may be a vector.
  value_ref element_pointer(type_ref element, value_ref base, value_ref index) const;
  value_ref byte_pointer(value_ref base, std::int64_t bytes) const;
  value_ref load(type_ref type, value_ref pointer, unsigned alignment) const;
  void store(value_ref value, value_ref pointer, unsigned alignment) const;
  /// A store past the caches, of a whole vector that is aligned to its size.
  void store_nontemporal(value_ref value, value_ref pointer, unsigned alignment) const;
  /// Stores past the caches are seen by whoever sees the stores behind it.
  void order_nontemporal() const;
  value_ref call(value_ref function, std::initializer_list<value_ref> arguments) const;
  value_ref call(value_ref function, const std::vector<value_ref>& arguments) const;
  /// Calls the intrinsic `name` ("llvm.fma") overloaded on `types`.
  value_ref intrinsic(const char* name, const std::vector<type_ref>& types,
                      const std::vector<value_ref>& arguments) const;
  /// Calls an intrinsic of one target, its arguments as the bits of what it takes; null when this
  /// LLVM does not know it.
  value_ref target_intrinsic(const std::string& name,
                             const std::vector<value_ref>& arguments) const;
  /// x * y + z in one rounding where the target can, else in two.
  value_ref multiply_add(value_ref x, value_ref y, value_ref z) const;
  /// Calls a C library function of scalars on each lane; the loader resolves it by name.
  value_ref library_call(const char* name, type_ref scalar, const std::vector<value_ref>& arguments,
                         int lanes) const;
  /// @}

  /// @name Between memory and registers
  /// @{
  value_ref to_held(dtype t, value_ref stored_value, int lanes) const;
  value_ref to_stored(dtype t, value_ref held_value, int lanes) const;
  /// A held value of a float below 32 bits rounded to its type, still in f32; others are returned as
  /// they are.
  value_ref rounded(dtype t, value_ref held_value, int lanes) const;
  /// Held value of type `from` as a held value of type `to`, with the semantics of ir::op::cast.
  value_ref cast(dtype to, dtype from, value_ref held_value, int lanes) const;
  /// @}

  /// @name Control flow
  /// @{
  block_ref new_block(value_ref function, const char* name) const;
  block_ref here() const { return c.GetInsertBlock(b); }
  value_ref here_in() const { return c.GetBasicBlockParent(here()); }  // the function
  void at(block_ref block) const { c.PositionBuilderAtEnd(b, block); }
  void branch(block_ref to) const { c.BuildBr(b, to); }
  value_ref branch(value_ref condition, block_ref yes, block_ref no) const {
    return c.BuildCondBr(b, condition, yes, no);
  }
  /// The loop that `back` goes back to begins at a multiple of so many bytes.
  void align_loop(value_ref back, unsigned bytes) const;
  value_ref phi(type_ref type, const std::vector<std::pair<value_ref, block_ref>>& incoming) const;
  void add_incoming(value_ref phi, value_ref value, block_ref from) const;
  /// New function with the target's attributes.
  value_ref function(const std::string& name, type_ref result,
                     const std::vector<type_ref>& parameters, bool internal) const;
  void parameter_attribute(value_ref function, unsigned parameter, const char* attribute,
                           std::uint64_t value = 0) const;
  type_ref function_type(value_ref function) const { return c.GlobalGetValueType(function); }
  /// @}

  /// A constant of 64 zero bytes: what may be read instead of something that must not.
  value_ref zeros() const;
  std::string print() const;

 private:
  value_ref half_to_float(value_ref bits, int lanes) const;
  value_ref float_to_half(value_ref x, int lanes) const;
  value_ref float_to_brain(value_ref x, int lanes) const;
  value_ref narrow_to_float(dtype t, value_ref bits, int lanes) const;
  value_ref float_to_narrow(dtype t, value_ref x, int lanes) const;
  value_ref narrow_for_rounding(value_ref f64_value, int lanes) const;
  /// As llvm.fptosi.sat and llvm.fptoui.sat, which code generation takes apart lane by lane.
  value_ref float_to_integers(dtype to, dtype from, value_ref x, int lanes) const;
  void function_attribute(value_ref function, const char* key, const std::string& value) const;
};

}  // namespace tilewright::backend::llvm
