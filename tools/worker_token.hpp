// What workers on other machines ask their clients for.
#pragma once

#include <cstdlib>
#include <string>

#include <tilewright/support/error.hpp>

#include "command.hpp"

namespace tool {

inline constexpr const char* worker_token_help =
    "File with the token that worker and client share; default: TILEWRIGHT_WORKER_TOKEN";

/// The first line of the file, else the value of TILEWRIGHT_WORKER_TOKEN.
/// @throws argument_error when there is none
inline std::string worker_token(const std::string& file) {
  std::string out;
  if (!file.empty())
    out = read_file(file);
  else if (const char* named = std::getenv("TILEWRIGHT_WORKER_TOKEN"))
    out = named;
  out = out.substr(0, out.find_first_of("\r\n"));
  if (out.empty())
    throw tilewright::argument_error(
        "a worker runs the code of whoever knows its token; write one into a file and name it with "
        "--token-file, or set TILEWRIGHT_WORKER_TOKEN");
  return out;
}

}  // namespace tool
