// Pieces of the printed form of traces, for other forms of them.
#pragma once

#include <string>

#include <tilewright/schedule/instruction.hpp>

namespace tilewright::detail {

/// An argument as the printed form has it.
std::string argument_text(const argument& a, const parameter& p);
/// The same as C++ has it.
std::string cpp_argument_text(const argument& a);

}  // namespace tilewright::detail
