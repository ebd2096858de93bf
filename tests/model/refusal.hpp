// What a network refuses says.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

namespace network_tests {

/// What the error says that `f` throws; "none" where it throws none.
template <class Error = tilewright::argument_error, class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

/// Whether a part stands in a text, which is shown where a check fails.
inline bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace network_tests
