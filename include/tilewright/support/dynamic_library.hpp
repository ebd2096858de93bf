// Libraries that are opened at run time, so that nothing needs to be linked.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// A shared library opened from the first name that works. Stays open until destroyed.
class dynamic_library {
 public:
  /// What to open, and what to say when that fails.
  struct spec {
    std::string what;  // "LLVM": how messages call it
    std::string
        environment;  // variable that, when set and not empty, replaces `names` by its value
    std::vector<std::string> names;  // tried in order: "libLLVM-19.so.1"
    std::string advice;              // "install it with: apt-get install libllvm19"
  };

  /// @throws build_error with every name tried, the linker's reason, and the advice
  explicit dynamic_library(const spec& s);
  ~dynamic_library();
  dynamic_library(dynamic_library&& other) noexcept;
  dynamic_library& operator=(dynamic_library&& other) noexcept;
  dynamic_library(const dynamic_library&) = delete;
  dynamic_library& operator=(const dynamic_library&) = delete;

  /// The name that was opened.
  const std::string& name() const noexcept { return name_; }
  /// Address of a symbol, null when the library has none.
  void* find(const char* symbol) const noexcept;
  /// @throws build_error that names library and symbol
  void* get(const char* symbol) const;
  /// Fills a table of functions from the symbols `prefix` + name. The table's `visit(f)` calls
  /// f(name, slot) or f(name, slot, optional) for each of them; an optional one that the library
  /// lacks becomes null.
  /// @throws build_error that names library and symbol
  template <class Table>
  void fill(Table& table, const std::string& prefix) const {
    table.visit([&](const char* name, auto& slot, bool optional = false) {
      const std::string symbol = prefix + name;
      void* const address = optional ? find(symbol.c_str()) : get(symbol.c_str());
      slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(address);
    });
  }
  /// Leaves the library open for the rest of the process: some run threads or exit handlers of
  /// their own.
  void keep_open() noexcept { handle_ = nullptr; }

 private:
  void* handle_ = nullptr;
  void* symbols_ = nullptr;  // handle_, kept for look-ups after keep_open
  std::string what_;
  std::string name_;
};

}  // namespace tilewright::support
