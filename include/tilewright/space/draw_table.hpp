// What the sketches of a space may draw, as a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// One sampling instruction of a sketch.
struct drawn_variable {
  std::string names;      // of its results in the sketch's printed trace: "v4, v5"
  std::string primitive;  // "sample_perfect_tile"
  std::string of;         // what is drawn: "loop i of 512 in 2 factors, the last one at most 16"
  std::string values;     // "1 * 512 ... 32 * 16", "2, 4, 8", "inline, in place, in loop j"
  std::size_t count = 0;  // of values, in the sketch as it was drawn
  bool exact = true;      // false: at least `count`
  bool fixed = false;     // belongs to the structure; search leaves it alone
};

/// The rows of a sketch, in the order of its instructions. How many values a later draw has may
/// follow from an earlier one.
/// @param start the program that the sketch was made of
std::vector<drawn_variable> draws_of(const trace& sketch, const ir::function& start);

/// The rows with a line each, in columns.
std::string draw_table(const std::vector<drawn_variable>& rows);

}  // namespace tilewright::space
