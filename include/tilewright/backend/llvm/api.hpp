// The part of LLVM's C interface that the library uses: prototypes and constants, opened at run
// time.
//
// No header of LLVM is included, so that users need none and a program may link an LLVM of its own.
// A test compares every prototype and constant below with the real headers where they are
// installed. Only what LLVM 17 to 21 share stands here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tilewright/config.hpp>

namespace tilewright::backend::llvm {

using context_ref = struct opaque_context*;
using module_ref = struct opaque_module*;
using type_ref = struct opaque_type*;
using value_ref = struct opaque_value*;
using block_ref = struct opaque_block*;
using builder_ref = struct opaque_builder*;
using attribute_ref = struct opaque_attribute*;
using target_ref = struct opaque_target*;
using machine_ref = struct opaque_machine*;
using layout_ref = struct opaque_layout*;
using memory_ref = struct opaque_memory*;
using error_ref = struct opaque_error*;
using metadata_ref = struct opaque_metadata*;
using pass_options_ref = struct opaque_pass_options*;
using diagnostic_ref = struct opaque_diagnostic*;
using diagnostic_handler = void (*)(diagnostic_ref, void*);

/// LLVMOpcode.
enum class opcode : int {
  add = 8,
  fadd = 9,
  sub = 10,
  fsub = 11,
  mul = 12,
  fmul = 13,
  udiv = 14,
  sdiv = 15,
  fdiv = 16,
  urem = 17,
  srem = 18,
  frem = 19,
  shl = 20,
  lshr = 21,
  ashr = 22,
  and_ = 23,
  or_ = 24,
  xor_ = 25,
  trunc = 30,
  zext = 31,
  sext = 32,
  fptoui = 33,
  fptosi = 34,
  uitofp = 35,
  sitofp = 36,
  fptrunc = 37,
  fpext = 38,
  ptrtoint = 39,
  bitcast = 41
};
/// LLVMIntPredicate.
enum class int_predicate : int { eq = 32, ne, ugt, uge, ult, ule, sgt, sge, slt, sle };
/// LLVMRealPredicate.
enum class real_predicate : int {
  oeq = 1,
  ogt,
  oge,
  olt,
  ole,
  one,
  ord,
  uno,
  ueq,
  ugt,
  uge,
  ult,
  ule,
  une
};
inline constexpr int linkage_external = 0, linkage_internal = 8, linkage_private = 9;
inline constexpr int ordering_monotonic = 2;
inline constexpr int verify_return_status = 2;
inline constexpr int codegen_none = 0, codegen_less = 1, codegen_default = 2;
inline constexpr int reloc_pic = 2;
inline constexpr int code_model_small = 3;
inline constexpr int file_assembly = 0, file_object = 1;
inline constexpr int severity_error = 0;
inline constexpr unsigned function_index = ~0u, return_index = 0;

/// Functions of libLLVM, named as there without the prefix LLVM.
struct api {
  // NOLINTBEGIN(readability-identifier-naming): LLVM's own names
  void (*GetVersion)(unsigned*, unsigned*, unsigned*) = nullptr;
  context_ref (*ContextCreate)() = nullptr;
  void (*ContextDispose)(context_ref) = nullptr;
  void (*ContextSetDiagnosticHandler)(context_ref, diagnostic_handler, void*) = nullptr;
  void (*DisposeMessage)(char*) = nullptr;
  module_ref (*ModuleCreateWithNameInContext)(const char*, context_ref) = nullptr;
  void (*DisposeModule)(module_ref) = nullptr;
  void (*SetTarget)(module_ref, const char*) = nullptr;
  void (*SetDataLayout)(module_ref, const char*) = nullptr;
  char* (*PrintModuleToString)(module_ref) = nullptr;
  int (*VerifyModule)(module_ref, int, char**) = nullptr;
  value_ref (*AddGlobal)(module_ref, type_ref, const char*) = nullptr;
  void (*SetInitializer)(value_ref, value_ref) = nullptr;
  void (*SetGlobalConstant)(value_ref, int) = nullptr;
  void (*SetLinkage)(value_ref, int) = nullptr;
  type_ref (*IntTypeInContext)(context_ref, unsigned) = nullptr;
  type_ref (*HalfTypeInContext)(context_ref) = nullptr;
  type_ref (*FloatTypeInContext)(context_ref) = nullptr;
  type_ref (*DoubleTypeInContext)(context_ref) = nullptr;
  type_ref (*VoidTypeInContext)(context_ref) = nullptr;
  type_ref (*PointerTypeInContext)(context_ref, unsigned) = nullptr;
  type_ref (*FunctionType)(type_ref, type_ref*, unsigned, int) = nullptr;
  type_ref (*VectorType)(type_ref, unsigned) = nullptr;
  type_ref (*ArrayType2)(type_ref, std::uint64_t) = nullptr;
  type_ref (*TypeOf)(value_ref) = nullptr;
  value_ref (*ConstInt)(type_ref, unsigned long long, int) = nullptr;
  value_ref (*ConstReal)(type_ref, double) = nullptr;
  value_ref (*ConstNull)(type_ref) = nullptr;
  value_ref (*ConstVector)(value_ref*, unsigned) = nullptr;
  value_ref (*GetPoison)(type_ref) = nullptr;
  int (*IsConstant)(value_ref) = nullptr;
  value_ref (*AddFunction)(module_ref, const char*, type_ref) = nullptr;
  value_ref (*GetNamedFunction)(module_ref, const char*) = nullptr;
  value_ref (*GetNamedGlobal)(module_ref, const char*) = nullptr;
  value_ref (*GetParam)(value_ref, unsigned) = nullptr;
  void (*AddAttributeAtIndex)(value_ref, unsigned, attribute_ref) = nullptr;
  unsigned (*GetEnumAttributeKindForName)(const char*, std::size_t) = nullptr;
  attribute_ref (*CreateEnumAttribute)(context_ref, unsigned, std::uint64_t) = nullptr;
  attribute_ref (*CreateStringAttribute)(context_ref, const char*, unsigned, const char*,
                                         unsigned) = nullptr;
  unsigned (*LookupIntrinsicID)(const char*, std::size_t) = nullptr;
  value_ref (*GetIntrinsicDeclaration)(module_ref, unsigned, type_ref*, std::size_t) = nullptr;
  type_ref (*GlobalGetValueType)(value_ref) = nullptr;
  block_ref (*AppendBasicBlockInContext)(context_ref, value_ref, const char*) = nullptr;
  builder_ref (*CreateBuilderInContext)(context_ref) = nullptr;
  void (*DisposeBuilder)(builder_ref) = nullptr;
  void (*PositionBuilderAtEnd)(builder_ref, block_ref) = nullptr;
  block_ref (*GetInsertBlock)(builder_ref) = nullptr;
  value_ref (*GetBasicBlockParent)(block_ref) = nullptr;
  value_ref (*BuildRet)(builder_ref, value_ref) = nullptr;
  value_ref (*BuildRetVoid)(builder_ref) = nullptr;
  value_ref (*BuildBr)(builder_ref, block_ref) = nullptr;
  value_ref (*BuildCondBr)(builder_ref, value_ref, block_ref, block_ref) = nullptr;
  value_ref (*BuildPhi)(builder_ref, type_ref, const char*) = nullptr;
  void (*AddIncoming)(value_ref, value_ref*, block_ref*, unsigned) = nullptr;
  value_ref (*BuildBinOp)(builder_ref, int, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildCast)(builder_ref, int, value_ref, type_ref, const char*) = nullptr;
  value_ref (*BuildNSWAdd)(builder_ref, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildNSWMul)(builder_ref, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildFNeg)(builder_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildNot)(builder_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildICmp)(builder_ref, int, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildFCmp)(builder_ref, int, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildSelect)(builder_ref, value_ref, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildCall2)(builder_ref, type_ref, value_ref, value_ref*, unsigned,
                          const char*) = nullptr;
  value_ref (*BuildAlloca)(builder_ref, type_ref, const char*) = nullptr;
  value_ref (*BuildLoad2)(builder_ref, type_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildStore)(builder_ref, value_ref, value_ref) = nullptr;
  value_ref (*BuildInBoundsGEP2)(builder_ref, type_ref, value_ref, value_ref*, unsigned,
                                 const char*) = nullptr;
  void (*SetAlignment)(value_ref, unsigned) = nullptr;
  void (*SetOrdering)(value_ref, int) = nullptr;
  unsigned (*GetMDKindIDInContext)(context_ref, const char*, unsigned) = nullptr;
  value_ref (*MDNodeInContext)(context_ref, value_ref*, unsigned) = nullptr;
  value_ref (*MDStringInContext)(context_ref, const char*, unsigned) = nullptr;
  metadata_ref (*ValueAsMetadata)(value_ref) = nullptr;
  void (*ReplaceMDNodeOperandWith)(value_ref, unsigned, metadata_ref) = nullptr;
  void (*SetMetadata)(value_ref, unsigned, value_ref) = nullptr;
  value_ref (*BuildExtractElement)(builder_ref, value_ref, value_ref, const char*) = nullptr;
  value_ref (*BuildInsertElement)(builder_ref, value_ref, value_ref, value_ref,
                                  const char*) = nullptr;
  value_ref (*BuildShuffleVector)(builder_ref, value_ref, value_ref, value_ref,
                                  const char*) = nullptr;
  int (*GetTargetFromTriple)(const char*, target_ref*, char**) = nullptr;
  machine_ref (*CreateTargetMachine)(target_ref, const char*, const char*, const char*, int, int,
                                     int) = nullptr;
  void (*DisposeTargetMachine)(machine_ref) = nullptr;
  layout_ref (*CreateTargetDataLayout)(machine_ref) = nullptr;
  void (*DisposeTargetData)(layout_ref) = nullptr;
  char* (*CopyStringRepOfTargetData)(layout_ref) = nullptr;
  int (*TargetMachineEmitToMemoryBuffer)(machine_ref, module_ref, int, char**,
                                         memory_ref*) = nullptr;
  const char* (*GetBufferStart)(memory_ref) = nullptr;
  std::size_t (*GetBufferSize)(memory_ref) = nullptr;
  void (*DisposeMemoryBuffer)(memory_ref) = nullptr;
  error_ref (*RunPasses)(module_ref, const char*, machine_ref, pass_options_ref) = nullptr;
  pass_options_ref (*CreatePassBuilderOptions)() = nullptr;
  void (*DisposePassBuilderOptions)(pass_options_ref) = nullptr;
  char* (*GetErrorMessage)(error_ref) = nullptr;
  void (*DisposeErrorMessage)(char*) = nullptr;
  // null in an LLVM that was built without the one or the other
  void (*InitializeX86TargetInfo)() = nullptr;
  void (*InitializeX86Target)() = nullptr;
  void (*InitializeX86TargetMC)() = nullptr;
  void (*InitializeX86AsmPrinter)() = nullptr;
  void (*InitializeAArch64TargetInfo)() = nullptr;
  void (*InitializeAArch64Target)() = nullptr;
  void (*InitializeAArch64TargetMC)() = nullptr;
  void (*InitializeAArch64AsmPrinter)() = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// Calls f(name, pointer) for every function above, f(name, pointer, true) for those that an LLVM
  /// may lack.
  template <class F>
  void visit(F&& f) {
    f("GetVersion", GetVersion);
    f("ContextCreate", ContextCreate);
    f("ContextDispose", ContextDispose);
    f("ContextSetDiagnosticHandler", ContextSetDiagnosticHandler);
    f("DisposeMessage", DisposeMessage);
    f("ModuleCreateWithNameInContext", ModuleCreateWithNameInContext);
    f("DisposeModule", DisposeModule);
    f("SetTarget", SetTarget);
    f("SetDataLayout", SetDataLayout);
    f("PrintModuleToString", PrintModuleToString);
    f("VerifyModule", VerifyModule);
    f("AddGlobal", AddGlobal);
    f("SetInitializer", SetInitializer);
    f("SetGlobalConstant", SetGlobalConstant);
    f("SetLinkage", SetLinkage);
    f("IntTypeInContext", IntTypeInContext);
    f("HalfTypeInContext", HalfTypeInContext);
    f("FloatTypeInContext", FloatTypeInContext);
    f("DoubleTypeInContext", DoubleTypeInContext);
    f("VoidTypeInContext", VoidTypeInContext);
    f("PointerTypeInContext", PointerTypeInContext);
    f("FunctionType", FunctionType);
    f("VectorType", VectorType);
    f("ArrayType2", ArrayType2);
    f("TypeOf", TypeOf);
    f("ConstInt", ConstInt);
    f("ConstReal", ConstReal);
    f("ConstNull", ConstNull);
    f("ConstVector", ConstVector);
    f("GetPoison", GetPoison);
    f("IsConstant", IsConstant);
    f("AddFunction", AddFunction);
    f("GetNamedFunction", GetNamedFunction);
    f("GetNamedGlobal", GetNamedGlobal);
    f("GetParam", GetParam);
    f("AddAttributeAtIndex", AddAttributeAtIndex);
    f("GetEnumAttributeKindForName", GetEnumAttributeKindForName);
    f("CreateEnumAttribute", CreateEnumAttribute);
    f("CreateStringAttribute", CreateStringAttribute);
    f("LookupIntrinsicID", LookupIntrinsicID);
    f("GetIntrinsicDeclaration", GetIntrinsicDeclaration);
    f("GlobalGetValueType", GlobalGetValueType);
    f("AppendBasicBlockInContext", AppendBasicBlockInContext);
    f("CreateBuilderInContext", CreateBuilderInContext);
    f("DisposeBuilder", DisposeBuilder);
    f("PositionBuilderAtEnd", PositionBuilderAtEnd);
    f("GetInsertBlock", GetInsertBlock);
    f("GetBasicBlockParent", GetBasicBlockParent);
    f("BuildRet", BuildRet);
    f("BuildRetVoid", BuildRetVoid);
    f("BuildBr", BuildBr);
    f("BuildCondBr", BuildCondBr);
    f("BuildPhi", BuildPhi);
    f("AddIncoming", AddIncoming);
    f("BuildBinOp", BuildBinOp);
    f("BuildCast", BuildCast);
    f("BuildNSWAdd", BuildNSWAdd);
    f("BuildNSWMul", BuildNSWMul);
    f("BuildFNeg", BuildFNeg);
    f("BuildNot", BuildNot);
    f("BuildICmp", BuildICmp);
    f("BuildFCmp", BuildFCmp);
    f("BuildSelect", BuildSelect);
    f("BuildCall2", BuildCall2);
    f("BuildAlloca", BuildAlloca);
    f("BuildLoad2", BuildLoad2);
    f("BuildStore", BuildStore);
    f("BuildInBoundsGEP2", BuildInBoundsGEP2);
    f("SetAlignment", SetAlignment);
    f("SetOrdering", SetOrdering);
    f("GetMDKindIDInContext", GetMDKindIDInContext);
    f("MDNodeInContext", MDNodeInContext);
    f("MDStringInContext", MDStringInContext);
    f("ValueAsMetadata", ValueAsMetadata);
    f("ReplaceMDNodeOperandWith", ReplaceMDNodeOperandWith);
    f("SetMetadata", SetMetadata);
    f("BuildExtractElement", BuildExtractElement);
    f("BuildInsertElement", BuildInsertElement);
    f("BuildShuffleVector", BuildShuffleVector);
    f("GetTargetFromTriple", GetTargetFromTriple);
    f("CreateTargetMachine", CreateTargetMachine);
    f("DisposeTargetMachine", DisposeTargetMachine);
    f("CreateTargetDataLayout", CreateTargetDataLayout);
    f("DisposeTargetData", DisposeTargetData);
    f("CopyStringRepOfTargetData", CopyStringRepOfTargetData);
    f("TargetMachineEmitToMemoryBuffer", TargetMachineEmitToMemoryBuffer);
    f("GetBufferStart", GetBufferStart);
    f("GetBufferSize", GetBufferSize);
    f("DisposeMemoryBuffer", DisposeMemoryBuffer);
    f("RunPasses", RunPasses);
    f("CreatePassBuilderOptions", CreatePassBuilderOptions);
    f("DisposePassBuilderOptions", DisposePassBuilderOptions);
    f("GetErrorMessage", GetErrorMessage);
    f("DisposeErrorMessage", DisposeErrorMessage);
    f("InitializeX86TargetInfo", InitializeX86TargetInfo, true);
    f("InitializeX86Target", InitializeX86Target, true);
    f("InitializeX86TargetMC", InitializeX86TargetMC, true);
    f("InitializeX86AsmPrinter", InitializeX86AsmPrinter, true);
    f("InitializeAArch64TargetInfo", InitializeAArch64TargetInfo, true);
    f("InitializeAArch64Target", InitializeAArch64Target, true);
    f("InitializeAArch64TargetMC", InitializeAArch64TargetMC, true);
    f("InitializeAArch64AsmPrinter", InitializeAArch64AsmPrinter, true);
  }
};

/// The table of the process, opened at first use and kept until it ends.
/// @throws build_error naming the libraries tried when none can be opened or its version is outside
/// 17 to 21
const api& library();

/// "19.1.7".
/// @throws as `library`
std::string version();

}  // namespace tilewright::backend::llvm
