#include "marked_program.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <tilewright/ir/text/print.hpp>

namespace tool {
namespace {

std::set<std::string> quoted_names(std::string_view message) {
  std::set<std::string> out;
  for (std::size_t open = message.find('"'); open != message.npos; open = message.find('"', open)) {
    const std::size_t close = message.find('"', open + 1);
    if (close == message.npos) break;
    out.emplace(message.substr(open + 1, close - open - 1));
    open = close + 1;
  }
  return out;
}

/// What the line opens, as "block C", "loop i" or "loop i, loop k", of the names given.
std::string opened(std::string_view line, const std::set<std::string>& names) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  std::string out;
  const auto add = [&](const char* kind, const std::string& name) {
    if (names.count(name)) out += (out.empty() ? "" : ", ") + (kind + (" " + name));
  };
  if (constexpr std::string_view block = "T.block(\""; line.find(block) != line.npos) {
    const std::size_t begin = line.find(block) + block.size();
    add("block", std::string(line.substr(begin, line.find('"', begin) - begin)));
  }
  if (line.substr(start, 4) == "for ") {
    std::istringstream variables{
        std::string(line.substr(start + 4, line.find(" in ") - start - 4))};
    for (std::string name; std::getline(variables >> std::ws, name, ',');) add("loop", name);
  }
  return out;
}

}  // namespace

std::string marked_program(const tilewright::ir::function& f, std::string_view message) {
  const std::set<std::string> names = quoted_names(message);
  std::string out;
  std::istringstream lines(tilewright::ir::print(f));
  for (std::string line; std::getline(lines, line);) {
    const std::string mark = opened(line, names);
    out += line + (mark.empty() ? "" : "  # <-- " + mark) + "\n";
  }
  return out;
}

}  // namespace tool
