// Where libLLVM is looked for; inline, so that a test can look elsewhere.
#pragma once

#include <tilewright/support/dynamic_library.hpp>

namespace tilewright::backend::llvm::detail {

inline support::dynamic_library::spec library_names() {
  return {"LLVM",
          "TILEWRIGHT_LLVM",
          {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "libLLVM.so.18.1",
           "libLLVM-18.so.1", "libLLVM-18.so", "libLLVM.so.20.1", "libLLVM-20.so.1",
           "libLLVM.so.21.1", "libLLVM-21.so.1", "libLLVM-17.so.1", "libLLVM-17.so"},
          "install version 17 to 21, for example with: apt-get install libllvm19; or set "
          "TILEWRIGHT_LLVM to the "
          "path of a libLLVM"};
}

}  // namespace tilewright::backend::llvm::detail
