// What the library tells the people who run a program, unasked.
#pragma once

#include <string>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// Writes "tilewright: TEXT" to stderr, once in a process for each text. For what makes all that
/// follows slow or short-lived and can be mended: a library that is missing, a file that is no
/// database.
void notice(const std::string& text);

/// Writes a text to stderr as it is, in a program whose files may not grow too.
void write_stderr(const std::string& text);

}  // namespace tilewright::support
