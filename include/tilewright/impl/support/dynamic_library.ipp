#pragma once

#include <cstdlib>
#include <utility>

#include <dlfcn.h>

#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::support {

TILEWRIGHT_INLINE dynamic_library::dynamic_library(const spec& s) : what_(s.what) {
  const fork_pass inside;
  std::vector<std::string> names = s.names;
  const char* chosen = s.environment.empty() ? nullptr : std::getenv(s.environment.c_str());
  const bool overridden = chosen && *chosen;
  if (overridden) names = {chosen};
  std::string tried;
  for (const std::string& candidate : names) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = candidate;
      symbols_ = handle_;
      return;
    }
    const char* reason = dlerror();
    tried += "\n  " + candidate + ": " + (reason ? reason : "unknown reason");
  }
  std::string message = what_ + " cannot be opened";
  if (overridden) message += " (" + s.environment + " is set; unset it to try the usual names)";
  throw build_error(message + "; " + s.advice + "; tried:" + tried);
}

TILEWRIGHT_INLINE dynamic_library::~dynamic_library() {
  if (!handle_) return;
  const fork_pass inside;
  dlclose(handle_);
}

TILEWRIGHT_INLINE dynamic_library::dynamic_library(dynamic_library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      symbols_(std::exchange(other.symbols_, nullptr)),
      what_(std::move(other.what_)),
      name_(std::move(other.name_)) {}

TILEWRIGHT_INLINE dynamic_library& dynamic_library::operator=(dynamic_library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(symbols_, other.symbols_);
  std::swap(what_, other.what_);
  std::swap(name_, other.name_);
  return *this;
}

TILEWRIGHT_INLINE void* dynamic_library::find(const char* symbol) const noexcept {
  return symbols_ ? dlsym(symbols_, symbol) : nullptr;
}

TILEWRIGHT_INLINE void* dynamic_library::get(const char* symbol) const {
  if (void* address = find(symbol)) return address;
  throw build_error(what_ + " (" + name_ + ") has no function " + symbol +
                    "; its version is not supported");
}

}  // namespace tilewright::support
