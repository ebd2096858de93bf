// No function of the library or of the tool reads or writes numbers as the locale of the host says.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

/// Followed by a parenthesis they are calls.
const std::set<std::string> forbidden_calls{
    "strtof",   "strtod",   "strtold",   "strtol",      "strtoll",   "strtoul",   "strtoull",
    "atof",     "atoi",     "atol",      "atoll",       "stof",      "stod",      "stold",
    "stoi",     "stol",     "stoll",     "stoul",       "stoull",    "printf",    "fprintf",
    "sprintf",  "snprintf", "vprintf",   "vfprintf",    "vsprintf",  "vsnprintf", "dprintf",
    "scanf",    "fscanf",   "sscanf",    "isalpha",     "isdigit",   "isalnum",   "isspace",
    "isupper",  "islower",  "isxdigit",  "ispunct",     "isprint",   "tolower",   "toupper",
    "strcoll",  "strxfrm",  "strftime",  "localeconv",  "setlocale", "strfromd",  "strfromf",
    "put_time", "get_time", "put_money", "setprecision"};
/// Streams that take the global locale, wherever they are named.
const std::set<std::string> forbidden_types{"ostringstream", "stringstream", "wostringstream"};

struct finding {
  std::string word;
  int line;
};

/// `text` without comments and literals, lines kept.
std::string code_of(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto skip_to = [&](const std::string& end) {
      const std::size_t to = std::min(text.find(end, i), text.size());
      for (; i < to; ++i)
        if (text[i] == '\n') out += '\n';
      i += end.size() - 1;
      if (end == "\n") out += '\n';
    };
    if (text.compare(i, 2, "//") == 0) {
      skip_to("\n");
    } else if (text.compare(i, 2, "/*") == 0) {
      skip_to("*/");
    } else if (text.compare(i, 2, "R\"") == 0) {
      const std::size_t open = text.find('(', i);
      skip_to(")" + text.substr(i + 2, open - i - 2) + "\"");
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<finding> findings_in(const std::string& text) {
  std::vector<finding> out;
  const std::string code = code_of(text);
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  int line = 1;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '\n') ++line;
    if (!is_letter(code[i]) || (i > 0 && is_letter(code[i - 1]))) continue;
    std::size_t end = i;
    while (end < code.size() && is_letter(code[end])) ++end;
    const std::string word = code.substr(i, end - i);
    const std::size_t next = code.find_first_not_of(" \n", end);
    const bool call = next != std::string::npos && code[next] == '(';
    if (forbidden_types.count(word) || (call && forbidden_calls.count(word)))
      out.push_back({word, line});
  }
  return out;
}

}  // namespace

TEST_CASE("the search for calls that follow the locale finds them") {
  const auto found = findings_in(
      "int a = 1;  // snprintf(\nstd::snprintf (b, 1, \"%f\");\n"
      "x = \"atof(1)\"; std::ostringstream y;\nmy_atof(1); atofs;\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].word == "snprintf");
  CHECK(found[0].line == 2);
  CHECK(found[1].word == "ostringstream");
  CHECK(found[1].line == 3);
}

TEST_CASE("nothing in the library or the tool follows the locale of the host") {
  int files = 0;
  for (const char* folder :
       {TILEWRIGHT_SOURCE_DIR "/include/tilewright", TILEWRIGHT_SOURCE_DIR "/tools"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string kind = entry.path().extension().string();
      if (kind != ".hpp" && kind != ".ipp" && kind != ".cpp") continue;
      ++files;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (const finding& f : findings_in(text)) {
        INFO(entry.path().string(), ":", f.line, " calls ", f.word,
             "; support/numbers/number_text.hpp and <charconv> do not follow the locale");
        CHECK(false);
      }
    }
  CHECK(files > 300);
}
