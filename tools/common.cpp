#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "command.hpp"

namespace tool {

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored))
    throw input_error(path, "it is a directory, not a file");
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (path != "-" && !file.is_open()) throw input_error(path, "the file cannot be opened");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw input_error(path, "the file cannot be read");
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);  // a byte-order mark
  return text;
}

tilewright::ir::function load_function(const std::string& path, const std::string& name) {
  const tilewright::ir::function f =
      parse_file(path, [&](std::string_view text) { return tilewright::ir::parse(text, name); });
  try {
    tilewright::ir::check_extents(f);
  } catch (const tilewright::argument_error& e) {
    throw input_error(path, e.what());
  }
  return f;
}

void warn_unless_verified(const std::string& path, const tilewright::ir::function& f) {
  try {
    tilewright::ir::verify(f);
  } catch (const tilewright::ir::verify_error& e) {
    complain(path + ": warning: " + e.what());
  }
}

namespace {

/// Compares lines of two scripts up to the names that they define: a line that defines names pairs
/// them with those of the other text, and their uses must be paired too.
class name_pairs {
 public:
  bool alike(const std::string& a, const std::string& b) {
    const std::size_t defines_a = definitions(a), defines_b = definitions(b);
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      const std::string x = name_at(a, i), y = name_at(b, j);
      if (x.empty() || y.empty()) {
        if (a[i++] != b[j++]) return false;
        continue;
      }
      const bool defined = (i < defines_a && j < defines_b) ||
                           (a.compare(0, 4, "def ") == 0 && i + x.size() < a.size() &&
                            (a[i + x.size()] == ':' || a[i + x.size()] == '('));
      if (!paired(x, y, defined)) return false;
      i += x.size();
      j += y.size();
    }
    return i == a.size() && j == b.size();
  }

 private:
  static bool is_letter(char c) { return tilewright::support::is_ascii_alnum(c) || c == '_'; }

  /// The name that starts at `at`; empty inside of a name, too.
  static std::string name_at(const std::string& text, std::size_t at) {
    if (!is_letter(text[at]) || (at > 0 && is_letter(text[at - 1]))) return {};
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    return text.substr(at, end - at);
  }

  /// Where the names that the line defines end; 0 when it defines none.
  static std::size_t definitions(const std::string& line) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) return 0;
    if (line.compare(start, 4, "for ") == 0) return line.find(" in ");
    const std::size_t assigns = line.find(" = ");
    const bool stores = line.find('[') < assigns;
    return assigns == std::string::npos || stores ? 0 : std::min(assigns, line.find(':'));
  }

  bool paired(const std::string& x, const std::string& y, bool defined) {
    if (defined) {
      to_[x] = y;
      from_[y] = x;
      return true;
    }
    const auto forth = to_.find(x);
    const auto back = from_.find(y);
    const bool free_x = forth == to_.end(), free_y = back == from_.end();
    return free_x || free_y ? free_x && free_y && x == y : forth->second == y && back->second == x;
  }

  std::map<std::string, std::string> to_, from_;
};

}  // namespace

std::string first_difference(const std::string& a, const std::string& b) {
  name_pairs names;
  std::size_t line = 1, start_a = 0, start_b = 0;
  const auto line_of = [](const std::string& text, std::size_t start) {
    return start >= text.size() ? std::string("(end)")
                                : text.substr(start, text.find('\n', start) - start);
  };
  for (;; ++line) {
    const std::string left = line_of(a, start_a), right = line_of(b, start_b);
    const bool end = start_a >= a.size() && start_b >= b.size();
    if (end || !names.alike(left, right))
      return "line " + std::to_string(line) + ":\n  - " + left + "\n  + " + right;
    start_a += left.size() + 1;
    start_b += right.size() + 1;
  }
}

std::string json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 32) {
      out += "\\u" + tilewright::support::hex_text(static_cast<unsigned char>(c), 4);
    } else {
      out += c;
    }
  }
  return out += '"';
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);  // who reads a pipe sees each line when it is said
}
void complain(const std::string& text) {
  std::fputs(("tilewright: " + text + "\n").c_str(), stderr);
}

}  // namespace tool
