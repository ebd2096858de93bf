#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include <tilewright/ir/parse.hpp>
#include <tilewright/ir/verify.hpp>

#include "command.hpp"

namespace tool {

std::string read_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path, "the file cannot be opened");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw input_error(path, "the file cannot be read");
  return text;
}

tilewright::ir::function load_function(const std::string& path) {
  return parse_file(path, [](std::string_view text) { return tilewright::ir::parse(text); });
}

void warn_unless_verified(const std::string& path, const tilewright::ir::function& f) {
  try {
    tilewright::ir::verify(f);
  } catch (const tilewright::ir::verify_error& e) {
    complain(path + ": warning: " + e.what());
  }
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::size_t line = 1, start_a = 0, start_b = 0;
  const auto line_of = [](const std::string& text, std::size_t start) {
    return start >= text.size() ? std::string("(end)")
                                : text.substr(start, text.find('\n', start) - start);
  };
  for (;; ++line) {
    const std::string left = line_of(a, start_a), right = line_of(b, start_b);
    if (left != right || (start_a >= a.size() && start_b >= b.size()))
      return "line " + std::to_string(line) + ":\n  - " + left + "\n  + " + right;
    start_a += left.size() + 1;
    start_b += right.size() + 1;
  }
}

std::string json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 32) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out += '"';
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void complain(const std::string& text) { std::fprintf(stderr, "tilewright: %s\n", text.c_str()); }

}  // namespace tool
