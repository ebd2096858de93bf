#pragma once

#include <memory>
#include <string>
#include <utility>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/llvm/api.hpp>
#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend {
namespace detail::compile_parts {

inline constexpr const char* triple = "x86_64-unknown-linux-gnu";
inline constexpr const char* pipeline = "function(sroa,early-cse)";

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
  explicit machine(const llvm::api& api) : c(api) {
    llvm::target_ref target = nullptr;
    char* error = nullptr;
    if (c.GetTargetFromTriple(triple, &target, &error))
      throw build_error("this LLVM has no x86-64 code generator: " + take_message(c, error));
    if (error) c.DisposeMessage(error);
    // Features and CPU stand on each function; the level is "less": faster to compile, equal code
    // (see the design).
    handle = c.CreateTargetMachine(target, triple, "x86-64", "", llvm::codegen_less,
                                   llvm::reloc_pic, llvm::code_model_small);
    if (!handle) throw build_error("LLVM made no target machine for x86-64");
  }
  ~machine() { c.DisposeTargetMachine(handle); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void prepare(llvm::module_ref module) const {
    const llvm::layout_ref layout = c.CreateTargetDataLayout(handle);
    char* text = c.CopyStringRepOfTargetData(layout);
    c.SetDataLayout(module, text);
    c.SetTarget(module, triple);
    c.DisposeMessage(text);
    c.DisposeTargetData(layout);
  }

  void optimize(llvm::module_ref module) const {
    const llvm::pass_options_ref options = c.CreatePassBuilderOptions();
    const llvm::error_ref failure = c.RunPasses(module, pipeline, handle, options);
    c.DisposePassBuilderOptions(options);
    if (!failure) return;
    char* text = c.GetErrorMessage(failure);
    const std::string message = text;
    c.DisposeErrorMessage(text);
    throw build_error("LLVM's pass pipeline failed: " + message);
  }

  std::string generate(llvm::module_ref module, int file_kind) const {
    char* error = nullptr;
    llvm::memory_ref buffer = nullptr;
    if (c.TargetMachineEmitToMemoryBuffer(handle, module, file_kind, &error, &buffer))
      throw build_error("LLVM's code generator failed: " + take_message(c, error));
    std::string out(c.GetBufferStart(buffer), c.GetBufferSize(buffer));
    c.DisposeMemoryBuffer(buffer);
    return out;
  }

 private:
  const llvm::api& c;
  llvm::machine_ref handle = nullptr;
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

}  // namespace detail::compile_parts

TILEWRIGHT_INLINE artifact compile(const ir::function& lowered, const target::cpu& cpu) {
  namespace p = detail::compile_parts;
  const support::fork_pass inside;
  artifact out;
  out.symbol = p::symbol_of(lowered);
  out.isa = cpu.isa_key();
  out.workspace_bytes = p::workspace_of(lowered);
  llvm::builder b(cpu, lowered.name);
  const p::machine machine(b.c);
  machine.prepare(b.module);
  llvm::emitter(b, lowered, out.symbol).run();
  p::check(b);
  machine.optimize(b.module);
  const std::string object = machine.generate(b.module, llvm::file_object);
  const auto* bytes = reinterpret_cast<const std::byte*>(object.data());
  out.object.assign(bytes, bytes + object.size());
  return out;
}

TILEWRIGHT_INLINE std::string inspect(const ir::function& lowered, const target::cpu& cpu,
                                      stage at) {
  namespace p = detail::compile_parts;
  const support::fork_pass inside;
  llvm::builder b(cpu, lowered.name);
  const p::machine machine(b.c);
  machine.prepare(b.module);
  llvm::emitter(b, lowered, p::symbol_of(lowered)).run();
  if (at == stage::llvm_ir) return b.print();
  p::check(b);
  machine.optimize(b.module);
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
