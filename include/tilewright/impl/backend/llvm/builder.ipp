#pragma once

#include <string_view>
#include <utility>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/impl/backend/llvm/triple.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>

namespace tilewright::backend::llvm {
namespace detail::builder_parts {

inline unsigned metadata_kind(const builder& b, std::string_view name) {
  return b.c.GetMDKindIDInContext(b.context, name.data(), static_cast<unsigned>(name.size()));
}

}  // namespace detail::builder_parts

TILEWRIGHT_INLINE builder::builder(const target::cpu& target, const std::string& module_name)
    : c(library()), cpu(target) {
  context = c.ContextCreate();
  // Errors are read from the verifier and from the calls' results; LLVM must not print or exit.
  c.ContextSetDiagnosticHandler(
      context, [](diagnostic_ref, void*) {}, nullptr);
  module = c.ModuleCreateWithNameInContext(module_name.c_str(), context);
  b = c.CreateBuilderInContext(context);
  i1 = c.IntTypeInContext(context, 1);
  i8 = c.IntTypeInContext(context, 8);
  i16 = c.IntTypeInContext(context, 16);
  i32 = c.IntTypeInContext(context, 32);
  i64 = c.IntTypeInContext(context, 64);
  half = c.HalfTypeInContext(context);
  f32 = c.FloatTypeInContext(context);
  f64 = c.DoubleTypeInContext(context);
  ptr = c.PointerTypeInContext(context, 0);
  none = c.VoidTypeInContext(context);
}

TILEWRIGHT_INLINE builder::~builder() {
  c.DisposeBuilder(b);
  c.DisposeModule(module);
  c.ContextDispose(context);
}

TILEWRIGHT_INLINE type_ref builder::vector(type_ref element, int lanes) const {
  return lanes == 1 ? element : c.VectorType(element, static_cast<unsigned>(lanes));
}

TILEWRIGHT_INLINE type_ref builder::held(dtype t, int lanes) const {
  if (t == dtype::boolean) return vector(i1, lanes);
  if (t == dtype::f64) return vector(f64, lanes);
  if (is_float(t)) return vector(f32, lanes);
  return vector(c.IntTypeInContext(context, static_cast<unsigned>(bits(t))), lanes);
}

TILEWRIGHT_INLINE type_ref builder::stored(dtype t, int lanes) const {
  if (t == dtype::f32 || t == dtype::f64) return held(t, lanes);
  return vector(c.IntTypeInContext(context, static_cast<unsigned>(8 * bytes(t))), lanes);
}

TILEWRIGHT_INLINE value_ref builder::integer(type_ref scalar, std::int64_t value, int lanes) const {
  const value_ref one = c.ConstInt(scalar, static_cast<unsigned long long>(value), 1);
  if (lanes == 1) return one;
  std::vector<value_ref> all(static_cast<std::size_t>(lanes), one);
  return c.ConstVector(all.data(), static_cast<unsigned>(lanes));
}

TILEWRIGHT_INLINE value_ref builder::real(type_ref scalar, double value, int lanes) const {
  return c.ConstReal(vector(scalar, lanes), value);
}

TILEWRIGHT_INLINE value_ref builder::integers(type_ref scalar,
                                              const std::vector<std::int64_t>& values) const {
  std::vector<value_ref> all;
  for (std::int64_t v : values) all.push_back(integer(scalar, v));
  return c.ConstVector(all.data(), static_cast<unsigned>(all.size()));
}

TILEWRIGHT_INLINE value_ref builder::ramp(type_ref scalar, std::int64_t first, std::int64_t step,
                                          int lanes) const {
  std::vector<std::int64_t> values;
  for (int i = 0; i < lanes; ++i) values.push_back(first + i * step);
  return integers(scalar, values);
}

TILEWRIGHT_INLINE value_ref builder::binary(opcode op, value_ref x, value_ref y) const {
  return c.BuildBinOp(b, static_cast<int>(op), x, y, "");
}
TILEWRIGHT_INLINE value_ref builder::convert(opcode op, value_ref x, type_ref to) const {
  return c.BuildCast(b, static_cast<int>(op), x, to, "");
}
TILEWRIGHT_INLINE value_ref builder::compare(int_predicate p, value_ref x, value_ref y) const {
  return c.BuildICmp(b, static_cast<int>(p), x, y, "");
}
TILEWRIGHT_INLINE value_ref builder::compare(real_predicate p, value_ref x, value_ref y) const {
  return c.BuildFCmp(b, static_cast<int>(p), x, y, "");
}
TILEWRIGHT_INLINE value_ref builder::select(value_ref condition, value_ref yes,
                                            value_ref no) const {
  return c.BuildSelect(b, condition, yes, no, "");
}
TILEWRIGHT_INLINE value_ref builder::add_nsw(value_ref x, value_ref y) const {
  return c.BuildNSWAdd(b, x, y, "");
}
TILEWRIGHT_INLINE value_ref builder::mul_nsw(value_ref x, value_ref y) const {
  return c.BuildNSWMul(b, x, y, "");
}

TILEWRIGHT_INLINE value_ref builder::extract(value_ref v, int lane) const {
  return c.BuildExtractElement(b, v, integer(i32, lane), "");
}

TILEWRIGHT_INLINE value_ref builder::splat(value_ref scalar, int lanes) const {
  if (lanes == 1) return scalar;
  if (c.IsConstant(scalar)) {
    std::vector<value_ref> all(static_cast<std::size_t>(lanes), scalar);
    return c.ConstVector(all.data(), static_cast<unsigned>(lanes));
  }
  const type_ref type = vector(c.TypeOf(scalar), lanes);
  const value_ref first = c.BuildInsertElement(b, c.GetPoison(type), scalar, integer(i32, 0), "");
  return c.BuildShuffleVector(b, first, c.GetPoison(type), integer(i32, 0, lanes), "");
}

TILEWRIGHT_INLINE value_ref builder::element_pointer(type_ref element, value_ref base,
                                                     value_ref idx) const {
  return c.BuildInBoundsGEP2(b, element, base, &idx, 1, "");
}

TILEWRIGHT_INLINE value_ref builder::byte_pointer(value_ref base, std::int64_t offset) const {
  return offset == 0 ? base : element_pointer(i8, base, index(offset));
}

TILEWRIGHT_INLINE value_ref builder::load(type_ref type, value_ref pointer,
                                          unsigned alignment) const {
  const value_ref v = c.BuildLoad2(b, type, pointer, "");
  c.SetAlignment(v, alignment);
  return v;
}

TILEWRIGHT_INLINE void builder::store(value_ref value, value_ref pointer,
                                      unsigned alignment) const {
  c.SetAlignment(c.BuildStore(b, value, pointer), alignment);
}

TILEWRIGHT_INLINE void builder::store_nontemporal(value_ref value, value_ref pointer,
                                                  unsigned alignment) const {
  const value_ref stored = c.BuildStore(b, value, pointer);
  c.SetAlignment(stored, alignment);
  value_ref one = integer(i32, 1);
  c.SetMetadata(stored, detail::builder_parts::metadata_kind(*this, "nontemporal"),
                c.MDNodeInContext(context, &one, 1));
}

TILEWRIGHT_INLINE void builder::align_loop(value_ref back, unsigned bytes) const {
  constexpr std::string_view name = "llvm.loop.align";
  value_ref wish[] = {c.MDStringInContext(context, name.data(), static_cast<unsigned>(name.size())),
                      integer(i32, bytes)};
  // loops are told apart by nodes that are their own first operands
  value_ref operands[] = {wish[0], c.MDNodeInContext(context, wish, 2)};
  const value_ref loop = c.MDNodeInContext(context, operands, 2);
  c.ReplaceMDNodeOperandWith(loop, 0, c.ValueAsMetadata(loop));
  c.SetMetadata(back, detail::builder_parts::metadata_kind(*this, "llvm.loop"), loop);
}

TILEWRIGHT_INLINE void builder::order_nontemporal() const {
  // elsewhere they are ordered as other stores are
  if (target::architecture_of(cpu) == target::architecture::x86_64)
    target_intrinsic("llvm.x86.sse.sfence", {});
}

TILEWRIGHT_INLINE value_ref builder::call(value_ref function,
                                          const std::vector<value_ref>& arguments) const {
  return c.BuildCall2(b, function_type(function), function,
                      const_cast<value_ref*>(arguments.data()),
                      static_cast<unsigned>(arguments.size()), "");
}

TILEWRIGHT_INLINE value_ref builder::call(value_ref function,
                                          std::initializer_list<value_ref> arguments) const {
  return call(function, std::vector<value_ref>(arguments));
}

TILEWRIGHT_INLINE value_ref builder::intrinsic(const char* name, const std::vector<type_ref>& types,
                                               const std::vector<value_ref>& arguments) const {
  const unsigned id = c.LookupIntrinsicID(name, std::char_traits<char>::length(name));
  if (id == 0) throw build_error(std::string("LLVM has no intrinsic ") + name);
  const value_ref declared =
      c.GetIntrinsicDeclaration(module, id, const_cast<type_ref*>(types.data()), types.size());
  return call(declared, arguments);
}

TILEWRIGHT_INLINE value_ref
builder::target_intrinsic(const std::string& name, const std::vector<value_ref>& arguments) const {
  const unsigned id = c.LookupIntrinsicID(name.c_str(), name.size());
  if (id == 0) return nullptr;
  const value_ref declared = c.GetIntrinsicDeclaration(module, id, nullptr, 0);
  std::vector<value_ref> typed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const type_ref wanted = c.TypeOf(c.GetParam(declared, static_cast<unsigned>(i)));
    typed.push_back(c.TypeOf(arguments[i]) == wanted
                        ? arguments[i]
                        : convert(opcode::bitcast, arguments[i], wanted));
  }
  return call(declared, typed);
}

