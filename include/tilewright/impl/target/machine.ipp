#pragma once

#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::target {

TILEWRIGHT_INLINE std::string machine::isa_key() const {
  return gpu ? "nvidia:" + gpu->architecture : cpu->isa_key();
}

TILEWRIGHT_INLINE const std::string& machine::model() const {
  return gpu ? gpu->model : cpu->model;
}

TILEWRIGHT_INLINE bool machine::is_gpu(const std::string& isa_key) {
  return isa_key.rfind("nvidia:", 0) == 0;
}

}  // namespace tilewright::target
