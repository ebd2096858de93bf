// The sections of docs/primitives/, one a primitive, as the tests of this folder read them.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace docs {

/// A section: its page, its lines outside of code blocks, and its code blocks.
struct section {
  std::string page, name, text;
  std::vector<std::string> code;
};

/// Sections under headings of the second level.
inline std::vector<section> sections_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in, path, " cannot be read");
  std::vector<section> out;
  bool in_code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = !in_code;
      if (in_code && !out.empty()) out.back().code.emplace_back();
    } else if (in_code) {
      if (!out.empty()) out.back().code.back() += line + "\n";
    } else if (line.rfind("## ", 0) == 0) {
      out.push_back({std::filesystem::path(path).filename().string(), line.substr(3), "", {}});
    } else if (!out.empty()) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

/// The sections of all pages by the name of the primitive.
inline std::map<std::string, section> documented() {
  std::map<std::string, section> out;
  for (const auto& page : std::filesystem::directory_iterator("docs/primitives"))
    for (section& s : sections_of(page.path().string())) out[s.name] = std::move(s);
  return out;
}

}  // namespace docs
