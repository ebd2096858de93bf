// Where in a program a refusal points.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/ir/stmt.hpp>

namespace tool {

/// The printed program. Each line that opens a block or a loop whose name the message has in quotes
/// ends in "# <-- block C" or "# <-- loop i".
std::string marked_program(const tilewright::ir::function& f, std::string_view message);

}  // namespace tool
