#include <tilewright/backend/llvm/api.hpp>

#include <cstdlib>
#include <set>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/backend/llvm/library_names.hpp>
#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
namespace llvm = tilewright::backend::llvm;

TEST_CASE("the library opens and tells its version") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library here");
    return;
  }
  const int major = std::atoi(backend::compiler_version().c_str());
  CHECK(major >= 17);
  CHECK(major <= 21);
}

TEST_CASE("a missing library is a build_error that says what was tried and what to install") {
  support::dynamic_library::spec names = llvm::detail::library_names();
  names.environment = "TILEWRIGHT_TEST_LLVM";
  setenv("TILEWRIGHT_TEST_LLVM", "/nonexistent/libLLVM.so", 1);
  try {
    const support::dynamic_library opened(names);
    FAIL("it opened");
  } catch (const build_error& e) {
    const std::string text = e.what();
    CHECK(text.find("/nonexistent/libLLVM.so") != std::string::npos);
    CHECK(text.find("TILEWRIGHT_TEST_LLVM") != std::string::npos);
    CHECK(text.find("apt-get install libllvm19") != std::string::npos);
  }
  unsetenv("TILEWRIGHT_TEST_LLVM");
  names.names = {"libno-such-llvm.so.1", "libno-such-llvm.so.2"};
  CHECK_THROWS_WITH_AS(support::dynamic_library{names}, doctest::Contains("libno-such-llvm.so.2"),
                       build_error);
}

#if __has_include(<llvm-c/Core.h>)
#include "prototypes.hpp"

using prototypes::translated;

