#pragma once

#include <cstring>

#include <sys/utsname.h>

#include <tilewright/config.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::target {

TILEWRIGHT_INLINE std::string_view name(architecture a) noexcept {
  switch (a) {
    case architecture::x86_64: return "x86-64";
    case architecture::aarch64: return "aarch64";
    case architecture::other: break;
  }
  return "other";
}

TILEWRIGHT_INLINE architecture architecture_of(const cpu& c) {
  return c.has("neon") ? architecture::aarch64 : architecture::x86_64;
}

TILEWRIGHT_INLINE architecture host_architecture() {
#if TILEWRIGHT_X86
  return architecture::x86_64;
#else
  utsname about{};
  if (::uname(&about) == 0 && std::strcmp(about.machine, "aarch64") == 0)
    return architecture::aarch64;
  return architecture::other;
#endif
}

TILEWRIGHT_INLINE bool has_fixed_sve(const cpu& c) { return c.vector_bits > 128 && c.has("sve"); }

}  // namespace tilewright::target
