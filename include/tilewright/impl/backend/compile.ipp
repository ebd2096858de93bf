#pragma once

#include <string>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/compile_parts.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend {

TILEWRIGHT_INLINE artifact compile(const ir::function& lowered, const target::cpu& cpu) {
  return detail::compile_parts::compile_at(llvm::codegen_less, lowered, cpu);
}

TILEWRIGHT_INLINE std::string inspect(const ir::function& lowered, const target::cpu& cpu,
                                      stage at) {
  namespace p = detail::compile_parts;
  const support::fork_pass inside;
  llvm::builder b(cpu, lowered.name);
  const p::machine machine(b.c, llvm::codegen_less, cpu);
  machine.prepare(b.module);
  llvm::emitter(b, lowered, p::symbol_of(lowered)).run();
  if (at == stage::llvm_ir) return b.print();
  p::check(b);
  machine.optimize(b.module, p::pipeline_of(lowered));
  return at == stage::optimized_ir ? b.print() : machine.generate(b.module, llvm::file_assembly);
}

TILEWRIGHT_INLINE bool compiler_available() {
  try {
    llvm::library();
    return true;
  } catch (const build_error&) {
    return false;
  }
}

TILEWRIGHT_INLINE std::string compiler_version() { return llvm::version(); }

}  // namespace tilewright::backend
