// docs/tuning.md lists options in the order of their declaration, in which C++ takes them.
#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "requirements.hpp"

namespace {

/// The names of the members that a struct declares, in order.
std::vector<std::string> members(const std::string& header, const std::string& name) {
  const std::string text = docs::read_file(header);
  const std::size_t begin = text.find("struct " + name + " {");
  REQUIRE(begin != std::string::npos);
  std::vector<std::string> out;
  std::istringstream in(text.substr(begin, text.find("\n};", begin) - begin));
  static const std::regex member(R"(^  [A-Za-z_:<][^=(]*[ >](\w+) = .*;.*$)");
  static const std::regex function(R"(^  std::function<.*> (\w+) = .*;.*$)");
  std::smatch found;
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, found, function) || std::regex_match(line, found, member))
      out.push_back(found[1]);
  return out;
}

/// The names in the first column of the table behind a heading or sentence of a page.
std::vector<std::string> rows(const std::string& page, const std::string& before) {
  const std::string text = docs::read_file(page);
  const std::size_t begin = text.find(before);
  REQUIRE(begin != std::string::npos);
  std::istringstream in(text.substr(begin));
  std::vector<std::string> out;
  static const std::regex name("`(\\w+)`");
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| ", 0) != 0 && line.rfind("|-", 0) != 0) {
      if (inside) break;
      continue;
    }
    inside = true;
    const std::string first = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator at(first.begin(), first.end(), name), end; at != end; ++at)
      out.push_back((*at)[1]);
  }
  return out;
}

void compare(const std::string& header, const std::string& type, const std::string& before) {
  const std::vector<std::string> declared = members(header, type),
                                 listed = rows("docs/tuning.md", before);
  REQUIRE(listed.size() > 5);
  auto at = declared.begin();
  for (const std::string& name : listed) {
    const auto found = std::find(at, declared.end(), name);
    CHECK_MESSAGE(found != declared.end(), name, " of docs/tuning.md is no member of ", type,
                  ", or is declared before the row above it");
    if (found != declared.end()) at = found + 1;
  }
}

}  // namespace

TEST_CASE("the tables of options have the order in which C++ takes these") {
  compare("include/tilewright/search/options.hpp", "tuned_options",
          "The second argument of `tuned`");
  compare("include/tilewright/search/measurement/measuring.hpp", "measuring_options",
          "Fields of `measuring`:");
}
