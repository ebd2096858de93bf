// What the library tells the people who run a program, unasked.
#pragma once

#include <string>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// Writes "tilewright: TEXT" to stderr, once in a process for each text. For what makes all that
/// follows slow or short-lived and can be mended: a library that is missing, a file that is no
/// database.
void notice(const std::string& text);

}  // namespace tilewright::support
