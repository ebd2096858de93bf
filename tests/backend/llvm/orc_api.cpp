#include <tilewright/backend/llvm/orc_api.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <tilewright/backend/compile.hpp>

using namespace tilewright;
namespace llvm = tilewright::backend::llvm;

TEST_CASE("ORC is part of the library that is opened") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library here");
    return;
  }
  const bool there = llvm::orc().OrcCreateLLJIT != nullptr;
  CHECK(there);
}

#if __has_include(<llvm-c/LLJITUtils.h>)
#include <llvm-c/LLJIT.h>
#include <llvm-c/LLJITUtils.h>
#include <llvm-c/Orc.h>

#include "prototypes.hpp"

namespace prototypes {
template <>
struct ours<LLVMOrcLLJITRef> {
  using type = llvm::jit_ref;
};
template <>
struct ours<LLVMOrcLLJITBuilderRef> {
  using type = llvm::jit_builder_ref;
};
template <>
struct ours<LLVMOrcExecutionSessionRef> {
  using type = llvm::session_ref;
};
template <>
struct ours<LLVMOrcJITDylibRef> {
  using type = llvm::dylib_ref;
};
template <>
struct ours<LLVMOrcResourceTrackerRef> {
  using type = llvm::tracker_ref;
};
template <>
struct ours<LLVMOrcSymbolStringPoolEntryRef> {
  using type = llvm::symbol_name_ref;
};
template <>
struct ours<LLVMOrcMaterializationUnitRef> {
  using type = llvm::unit_ref;
};
template <>
struct ours<LLVMOrcDefinitionGeneratorRef> {
  using type = llvm::generator_ref;
};
template <>
struct ours<LLVMOrcLookupStateRef> {
  using type = llvm::lookup_state_ref;
};
template <>
struct ours<LLVMOrcCSymbolMapPair> {
  using type = llvm::symbol_pair;
};
template <>
struct ours<LLVMOrcCLookupSetElement> {
  using type = llvm::lookup_element;
};
template <>
struct ours<LLVMOrcCJITDylibSearchOrderElement> {
  using type = llvm::search_element;
};
template <>
struct ours<LLVMOrcErrorReporterFunction> {
  using type = llvm::error_reporter;
};
template <>
struct ours<LLVMOrcExecutionSessionLookupHandleResultFunction> {
  using type = llvm::lookup_result_handler;
};
template <>
struct ours<LLVMOrcCAPIDefinitionGeneratorTryToGenerateFunction> {
  using type = llvm::generator_function;
};
template <>
struct ours<LLVMOrcDisposeCAPIDefinitionGeneratorFunction> {
  using type = llvm::generator_disposer;
};
}  // namespace prototypes

using prototypes::translated;

#define SAME(name)                                                                           \
  static_assert(                                                                             \
      std::is_same_v<decltype(llvm::orc_api::name), translated<decltype(LLVM##name)>::type>, \
      #name);                                                                                \
  checked.insert(#name)

TEST_CASE("every prototype of ORC's table is that of the real headers") {
  std::set<std::string> checked;
  SAME(OrcCreateLLJIT);
  SAME(OrcLLJITGetExecutionSession);
  SAME(OrcLLJITAddObjectFileWithRT);
  SAME(OrcLLJITEnableDebugSupport);
  SAME(OrcExecutionSessionSetErrorReporter);
  SAME(OrcExecutionSessionIntern);
  SAME(OrcExecutionSessionLookup);
  SAME(OrcExecutionSessionCreateBareJITDylib);
  SAME(OrcSymbolStringPoolEntryStr);
  SAME(OrcRetainSymbolStringPoolEntry);
  SAME(OrcJITDylibCreateResourceTracker);
  SAME(OrcReleaseResourceTracker);
  SAME(OrcResourceTrackerRemove);
  SAME(OrcJITDylibClear);
  SAME(OrcJITDylibDefine);
  SAME(OrcAbsoluteSymbols);
  SAME(OrcCreateCustomCAPIDefinitionGenerator);
  SAME(OrcJITDylibAddGenerator);
  SAME(CreateMemoryBufferWithMemoryRangeCopy);
  SAME(GetErrorMessage);
  SAME(DisposeErrorMessage);
  SAME(ConsumeError);
  std::set<std::string> table;
  llvm::orc_api{}.visit([&](const char* name, const auto&, bool = false) { table.insert(name); });
  CHECK(checked == table);
}

TEST_CASE("structures and constants of ORC's table are those of the real headers") {
  static_assert(sizeof(llvm::symbol_pair) == sizeof(LLVMOrcCSymbolMapPair));
  static_assert(offsetof(llvm::symbol_pair, symbol) == offsetof(LLVMOrcCSymbolMapPair, Sym));
  static_assert(sizeof(llvm::evaluated_symbol) == sizeof(LLVMJITEvaluatedSymbol));
  static_assert(offsetof(llvm::evaluated_symbol, flags) == offsetof(LLVMJITEvaluatedSymbol, Flags));
  static_assert(offsetof(llvm::symbol_flags, target) == offsetof(LLVMJITSymbolFlags, TargetFlags));
  static_assert(sizeof(llvm::lookup_element) == sizeof(LLVMOrcCLookupSetElement));
  static_assert(offsetof(llvm::lookup_element, flags) ==
                offsetof(LLVMOrcCLookupSetElement, LookupFlags));
  static_assert(sizeof(llvm::search_element) == sizeof(LLVMOrcCJITDylibSearchOrderElement));
  static_assert(offsetof(llvm::search_element, flags) ==
                offsetof(LLVMOrcCJITDylibSearchOrderElement, JDLookupFlags));
  CHECK(llvm::lookup_static == LLVMOrcLookupKindStatic);
  CHECK(llvm::match_all_symbols == LLVMOrcJITDylibLookupFlagsMatchAllSymbols);
  CHECK(llvm::required_symbol == LLVMOrcSymbolLookupFlagsRequiredSymbol);
  CHECK(llvm::symbol_exported == LLVMJITSymbolGenericFlagsExported);
  CHECK(llvm::symbol_callable == LLVMJITSymbolGenericFlagsCallable);
}
#endif
