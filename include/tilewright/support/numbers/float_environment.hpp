// The floating-point environment of the host program: rounding, flushing to zero, traps.
//
// A host may want a signal where its own arithmetic divides by zero. The library computes with
// made-up numbers, and compiled code computes lanes whose results nobody takes.
#pragma once

#include <cfenv>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// The default environment of this thread as long as the object lives: no traps, rounding to nearest,
/// denormal numbers as they are. Afterwards all is as before, flags included.
class default_float_environment {
 public:
  default_float_environment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_float_environment() { std::fesetenv(&before_); }
  default_float_environment(const default_float_environment&) = delete;
  default_float_environment& operator=(const default_float_environment&) = delete;

 private:
  std::fenv_t before_;
};

/// Keeps vector arithmetic of this thread from raising signals as long as the object lives; flags,
/// rounding and flushing are the host's. Two instructions where no trap is enabled.
class masked_float_traps {
 public:
#if TILEWRIGHT_X86
  masked_float_traps() : before_(__builtin_ia32_stmxcsr()) {
    if ((before_ & masks) != masks) __builtin_ia32_ldmxcsr(before_ | masks);
  }
  ~masked_float_traps() {
    if ((before_ & masks) != masks)
      __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~masks) | (before_ & masks));
  }
#else
  masked_float_traps() = default;
  ~masked_float_traps() = default;
#endif
  masked_float_traps(const masked_float_traps&) = delete;
  masked_float_traps& operator=(const masked_float_traps&) = delete;

 private:
#if TILEWRIGHT_X86
  static constexpr unsigned masks = 0x1f80;
  unsigned before_;
#endif
};

}  // namespace tilewright::support
