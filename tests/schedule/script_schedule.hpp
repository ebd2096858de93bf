// Tests that state programs before and after as script.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "check_schedule.hpp"

/// A hole in the text of a program, as "<body>", and the lines that stand there.
using filled_hole = std::pair<std::string_view, std::string_view>;

/// The text with each hole filled; lines are indented as the hole's is.
inline std::string fill(std::string text, const std::vector<filled_hole>& holes) {
  for (const auto& [hole, lines] : holes) {
    std::size_t at = text.find(hole);
    REQUIRE(at != std::string::npos);
    while (at != std::string::npos) {
      const std::size_t line = text.rfind('\n', at) + 1;
      const std::size_t column = text.find_first_not_of(' ', line) - line;
      std::string indented;
      for (const char c : lines) {
        indented += c;
        if (c == '\n') indented.append(column, ' ');
      }
      text.replace(at, hole.size(), indented);
      at = text.find(hole, at + indented.size());
    }
  }
  return text;
}

/// The program in the text, its holes filled.
inline tilewright::ir::function program_of(std::string text,
                                           const std::vector<filled_hole>& holes) {
  return tilewright::ir::parse(fill(std::move(text), holes));
}

/// The program of `s` is the one expected, names aside.
inline void check_program(const tilewright::schedule& s, const tilewright::ir::function& expected) {
  CHECK_MESSAGE(tilewright::ir::equal(s.function(), expected), s.show());
}
inline void check_program(const tilewright::schedule& s, std::string_view text) {
  check_program(s, tilewright::ir::parse(text));
}
