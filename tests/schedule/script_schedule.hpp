// Tests that state programs before and after as script.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/ir/parse.hpp>
#include <tilewright/ir/print.hpp>

#include "check_schedule.hpp"

/// The program of `s` is the one in the text, names aside.
inline void check_program(const tilewright::schedule& s, std::string_view text) {
  const tilewright::ir::function expected = tilewright::ir::parse(text);
  CHECK_MESSAGE(tilewright::ir::equal(s.function(), expected), s.show());
}
