// A lowered function to machine code, through LLVM's C interface, which is opened at first use.
#pragma once

#include <string>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend {

/// Changes whenever equal IR may give other code or another entry ABI; part of every code cache
/// key.
inline constexpr int lowering_revision = 32;

/// Compiles a lowered function (form: pass/lower.hpp) for a CPU. Threads may compile at the same
/// time, and a fork waits until they have; nothing is kept between calls. Cost: 1 ms plus what the amount of code takes, mostly below
/// 10 ms.
/// @throws build_error when no LLVM can be opened (the text names what was tried and what to
/// install), or
///         when LLVM refuses the module
/// @throws argument_error when `lowered` still has blocks or uses what the CPU backend cannot do
artifact compile(const ir::function& lowered, const target::cpu& cpu);

/// Stages at which `inspect` prints.
enum class stage { llvm_ir, optimized_ir, assembly };

/// Text of the code that `compile` would make, for people and tests.
/// @throws as `compile`
std::string inspect(const ir::function& lowered, const target::cpu& cpu, stage at);

/// True when an LLVM library can be opened.
bool compiler_available();

/// Version of the LLVM in use, "19.1.7". Part of every code cache key.
/// @throws build_error when no LLVM can be opened
std::string compiler_version();

}  // namespace tilewright::backend
