#pragma once

#include <memory>
#include <string>

#include <tilewright/backend/llvm/api.hpp>
#include <tilewright/impl/backend/llvm/library_names.hpp>
#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::llvm {
namespace detail {

inline std::string version_of(const api& a) {
  unsigned major = 0, minor = 0, patch = 0;
  a.GetVersion(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

inline api open_library() {
  support::dynamic_library opened(library_names());
  api table;
  table.GetVersion = reinterpret_cast<decltype(table.GetVersion)>(opened.get("LLVMGetVersion"));
  unsigned major = 0, minor = 0, patch = 0;
  table.GetVersion(&major, &minor, &patch);
  if (major < 17 || major > 21)
    throw build_error(
        "LLVM " + version_of(table) + " (" + opened.name() +
        ") is not supported; install version 17 to 21 or point TILEWRIGHT_LLVM to one");
  opened.fill(table, "LLVM");
  for (auto* initialize : {table.InitializeX86TargetInfo, table.InitializeX86Target,
                           table.InitializeX86TargetMC, table.InitializeX86AsmPrinter,
                           table.InitializeAArch64TargetInfo, table.InitializeAArch64Target,
                           table.InitializeAArch64TargetMC, table.InitializeAArch64AsmPrinter})
    if (initialize) initialize();
  // LLVM registers exit handlers of its own: it must never be unmapped.
  opened.keep_open();
  return table;
}

}  // namespace detail

TILEWRIGHT_INLINE const api& library() {
  const support::fork_pass inside;
  static const api table = detail::open_library();
  return table;
}

TILEWRIGHT_INLINE std::string version() {
  const support::fork_pass inside;
  return detail::version_of(library());
}

}  // namespace tilewright::backend::llvm
