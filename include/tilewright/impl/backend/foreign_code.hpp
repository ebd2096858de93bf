// Code for other machines than this one.
#pragma once

#include <string>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/backend/elf.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>

namespace tilewright::backend::detail {

/// Refuses code of another architecture, by name.
inline void check_machine(const artifact& a) {
  const elf::reader object(a.object.data(), a.object.size());
  const target::architecture code = object.machine() == elf::machine_aarch64
                                        ? target::architecture::aarch64
                                        : target::architecture::x86_64;
  const target::architecture here = target::host_architecture();
  if (code == here) return;
  throw build_error("object code is for " + std::string(target::name(code)) +
                    ", and this machine is " + std::string(target::name(here)) +
                    "; a worker on a machine of that architecture runs it");
}

}  // namespace tilewright::backend::detail
