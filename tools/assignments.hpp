// Options of the form NAME=VALUE.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tilewright/support/error.hpp>

namespace tool {

using assignments = std::map<std::string, std::string>;

/// @throws argument_error naming the option for text that has no name or no value
inline assignments split_assignments(const std::vector<std::string>& list, const char* option) {
  assignments out;
  for (const std::string& text : list) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw tilewright::argument_error(std::string(option) + " wants NAME=VALUE, not " + text);
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

}  // namespace tool
