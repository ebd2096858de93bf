// Links code that was compiled in this process, by ORC, LLVM's own linker of code in memory.
//
// What it links can be seen: with TILEWRIGHT_DEBUG_JIT=1 debuggers know the functions of kernels, and perf
// finds them in /tmp/perf-PID.map. It trusts the object, which the loader (backend/loader.hpp) does not:
// stored code is the loader's.
#pragma once

#include <memory>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend {

/// Links an artifact, in tens of microseconds after the first time. Its memory is given back with the
/// last pointer to it. Any thread.
/// @throws build_error when no LLVM can be opened, when the object is for another architecture, or when
///         ORC refuses it
std::shared_ptr<const loaded> link(const artifact& a);

/// As `load`; by `link` where code shall be seen and LLVM can be opened.
std::shared_ptr<const loaded> load_stored(const artifact& a);

/// Whether TILEWRIGHT_DEBUG_JIT asked for code to be seen; read once.
bool shows_code();

}  // namespace tilewright::backend
