// The part of LLVM's C interface for linking code in memory, ORC: prototypes and constants as in api.hpp,
// which are compared with the real headers, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/backend/llvm/api.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend::llvm {

using jit_ref = struct opaque_jit*;
using jit_builder_ref = struct opaque_jit_builder*;
using session_ref = struct opaque_session*;
using dylib_ref = struct opaque_dylib*;
using tracker_ref = struct opaque_tracker*;
using symbol_name_ref = struct opaque_symbol_name*;
using unit_ref = struct opaque_unit*;
using generator_ref = struct opaque_generator*;
using lookup_state_ref = struct opaque_lookup_state*;

/// LLVMJITSymbolFlags.
struct symbol_flags {
  std::uint8_t generic, target;
};
/// LLVMJITEvaluatedSymbol.
struct evaluated_symbol {
  std::uint64_t address;
  symbol_flags flags;
};
/// LLVMOrcCSymbolMapPair.
struct symbol_pair {
  symbol_name_ref name;
  evaluated_symbol symbol;
};
/// LLVMOrcCLookupSetElement.
struct lookup_element {
  symbol_name_ref name;
  int flags;
};
/// LLVMOrcCJITDylibSearchOrderElement.
struct search_element {
  dylib_ref dylib;
  int flags;
};
inline constexpr int lookup_static = 0, match_all_symbols = 1, required_symbol = 0;
inline constexpr std::uint8_t symbol_exported = 1, symbol_callable = 4;

using error_reporter = void (*)(void*, error_ref);
using lookup_result_handler = void (*)(error_ref, symbol_pair*, std::size_t, void*);
using generator_function = error_ref (*)(generator_ref, void*, lookup_state_ref*, int, dylib_ref,
                                         int, lookup_element*, std::size_t);
using generator_disposer = void (*)(void*);

/// Functions of libLLVM, named as there without the prefix LLVM.
struct orc_api {
  // NOLINTBEGIN(readability-identifier-naming): LLVM's own names
  error_ref (*OrcCreateLLJIT)(jit_ref*, jit_builder_ref) = nullptr;
  session_ref (*OrcLLJITGetExecutionSession)(jit_ref) = nullptr;
  error_ref (*OrcLLJITAddObjectFileWithRT)(jit_ref, tracker_ref, memory_ref) = nullptr;
  error_ref (*OrcLLJITEnableDebugSupport)(jit_ref) = nullptr;  // null before LLVM 18
  void (*OrcExecutionSessionSetErrorReporter)(session_ref, error_reporter, void*) = nullptr;
  symbol_name_ref (*OrcExecutionSessionIntern)(session_ref, const char*) = nullptr;
  void (*OrcExecutionSessionLookup)(session_ref, int, search_element*, std::size_t, lookup_element*,
                                    std::size_t, lookup_result_handler, void*) = nullptr;
  dylib_ref (*OrcExecutionSessionCreateBareJITDylib)(session_ref, const char*) = nullptr;
  const char* (*OrcSymbolStringPoolEntryStr)(symbol_name_ref) = nullptr;
  void (*OrcRetainSymbolStringPoolEntry)(symbol_name_ref) = nullptr;
  tracker_ref (*OrcJITDylibCreateResourceTracker)(dylib_ref) = nullptr;
  void (*OrcReleaseResourceTracker)(tracker_ref) = nullptr;
  error_ref (*OrcResourceTrackerRemove)(tracker_ref) = nullptr;
  error_ref (*OrcJITDylibClear)(dylib_ref) = nullptr;
  error_ref (*OrcJITDylibDefine)(dylib_ref, unit_ref) = nullptr;
  unit_ref (*OrcAbsoluteSymbols)(symbol_pair*, std::size_t) = nullptr;
  generator_ref (*OrcCreateCustomCAPIDefinitionGenerator)(generator_function, void*,
                                                          generator_disposer) = nullptr;
  void (*OrcJITDylibAddGenerator)(dylib_ref, generator_ref) = nullptr;
  memory_ref (*CreateMemoryBufferWithMemoryRangeCopy)(const char*, std::size_t,
                                                      const char*) = nullptr;
  char* (*GetErrorMessage)(error_ref) = nullptr;
  void (*DisposeErrorMessage)(char*) = nullptr;
  void (*ConsumeError)(error_ref) = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// As api::visit.
  template <class F>
  void visit(F&& f) {
    f("OrcCreateLLJIT", OrcCreateLLJIT);
    f("OrcLLJITGetExecutionSession", OrcLLJITGetExecutionSession);
    f("OrcLLJITAddObjectFileWithRT", OrcLLJITAddObjectFileWithRT);
    f("OrcLLJITEnableDebugSupport", OrcLLJITEnableDebugSupport, true);
    f("OrcExecutionSessionSetErrorReporter", OrcExecutionSessionSetErrorReporter);
    f("OrcExecutionSessionIntern", OrcExecutionSessionIntern);
    f("OrcExecutionSessionLookup", OrcExecutionSessionLookup);
    f("OrcExecutionSessionCreateBareJITDylib", OrcExecutionSessionCreateBareJITDylib);
    f("OrcSymbolStringPoolEntryStr", OrcSymbolStringPoolEntryStr);
    f("OrcRetainSymbolStringPoolEntry", OrcRetainSymbolStringPoolEntry);
    f("OrcJITDylibCreateResourceTracker", OrcJITDylibCreateResourceTracker);
    f("OrcReleaseResourceTracker", OrcReleaseResourceTracker);
    f("OrcResourceTrackerRemove", OrcResourceTrackerRemove);
    f("OrcJITDylibClear", OrcJITDylibClear);
    f("OrcJITDylibDefine", OrcJITDylibDefine);
    f("OrcAbsoluteSymbols", OrcAbsoluteSymbols);
    f("OrcCreateCustomCAPIDefinitionGenerator", OrcCreateCustomCAPIDefinitionGenerator);
    f("OrcJITDylibAddGenerator", OrcJITDylibAddGenerator);
    f("CreateMemoryBufferWithMemoryRangeCopy", CreateMemoryBufferWithMemoryRangeCopy);
    f("GetErrorMessage", GetErrorMessage);
    f("DisposeErrorMessage", DisposeErrorMessage);
    f("ConsumeError", ConsumeError);
  }
};

/// The table of the process, of the library that `library` opens.
/// @throws as `library`
const orc_api& orc();

}  // namespace tilewright::backend::llvm
