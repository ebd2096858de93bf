// The instruction kinds that the members of `schedule` stand for.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::detail {

/// The kind a member function stands for; looked up once per function.
inline const instruction_kind& kind_named(std::string_view name) {
  const instruction_kind* kind = find_instruction_kind(name);
  if (!kind) throw internal_error("no instruction kind is called " + std::string(name));
  return *kind;
}

}  // namespace tilewright::detail
