// What the trace of a schedule says, for tests that ask what was decided.
#pragma once

#include <string>

#include <tilewright/schedule/schedule.hpp>

namespace traces {

/// Whether the printed trace has this text.
inline bool mentions(const tilewright::schedule& s, const std::string& text) {
  return s.trace().print().find(text) != std::string::npos;
}

}  // namespace traces
