// Programs as text: the TensorIR dialect of TVMScript.
//
// The text of a function is what `parse` of ir/text/parse.hpp reads: print(parse(print(f))) == print(f),
// and parse(print(f)) equals f, for every f that `verify` accepts. Names are made unique by a
// suffix, always in the same way.
#pragma once

#include <string>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// A whole script, header comment included; ends in a newline.
std::string print(const function& f);
/// Statement at indentation 0, ending in a newline; free variables and buffers stand by their
/// names.
std::string print(const stmt& s);
std::string print(const expr& e);
std::string print(const buffer_region& r);

}  // namespace tilewright::ir
