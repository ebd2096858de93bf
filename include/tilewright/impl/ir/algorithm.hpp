// One of several algorithms that a function carries.
#pragma once

#include <string>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::several {

[[noreturn]] inline void refuse(const function& a, const function& b, const std::string& why) {
  throw argument_error("alternatives: " + a.name + " and " + b.name + " " + why);
}

inline function alone(function f) {
  f.attrs.erase(alternatives_attribute);
  return f;
}

}  // namespace tilewright::ir::detail::several