TILEWRIGHT_INLINE value_ref builder::multiply_add(value_ref x, value_ref y, value_ref z) const {
  if (cpu.fma) return intrinsic("llvm.fma", {c.TypeOf(x)}, {x, y, z});
  return binary(opcode::fadd, binary(opcode::fmul, x, y), z);
}

TILEWRIGHT_INLINE value_ref builder::library_call(const char* name, type_ref scalar,
                                                  const std::vector<value_ref>& arguments,
                                                  int lanes) const {
  value_ref declared = c.GetNamedFunction(module, name);
  if (!declared) {
    std::vector<type_ref> types(arguments.size(), scalar);
    declared = c.AddFunction(
        module, name, c.FunctionType(scalar, types.data(), static_cast<unsigned>(types.size()), 0));
  }
  if (lanes == 1) return call(declared, arguments);
  value_ref out = c.GetPoison(vector(scalar, lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<value_ref> one;
    for (value_ref a : arguments) one.push_back(extract(a, lane));
    out = c.BuildInsertElement(b, out, call(declared, one), integer(i32, lane), "");
  }
  return out;
}

TILEWRIGHT_INLINE block_ref builder::new_block(value_ref function, const char* name) const {
  return c.AppendBasicBlockInContext(context, function, name);
}

TILEWRIGHT_INLINE value_ref
builder::phi(type_ref type, const std::vector<std::pair<value_ref, block_ref>>& incoming) const {
  const value_ref p = c.BuildPhi(b, type, "");
  for (const auto& [value, from] : incoming) add_incoming(p, value, from);
  return p;
}

TILEWRIGHT_INLINE void builder::add_incoming(value_ref p, value_ref value, block_ref from) const {
  c.AddIncoming(p, &value, &from, 1);
}

TILEWRIGHT_INLINE void builder::function_attribute(value_ref function, const char* key,
                                                   const std::string& value) const {
  const std::string_view k = key;
  c.AddAttributeAtIndex(
      function, function_index,
      c.CreateStringAttribute(context, key, static_cast<unsigned>(k.size()), value.c_str(),
                              static_cast<unsigned>(value.size())));
}

TILEWRIGHT_INLINE value_ref builder::function(const std::string& name, type_ref result,
                                              const std::vector<type_ref>& parameters,
                                              bool internal) const {
  const type_ref type = c.FunctionType(result, const_cast<type_ref*>(parameters.data()),
                                       static_cast<unsigned>(parameters.size()), 0);
  const value_ref f = c.AddFunction(module, name.c_str(), type);
  if (internal) c.SetLinkage(f, linkage_internal);
  const unsigned nounwind = c.GetEnumAttributeKindForName("nounwind", 8);
  c.AddAttributeAtIndex(f, function_index, c.CreateEnumAttribute(context, nounwind, 0));
  function_attribute(f, "target-cpu", base_cpu(cpu));
  if (!cpu.tune.empty()) function_attribute(f, "tune-cpu", cpu.tune);
  if (!cpu.features.empty()) function_attribute(f, "target-features", cpu.features);
  function_attribute(f, "prefer-vector-width", std::to_string(cpu.vector_bits));
  function_attribute(f, "min-legal-vector-width", std::to_string(cpu.vector_bits));
  if (target::has_fixed_sve(cpu)) {  // how many times 128 bits: at least, and at most
    const auto times = static_cast<std::uint64_t>(cpu.vector_bits / 128);
    c.AddAttributeAtIndex(
        f, function_index,
        c.CreateEnumAttribute(context, c.GetEnumAttributeKindForName("vscale_range", 12),
                              times << 32 | times));
  }
  return f;
}

TILEWRIGHT_INLINE void builder::parameter_attribute(value_ref function, unsigned parameter,
                                                    const char* attribute,
                                                    std::uint64_t value) const {
  const unsigned kind =
      c.GetEnumAttributeKindForName(attribute, std::char_traits<char>::length(attribute));
  c.AddAttributeAtIndex(function, parameter + 1, c.CreateEnumAttribute(context, kind, value));
}

TILEWRIGHT_INLINE value_ref builder::zeros() const {
  if (const value_ref known = c.GetNamedGlobal(module, "zeros")) return known;
  const type_ref type = c.ArrayType2(i64, 8);
  const value_ref global = c.AddGlobal(module, type, "zeros");
  c.SetInitializer(global, c.ConstNull(type));
  c.SetGlobalConstant(global, 1);
  c.SetLinkage(global, linkage_internal);
  c.SetAlignment(global, 64);
  return global;
}

TILEWRIGHT_INLINE std::string builder::print() const {
  char* text = c.PrintModuleToString(module);
  std::string out = text;
  c.DisposeMessage(text);
  return out;
}

}  // namespace tilewright::backend::llvm
