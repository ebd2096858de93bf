// Names in the text of an index map that are neither indices nor integers of the schedule.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <tilewright/ir/expr.hpp>

namespace tilewright::detail::operands {

/// The variable for a name that the function may know: a symbolic extent. Null for words that mean
/// something.
inline ir::var scalar(std::string_view name, std::map<std::string, ir::var, std::less<>>& scalars) {
  for (const std::string_view word :
       {"T", "tvm", "tir", "tirx", "True", "False", "if", "else", "and", "or", "not", "lambda"})
    if (name == word) return {};
  ir::var& v = scalars[std::string(name)];
  if (!v) v = ir::make_var(std::string(name));
  return v;
}

}  // namespace tilewright::detail::operands
