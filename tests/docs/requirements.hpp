// What the headers of primitives require, and how pages of the documentation number it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace docs {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in, path.string(), " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

using requirements = std::set<std::string>;  // "1. the loop starts at 0"

/// The numbered items of the paragraphs that begin with a number, or of what stands in a paragraph
/// behind "Requires".
inline requirements numbered(const std::string& text) {
  requirements out;
  std::string list, paragraph;
  std::istringstream in(text + "\n");
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '@') {
      paragraph += line + " ";
      continue;
    }
    const std::size_t begin = paragraph.find("Requires");
    if (begin != std::string::npos)
      list += paragraph.substr(begin);
    else if (std::regex_search(paragraph, std::regex(R"(^\d+\. )")))
      list += paragraph;
    paragraph.clear();
  }
  list = std::regex_replace(list, std::regex(R"( \(see \[\w+\]\([^)]*\)\))"),
                            "");  // links of the docs
  list = std::regex_replace(list, std::regex(" +"), " ");
  static const std::regex number(R"((?:^| )(\d+\. ))");
  for (std::sregex_iterator at(list.begin(), list.end(), number), end; at != end; ++at) {
    const auto next = std::next(at);
    const auto from = static_cast<std::size_t>(at->position(1));
    const std::size_t to = next == end ? list.size() : static_cast<std::size_t>(next->position(0));
    std::string one = list.substr(from, to - from);
    while (!one.empty() && (one.back() == ' ' || one.back() == ';' || one.back() == '.'))
      one.pop_back();
    out.insert(one);
  }
  return out;
}

/// Requirements by function of the headers of primitives; those of overloads together.
inline std::map<std::string, requirements> required_by_headers() {
  std::vector<std::filesystem::path> headers{"include/tilewright/schedule/sampling.hpp"};
  for (const char* folder :
       {"include/tilewright/schedule/primitive", "include/tilewright/impl/schedule/primitive"})
    for (const auto& f : std::filesystem::recursive_directory_iterator(folder))
      if (f.is_regular_file() && f.path().extension() == ".hpp") headers.push_back(f.path());
  std::map<std::string, requirements> out;
  for (const std::filesystem::path& path : headers) {
    std::istringstream in(read_file(path));
    std::string comment;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("///", 0) == 0) {
        comment += (line.size() > 4 ? line.substr(4) : "") + "\n";
        continue;
      }
      static const std::regex declared(R"(^(?:inline )?[\w:<>]+ ((\w+?)(?:_block|_loop)?)\()");
      std::smatch found;
      if (std::regex_search(line, found, declared))
        for (const auto& name : {found[1], found[2]}) out[name].merge(numbered(comment));
      if (line.empty()) comment.clear();
    }
  }
  return out;
}

}  // namespace docs
