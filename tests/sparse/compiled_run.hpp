// Machine code of a lowered program, run on arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/target/cpu.hpp>

namespace compiled_run {

using namespace tilewright;

/// @param data  one array for each parameter
inline void run_compiled(const ir::function& f, const target::cpu& cpu,
                         const std::vector<void*>& data) {
  const auto code = backend::load(backend::compile(pass::lower(f, cpu), cpu));
  std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
  auto* start = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64);
  const backend::call c{data.data(), nullptr, start, nullptr, nullptr, nullptr};
  CHECK(code->entry()(&c) == backend::call_done);
}

/// On this machine, with the arguments of the interpreter.
inline void run_compiled(const ir::function& f, const std::vector<ir::tensor_view>& arguments) {
  std::vector<void*> data;
  for (const ir::tensor_view& v : arguments) data.push_back(v.data);
  run_compiled(f, target::host(), data);
}

}  // namespace compiled_run
