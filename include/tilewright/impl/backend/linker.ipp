#pragma once

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/llvm/orc_api.hpp>
#include <tilewright/impl/backend/elf.hpp>
#include <tilewright/impl/backend/foreign_code.hpp>
#include <tilewright/impl/backend/llvm/library_names.hpp>
#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend {
namespace llvm {
namespace detail {

inline orc_api open_orc() {
  library();  // which checks the version
  support::dynamic_library opened(library_names());
  orc_api table;
  opened.fill(table, "LLVM");
  // ORC looks for what tells debuggers about code as the linker of programs does
  if (backend::shows_code()) ::dlopen(opened.name().c_str(), RTLD_NOW | RTLD_GLOBAL);
  opened.keep_open();
  return table;
}

}  // namespace detail

TILEWRIGHT_INLINE const orc_api& orc() {
  const support::fork_pass inside;
  static const orc_api table = detail::open_orc();
  return table;
}

}  // namespace llvm

namespace detail::linking {

using llvm::orc_api;

/// Takes an error over. @throws build_error where it is one
inline void check(const orc_api& c, llvm::error_ref failed, const char* what) {
  if (!failed) return;
  char* text = c.GetErrorMessage(failed);
  const std::string message = text;
  c.DisposeErrorMessage(text);
  throw build_error(std::string("object code cannot be ") + what + ": " + message);
}

/// Tells a library of kernels, which is being linked, where the functions of C are.
inline llvm::error_ref find_externals(llvm::generator_ref, void*, llvm::lookup_state_ref*, int,
                                      llvm::dylib_ref to, int, llvm::lookup_element* wanted,
                                      std::size_t count) {
  const orc_api& c = llvm::orc();
  std::vector<llvm::symbol_pair> found;
  for (std::size_t i = 0; i < count; ++i) {
    void* const address = external_symbol(c.OrcSymbolStringPoolEntryStr(wanted[i].name));
    if (!address) continue;
    c.OrcRetainSymbolStringPoolEntry(wanted[i].name);
    found.push_back({wanted[i].name,
                     {reinterpret_cast<std::uint64_t>(address),
                      {llvm::symbol_exported | llvm::symbol_callable, 0}}});
  }
  if (found.empty()) return nullptr;
  return c.OrcJITDylibDefine(to, c.OrcAbsoluteSymbols(found.data(), found.size()));
}

/// What a lookup finds. ORC hands work that waits to whichever thread asks next, so another thread that
/// links may finish this lookup after the call that began it has returned.
class answer {
 public:
  static void take(llvm::error_ref failed, llvm::symbol_pair* found, std::size_t count, void* to) {
    auto* self = static_cast<answer*>(to);
    const std::lock_guard lock(self->mutex_);
    self->failed_ = failed;
    if (!failed && count == 1) self->address_ = found[0].symbol.address;
    self->there_ = true;
    // under the lock: the answer may be gone as soon as the lock is free
    self->changed_.notify_one();
  }

  /// Waits for the answer. Whoever finishes the lookup is inside of the fork gate already, so a fork that
  /// waits for this thread does not hold that one up.
  std::uint64_t address(const orc_api& c) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return there_; });
    check(c, failed_, "linked");
    return address_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t address_ = 0;
  llvm::error_ref failed_ = nullptr;
  bool there_ = false;
};

/// The linker of the process. Kernels have equal names, so each that is alive has a library of its
/// own; libraries cannot be removed, and are used again.
class session {
 public:
  session() {
    check(c_, c_.OrcCreateLLJIT(&jit_, nullptr), "linked, since ORC does not start");
    orc_ = c_.OrcLLJITGetExecutionSession(jit_);
    // errors come back from the calls: nothing is printed
    c_.OrcExecutionSessionSetErrorReporter(
        orc_,
        [](void* table, llvm::error_ref e) { static_cast<const orc_api*>(table)->ConsumeError(e); },
        const_cast<orc_api*>(&c_));
    if (shows_code() && c_.OrcLLJITEnableDebugSupport)
      check(c_, c_.OrcLLJITEnableDebugSupport(jit_), "shown to debuggers");
  }

  /// Never destroyed: kernels may be freed by the last destructors of the program.
  static session& shared() {
    const support::fork_pass inside;
    static session& out = *new session;
    return out;
  }

  /// A library, and what was put into it.
  class kernel {
   public:
    explicit kernel(session& s) : s_(s), library_(s.take()) {}
    ~kernel() {
      const support::fork_pass inside;
      if (tracker_) {
        s_.c_.ConsumeError(s_.c_.OrcResourceTrackerRemove(tracker_));
        s_.c_.OrcReleaseResourceTracker(tracker_);
      }
      s_.c_.ConsumeError(s_.c_.OrcJITDylibClear(library_));  // addresses of externals
      s_.give_back(library_);
    }
    kernel(const kernel&) = delete;
    kernel& operator=(const kernel&) = delete;

