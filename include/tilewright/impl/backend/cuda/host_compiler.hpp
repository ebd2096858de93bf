// The machine's C++ compiler, as a program that makes a shared library from text.
#pragma once

#include <string>

namespace tilewright::backend::cuda::detail {

/// The compiler's path, from TILEWRIGHT_CXX or the first of c++, g++ and clang++ on PATH; empty when
/// there is none.
std::string host_compiler();

/// A handle of dlopen on the text compiled.
/// @throws build_error with what the compiler said
void* compile_on_host(const std::string& text);

}  // namespace tilewright::backend::cuda::detail
