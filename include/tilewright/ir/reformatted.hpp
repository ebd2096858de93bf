// Algorithms of one function that take some of its parameters in another storage format.
//
// They stand beside the others (ir/alternatives.hpp), so that a schedule begins with one of them by
// `work_on` and a trace names the format as it names an algorithm. Whoever runs what comes of such a
// schedule has to hand over the arguments that it takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/alternatives.hpp>

namespace tilewright::ir {

/// `first` with algorithms beside it whose parameters are others. Requires: 1. names differ.
/// @throws argument_error naming the function
function with_reformatted(function first, const std::vector<function>& others);

/// The algorithm of that name: the function itself, or one beside it; nothing where none has it. A text
/// that this thread has read lately is not read again.
std::optional<function> alternative(const function& f, std::string_view name);

/// The names of all algorithms, that of the function itself first.
std::vector<std::string> algorithm_names(const function& f);

}  // namespace tilewright::ir