    void add(const artifact& a) {
      const orc_api& c = s_.c_;
      tracker_ = c.OrcJITDylibCreateResourceTracker(library_);
      const auto* bytes = reinterpret_cast<const char*>(a.object.data());
      check(c,
            c.OrcLLJITAddObjectFileWithRT(
                s_.jit_, tracker_,
                c.CreateMemoryBufferWithMemoryRangeCopy(bytes, a.object.size(), a.symbol.c_str())),
            "added");
    }

    std::uint64_t address(const std::string& symbol) const {
      answer out;
      llvm::search_element where{library_, llvm::match_all_symbols};
      llvm::lookup_element what{s_.c_.OrcExecutionSessionIntern(s_.orc_, symbol.c_str()),
                                llvm::required_symbol};
      s_.c_.OrcExecutionSessionLookup(s_.orc_, llvm::lookup_static, &where, 1, &what, 1,
                                      &answer::take, &out);
      return out.address(s_.c_);
    }

   private:
    session& s_;
    llvm::dylib_ref library_;
    llvm::tracker_ref tracker_ = nullptr;
  };

 private:
  llvm::dylib_ref take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const llvm::dylib_ref out = free_.back();
      free_.pop_back();
      return out;
    }
    const std::string name = "kernel" + std::to_string(made_++);
    const llvm::dylib_ref out = c_.OrcExecutionSessionCreateBareJITDylib(orc_, name.c_str());
    c_.OrcJITDylibAddGenerator(
        out, c_.OrcCreateCustomCAPIDefinitionGenerator(&find_externals, nullptr, nullptr));
    return out;
  }
  void give_back(llvm::dylib_ref one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(one);
  }

  const orc_api& c_ = llvm::orc();
  llvm::jit_ref jit_ = nullptr;
  llvm::session_ref orc_ = nullptr;
  std::mutex mutex_;  // under a fork_pass
  std::vector<llvm::dylib_ref> free_;
  std::size_t made_ = 0;
};

/// Functions of an object, and how large its code and constants are.
struct contents {
  std::vector<std::pair<std::string, elf::symbol_entry>> functions;
  std::size_t bytes = 0;
};

inline contents contents_of(const artifact& a) {
  constexpr unsigned kind_function = 2;
  const elf::reader object(a.object.data(), a.object.size());
  contents out;
  for (const elf::section_header& s : object.sections()) {
    if (s.flags & elf::flag_alloc) out.bytes += static_cast<std::size_t>(s.size);
    if (s.type != elf::section_symtab) continue;
    for (const elf::symbol_entry& e : object.entries<elf::symbol_entry>(s))
      if ((e.info & 15u) == kind_function)
        out.functions.emplace_back(object.string(s.link, e.name), e);
  }
  return out;
}

/// Lines for perf: address, size and name of each function beside the entry. Pages of code that was
/// freed may come again: the last line about an address is the one that counts.
inline void tell_perf(const contents& object, const artifact& a, std::uint64_t begin) {
  const elf::symbol_entry* known = nullptr;
  for (const auto& [name, symbol] : object.functions)
    if (name == a.symbol) known = &symbol;
  if (!known) return;
  std::ofstream map("/tmp/perf-" + std::to_string(::getpid()) + ".map", std::ios::app);
  for (const auto& [name, symbol] : object.functions)
    if (symbol.section == known->section)
      map << std::hex << begin + symbol.value - known->value << ' ' << symbol.size << ' ' << name
          << '\n';
}

}  // namespace detail::linking

TILEWRIGHT_INLINE bool shows_code() {
  const support::fork_pass inside;
  static const bool out = [] {
    const char* asked = std::getenv("TILEWRIGHT_DEBUG_JIT");
    return asked && *asked && std::strcmp(asked, "0") != 0;
  }();
  return out;
}

TILEWRIGHT_INLINE std::shared_ptr<const loaded> link(const artifact& a) {
  namespace l = detail::linking;
  const support::fork_pass inside;
  detail::check_machine(a);
  const l::contents object = l::contents_of(a);
  const auto kernel = std::make_shared<l::session::kernel>(l::session::shared());
  kernel->add(a);
  const std::uint64_t begin = kernel->address(a.symbol);
  if (shows_code()) l::tell_perf(object, a, begin);
  std::shared_ptr<loaded> out(new loaded);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): ORC gives addresses as numbers
  out->entry_ = reinterpret_cast<backend::entry>(begin);
  out->code_bytes_ = object.bytes;
  out->workspace_bytes_ = a.workspace_bytes;
  out->packed_bytes_ = a.packed_bytes;
  if (!a.preparation.empty()) out->preparation_ = link(a.preparation.front());
  out->linked_ = kernel;
  return out;
}

TILEWRIGHT_INLINE std::shared_ptr<const loaded> load_stored(const artifact& a) {
  return shows_code() && compiler_available() ? link(a) : load(a);
}

}  // namespace tilewright::backend