#define SAME(name)                                                                                 \
  static_assert(std::is_same_v<decltype(llvm::api::name), translated<decltype(LLVM##name)>::type>, \
                #name);                                                                            \
  checked.insert(#name)

TEST_CASE("every prototype of the table is that of the real headers") {
  std::set<std::string> checked;
  SAME(GetVersion);
  SAME(ContextCreate);
  SAME(ContextDispose);
  SAME(ContextSetDiagnosticHandler);
  SAME(DisposeMessage);
  SAME(ModuleCreateWithNameInContext);
  SAME(DisposeModule);
  SAME(SetTarget);
  SAME(SetDataLayout);
  SAME(PrintModuleToString);
  SAME(VerifyModule);
  SAME(AddGlobal);
  SAME(SetInitializer);
  SAME(SetGlobalConstant);
  SAME(SetLinkage);
  SAME(IntTypeInContext);
  SAME(HalfTypeInContext);
  SAME(FloatTypeInContext);
  SAME(DoubleTypeInContext);
  SAME(VoidTypeInContext);
  SAME(PointerTypeInContext);
  SAME(FunctionType);
  SAME(VectorType);
  SAME(ArrayType2);
  SAME(TypeOf);
  SAME(ConstInt);
  SAME(ConstReal);
  SAME(ConstNull);
  SAME(ConstVector);
  SAME(GetPoison);
  SAME(IsConstant);
  SAME(AddFunction);
  SAME(GetNamedFunction);
  SAME(GetNamedGlobal);
  SAME(GetParam);
  SAME(AddAttributeAtIndex);
  SAME(GetEnumAttributeKindForName);
  SAME(CreateEnumAttribute);
  SAME(CreateStringAttribute);
  SAME(LookupIntrinsicID);
  SAME(GetIntrinsicDeclaration);
  SAME(GlobalGetValueType);
  SAME(AppendBasicBlockInContext);
  SAME(CreateBuilderInContext);
  SAME(DisposeBuilder);
  SAME(PositionBuilderAtEnd);
  SAME(GetInsertBlock);
  SAME(GetBasicBlockParent);
  SAME(BuildRet);
  SAME(BuildRetVoid);
  SAME(BuildBr);
  SAME(BuildCondBr);
  SAME(BuildPhi);
  SAME(AddIncoming);
  SAME(BuildBinOp);
  SAME(BuildCast);
  SAME(BuildNSWAdd);
  SAME(BuildNSWMul);
  SAME(BuildFNeg);
  SAME(BuildNot);
  SAME(BuildICmp);
  SAME(BuildFCmp);
  SAME(BuildSelect);
  SAME(BuildCall2);
  SAME(BuildAlloca);
  SAME(BuildLoad2);
  SAME(BuildStore);
  SAME(BuildInBoundsGEP2);
  SAME(SetAlignment);
  SAME(SetOrdering);
  SAME(GetMDKindIDInContext);
  SAME(MDNodeInContext);
  SAME(MDStringInContext);
  SAME(ValueAsMetadata);
  SAME(ReplaceMDNodeOperandWith);
  SAME(SetMetadata);
  SAME(BuildExtractElement);
  SAME(BuildInsertElement);
  SAME(BuildShuffleVector);
  SAME(GetTargetFromTriple);
  SAME(CreateTargetMachine);
  SAME(DisposeTargetMachine);
  SAME(CreateTargetDataLayout);
  SAME(DisposeTargetData);
  SAME(CopyStringRepOfTargetData);
  SAME(TargetMachineEmitToMemoryBuffer);
  SAME(GetBufferStart);
  SAME(GetBufferSize);
  SAME(DisposeMemoryBuffer);
  SAME(RunPasses);
  SAME(CreatePassBuilderOptions);
  SAME(DisposePassBuilderOptions);
  SAME(GetErrorMessage);
  SAME(DisposeErrorMessage);
  SAME(InitializeX86TargetInfo);
  SAME(InitializeX86Target);
  SAME(InitializeX86TargetMC);
  SAME(InitializeX86AsmPrinter);
  SAME(InitializeAArch64TargetInfo);
  SAME(InitializeAArch64Target);
  SAME(InitializeAArch64TargetMC);
  SAME(InitializeAArch64AsmPrinter);
  std::set<std::string> table;
  llvm::api{}.visit([&](const char* name, const auto&, bool = false) { table.insert(name); });
  CHECK(checked == table);
}

TEST_CASE("every constant is that of the real headers") {
  const auto same = [](auto mine, auto theirs) {
    CHECK(static_cast<int>(mine) == static_cast<int>(theirs));
  };
  using op = llvm::opcode;
  same(op::add, LLVMAdd);
  same(op::fadd, LLVMFAdd);
  same(op::sub, LLVMSub);
  same(op::fsub, LLVMFSub);
  same(op::mul, LLVMMul);
  same(op::fmul, LLVMFMul);
  same(op::udiv, LLVMUDiv);
  same(op::sdiv, LLVMSDiv);
  same(op::fdiv, LLVMFDiv);
  same(op::urem, LLVMURem);
  same(op::srem, LLVMSRem);
  same(op::frem, LLVMFRem);
  same(op::shl, LLVMShl);
  same(op::lshr, LLVMLShr);
  same(op::ashr, LLVMAShr);
  same(op::and_, LLVMAnd);
  same(op::or_, LLVMOr);
  same(op::xor_, LLVMXor);
  same(op::trunc, LLVMTrunc);
  same(op::zext, LLVMZExt);
  same(op::sext, LLVMSExt);
  same(op::fptoui, LLVMFPToUI);
  same(op::fptosi, LLVMFPToSI);
  same(op::uitofp, LLVMUIToFP);
  same(op::sitofp, LLVMSIToFP);
  same(op::fptrunc, LLVMFPTrunc);
  same(op::fpext, LLVMFPExt);
  same(op::bitcast, LLVMBitCast);
  using ip = llvm::int_predicate;
  same(ip::eq, LLVMIntEQ);
  same(ip::ne, LLVMIntNE);
  same(ip::ugt, LLVMIntUGT);
  same(ip::uge, LLVMIntUGE);
  same(ip::ult, LLVMIntULT);
  same(ip::ule, LLVMIntULE);
  same(ip::sgt, LLVMIntSGT);
  same(ip::sge, LLVMIntSGE);
  same(ip::slt, LLVMIntSLT);
  same(ip::sle, LLVMIntSLE);
  using rp = llvm::real_predicate;
  same(rp::oeq, LLVMRealOEQ);
  same(rp::ogt, LLVMRealOGT);
  same(rp::oge, LLVMRealOGE);
  same(rp::olt, LLVMRealOLT);
  same(rp::ole, LLVMRealOLE);
  same(rp::one, LLVMRealONE);
  same(rp::ord, LLVMRealORD);
  same(rp::uno, LLVMRealUNO);
  same(rp::ueq, LLVMRealUEQ);
  same(rp::ugt, LLVMRealUGT);
  same(rp::uge, LLVMRealUGE);
  same(rp::ult, LLVMRealULT);
  same(rp::ule, LLVMRealULE);
  same(rp::une, LLVMRealUNE);
  same(llvm::linkage_external, LLVMExternalLinkage);
  same(llvm::linkage_internal, LLVMInternalLinkage);
  same(llvm::linkage_private, LLVMPrivateLinkage);
  same(llvm::ordering_monotonic, LLVMAtomicOrderingMonotonic);
  same(llvm::verify_return_status, LLVMReturnStatusAction);
  same(llvm::codegen_none, LLVMCodeGenLevelNone);
  same(llvm::codegen_less, LLVMCodeGenLevelLess);
  same(llvm::codegen_default, LLVMCodeGenLevelDefault);
  same(llvm::reloc_pic, LLVMRelocPIC);
  same(llvm::code_model_small, LLVMCodeModelSmall);
  same(llvm::file_assembly, LLVMAssemblyFile);
  same(llvm::file_object, LLVMObjectFile);
  same(llvm::severity_error, LLVMDSError);
  CHECK(llvm::function_index == static_cast<unsigned>(LLVMAttributeFunctionIndex));
  CHECK(llvm::return_index == static_cast<unsigned>(LLVMAttributeReturnIndex));
}
#endif
