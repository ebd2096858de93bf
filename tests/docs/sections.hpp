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

/// A part of a page: its lines outside of code blocks, and its code blocks.
struct passage {
  std::string text;
  std::vector<std::string> code;
};

/// A section: its page, what it shows, and what is folded at its end, the programs that are refused.
struct section : passage {
  std::string page, name;
  passage refused;
};

/// Sections under headings of the second level.
inline std::vector<section> sections_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in, path, " cannot be read");
  std::vector<section> out;
  bool in_code = false, folded = false;
  for (std::string line; std::getline(in, line);) {
    if (!in_code && line.rfind("## ", 0) == 0) {
      section& next = out.emplace_back();
      next.page = std::filesystem::path(path).filename().string();
      next.name = line.substr(3);
      folded = false;
      continue;
    }
    const bool fence = line.rfind("```", 0) == 0;
    if (fence) in_code = !in_code;
    if (out.empty()) continue;
    if (!in_code && line == "<details>") folded = true;
    passage& part = folded ? out.back().refused : out.back();
    if (fence && in_code)
      part.code.emplace_back();
    else if (in_code)
      part.code.back() += line + "\n";
    else if (!fence)
      part.text += line + "\n";
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
