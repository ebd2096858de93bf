// Prototypes of LLVM's headers in the words of the library's own tables.
#pragma once

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <type_traits>

#include <tilewright/backend/llvm/api.hpp>

namespace prototypes {

namespace llvm = tilewright::backend::llvm;

/// What a type of the real headers is called in the table.
template <class T>
struct ours {
  using type = T;
};
template <>
struct ours<LLVMContextRef> {
  using type = llvm::context_ref;
};
template <>
struct ours<LLVMModuleRef> {
  using type = llvm::module_ref;
};
template <>
struct ours<LLVMTypeRef> {
  using type = llvm::type_ref;
};
template <>
struct ours<LLVMValueRef> {
  using type = llvm::value_ref;
};
template <>
struct ours<LLVMBasicBlockRef> {
  using type = llvm::block_ref;
};
template <>
struct ours<LLVMBuilderRef> {
  using type = llvm::builder_ref;
};
template <>
struct ours<LLVMAttributeRef> {
  using type = llvm::attribute_ref;
};
template <>
struct ours<LLVMMetadataRef> {
  using type = llvm::metadata_ref;
};
template <>
struct ours<LLVMTargetRef> {
  using type = llvm::target_ref;
};
template <>
struct ours<LLVMTargetMachineRef> {
  using type = llvm::machine_ref;
};
template <>
struct ours<LLVMTargetDataRef> {
  using type = llvm::layout_ref;
};
template <>
struct ours<LLVMMemoryBufferRef> {
  using type = llvm::memory_ref;
};
template <>
struct ours<LLVMErrorRef> {
  using type = llvm::error_ref;
};
template <>
struct ours<LLVMPassBuilderOptionsRef> {
  using type = llvm::pass_options_ref;
};
template <>
struct ours<LLVMDiagnosticInfoRef> {
  using type = llvm::diagnostic_ref;
};
template <>
struct ours<LLVMDiagnosticHandler> {
  using type = llvm::diagnostic_handler;
};

template <class T>
struct translated {
  static auto pick() {
    if constexpr (std::is_enum_v<T>) {
      static_assert(sizeof(T) == sizeof(int));
      return std::type_identity<int>{};
    } else {
      return std::type_identity<typename ours<T>::type>{};
    }
  }
  using type = typename decltype(pick())::type;
};
template <class T>
requires(!std::is_same_v<typename ours<T*>::type, T*>) struct translated<T*> {
  using type = typename ours<T*>::type;
};
template <class T>
requires(std::is_same_v<typename ours<T*>::type, T*> &&
         !std::is_function_v<T>) struct translated<T*> {
  using type = typename translated<T>::type*;
};
template <class T>
struct translated<const T> {
  using type = const typename translated<T>::type;
};
template <class R, class... A>
struct translated<R(A...)> {
  using type = typename translated<R>::type (*)(typename translated<A>::type...);
};

}  // namespace prototypes
