// Formats that a user might state, drawn for a matrix.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/sparse/format_rule.hpp>

namespace random_rule {

using namespace tilewright;

/// Blocks, strips of rows, parts of the columns, listed rows, columns in two levels, columns, diagonals, and rows of
/// one width.
/// @param draw any number
inline sparse::format_rule draw_rule(std::uint64_t draw, std::int64_t rows, std::int64_t columns) {
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  const auto parts = [&](std::int64_t n, std::int64_t of) { return text((n + of - 1) / of); };
  const auto b = static_cast<std::int64_t>(1 + draw / 8 % 5),
             c = static_cast<std::int64_t>(1 + draw / 64 % 6);
  const std::string m = text(rows), n = text(columns), tall = text(b), wide = text(c);
  const auto rule = [](const std::string& axes, const std::string& to, const std::string& inputs,
                       const std::string& back) {
    return sparse::parse_format_rule(
        "@T.format\ndef drawn():\n" + axes + "    return IndexMap.from_func(lambda i, j: (" + to +
        "), inverse_index_map=lambda " + inputs + ": (" + back + "))\n");
  };
  switch (draw % 8) {
    case 0:
      return rule("    IO = T.dense_fixed(" + parts(rows, b) +
                      ")\n    JO = T.sparse_variable(IO, " + parts(columns, c) +
                      ")\n    II = T.dense_fixed(" + tall + ", JO)\n    JI = T.dense_fixed(" +
                      wide + ", II)\n",
                  "i // " + tall + ", j // " + wide + ", i % " + tall + ", j % " + wide,
                  "p, q, r, s", "p * " + tall + " + r, q * " + wide + " + s");
    case 1:
      return rule("    IO = T.dense_fixed(" + parts(rows, b) + ")\n    J = T.sparse_variable(IO, " +
                      n + ")\n    II = T.dense_fixed(" + tall + ", J)\n",
                  "i // " + tall + ", j, i % " + tall, "p, q, r", "p * " + tall + " + r, q");
    case 2:
      return rule("    JO = T.dense_fixed(" + parts(columns, c) + ")\n    I = T.dense_fixed(" + m +
                      ", JO)\n    JI = T.sparse_variable(I, " + wide + ")\n",
                  "j // " + wide + ", i, j % " + wide, "p, q, r", "q, p * " + wide + " + r");
    case 3:
      return rule("    L = T.dense_fixed(1)\n    I = T.sparse_variable(L, " + m +
                      ")\n    J = T.sparse_variable(I, " + n + ")\n",
                  "0, i, j", "p, q, r", "q, r");
    case 4:
      return rule("    I = T.dense_fixed(" + m + ")\n    JO = T.sparse_variable(I, " +
                      parts(columns, c) + ")\n    JI = T.sparse_variable(JO, " + wide + ")\n",
                  "i, j // " + wide + ", j % " + wide, "p, q, r", "p, q * " + wide + " + r");
    case 5:
      return rule("    J = T.dense_fixed(" + n + ")\n    I = T.sparse_variable(J, " + m + ")\n",
                  "j, i", "p, q", "q, p");
    case 6:
      return rule("    L = T.dense_fixed(1)\n    D = T.sparse_variable(L, " +
                      text(rows + columns - 1) + ")\n    I = T.dense_fixed(" + m + ", D)\n",
                  "0, j - i + " + text(rows - 1) + ", i", "p, q, r",
                  "r, q + r - " + text(rows - 1));
    default:
      return rule(
          "    I = T.dense_fixed(" + m + ")\n    J = T.sparse_fixed(I, (" + n + ", " + n + "))\n",
          "i, j", "p, q", "p, q");
  }
}

}  // namespace random_rule
