// What a compilation of a lowered function consists of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/llvm/api.hpp>
#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/triple.hpp>
#include <tilewright/impl/backend/scalar_loops.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend::detail::compile_parts {

/// Local buffers become registers, what stores to other memory do not change is loaded once, and what loops load
/// again and again leaves them. Loops that nobody gave vectors are LLVM's to vectorize where most of the work is theirs.
inline const char* pipeline_of(const ir::function& lowered) {
  return scalar_loops::dominate(lowered)
             ? "function(sroa,early-cse<memssa>,loop-mssa(licm),loop-vectorize)"
             : "function(sroa,early-cse<memssa>,loop-mssa(licm))";
}

/// Takes a message of LLVM over and frees it.
inline std::string take_message(const llvm::api& c, char* text) {
  if (!text) return {};
  std::string out = text;
  c.DisposeMessage(text);
  return out;
}

/// A target machine of its own per compilation: it keeps caches and is not safe to share.
class machine {
 public:
  /// @param level of the code generator: llvm::codegen_less, or another of backend/llvm/api.hpp
  machine(const llvm::api& api, int level, const target::cpu& cpu)
      : c_(api), triple_(llvm::triple_of(cpu)) {
    const std::string which(target::name(target::architecture_of(cpu)));
    llvm::target_ref target = nullptr;
    char* error = nullptr;
    if (c_.GetTargetFromTriple(triple_, &target, &error))
      throw build_error("this LLVM has no code generator for " + which + ": " +
                        take_message(c_, error));
    if (error) c_.DisposeMessage(error);
    // features and CPU stand on each function
    handle_ = c_.CreateTargetMachine(target, triple_, llvm::base_cpu(cpu), "", level,
                                     llvm::reloc_pic, llvm::code_model_small);
    if (!handle_) throw build_error("LLVM made no target machine for " + which);
  }
  ~machine() { c_.DisposeTargetMachine(handle_); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void prepare(llvm::module_ref module) const {
    const llvm::layout_ref layout = c_.CreateTargetDataLayout(handle_);
    char* text = c_.CopyStringRepOfTargetData(layout);
    c_.SetDataLayout(module, text);
    c_.SetTarget(module, triple_);
    c_.DisposeMessage(text);
    c_.DisposeTargetData(layout);
  }

  void optimize(llvm::module_ref module, const char* pipeline) const {
    const llvm::pass_options_ref options = c_.CreatePassBuilderOptions();
    const llvm::error_ref failure = c_.RunPasses(module, pipeline, handle_, options);
    c_.DisposePassBuilderOptions(options);
    if (!failure) return;
    char* text = c_.GetErrorMessage(failure);
    const std::string message = text;
    c_.DisposeErrorMessage(text);
    throw build_error("LLVM's pass pipeline failed: " + message);
  }

  std::string generate(llvm::module_ref module, int file_kind) const {
    char* error = nullptr;
    llvm::memory_ref buffer = nullptr;
    if (c_.TargetMachineEmitToMemoryBuffer(handle_, module, file_kind, &error, &buffer))
      throw build_error("LLVM's code generator failed: " + take_message(c_, error));
    std::string out(c_.GetBufferStart(buffer), c_.GetBufferSize(buffer));
    c_.DisposeMemoryBuffer(buffer);
    return out;
  }

 private:
  const llvm::api& c_;
  const char* triple_;
  llvm::machine_ref handle_ = nullptr;
};

/// Entry name of a function: its own name, reduced to what every tool prints plainly.
inline std::string symbol_of(const ir::function& f) {
  std::string out = "tilewright_";
  for (char c : f.name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

inline void check(const llvm::builder& b) {
  char* text = nullptr;
  const bool broken = b.c.VerifyModule(b.module, llvm::verify_return_status, &text) != 0;
  const std::string message = take_message(b.c, text);
  if (broken) throw internal_error("the CPU backend made a module that LLVM refuses: " + message);
}

inline std::int64_t workspace_of(const ir::function& f) {
  const auto found = f.attrs.find("tilewright.workspace_bytes");
  if (found == f.attrs.end()) return 0;
  const auto* number = std::get_if<std::int64_t>(&found->second.value);
  return number ? *number : 0;
}

/// As backend::compile, by a code generator of the given level: llvm::codegen_less is the one that makes
/// what is measured, since higher levels take longer and give equal code; llvm::codegen_none is for checks
/// that run a program once.
inline artifact compile_at(int level, const ir::function& lowered, const target::cpu& cpu) {
  const support::fork_pass inside;
  artifact out;
  out.symbol = symbol_of(lowered);
  out.isa = cpu.isa_key();
  out.workspace_bytes = workspace_of(lowered);
  llvm::builder b(cpu, lowered.name);
  const machine made(b.c, level, cpu);
  made.prepare(b.module);
  llvm::emitter(b, lowered, out.symbol).run();
  check(b);
  made.optimize(b.module, pipeline_of(lowered));
  const std::string object = made.generate(b.module, llvm::file_object);
  const auto* bytes = reinterpret_cast<const std::byte*>(object.data());
  out.object.assign(bytes, bytes + object.size());
  return out;
}

}  // namespace tilewright::backend::detail::compile_parts
