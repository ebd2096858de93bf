#include <tilewright/ir/text/tokenize.hpp>

#include <cmath>
#include <string>

#include <doctest/doctest.h>

using namespace tilewright::ir;

namespace {

std::string kinds(std::string_view text) {
  token_stream in(text);
  std::string out;
  for (; !in.at_end(); in.next()) out += "nir\"s;><e"[static_cast<int>(in.peek().kind)];
  return out;
}

void check_error(std::string_view text, int line, int column, std::string_view expected) {
  try {
    token_stream in(text);
    FAIL("no error for " << text);
  } catch (const parse_error& e) {
    CHECK(e.line() == line);
    CHECK(e.column() == column);
    CHECK(e.expected() == expected);
    CHECK(std::string(e.what()).find("line " + std::to_string(line)) == 0);
  }
}

}  // namespace

TEST_CASE("lines, indentation and brackets") {
  CHECK(kinds("") == "");
  CHECK(kinds("\n\n  # only a comment\n") == "");
  CHECK(kinds("a") == "n;");
  CHECK(kinds("for i in x:\n  a\n  b\nc\n") == "nnnns;>n;n;<n;");
  CHECK(kinds("if x:\n  if y:\n    z") == "nns;>nns;>n;<<");
  CHECK(kinds("f(\n      1,\n  2.5)\n") == "nsisrs;");
  CHECK(kinds("a\n# c\n   # deeper comment\nb") == "n;n;");
  CHECK(kinds("a = \\\n  b\n") == "nsn;");
  CHECK(kinds("a\r\n\tb\r\n") == "n;>n;<");
}

TEST_CASE("spellings and positions") {
  token_stream in("x1 = a//b != 0x1F\n  ");
  CHECK(in.expect_name().text == "x1");
  in.expect("=");
  CHECK(in.peek().at.column == 6);
  CHECK(in.peek(1).text == "//");
  CHECK(in.accept("a"));
  CHECK_FALSE(in.accept("/"));
  in.expect("//");
  in.expect("b");
  in.expect("!=");
  CHECK(decode_integer(in.next()) == 31);
  in.expect_newline();
  CHECK(in.at_end());
  in.next();
  CHECK(in.at_end());
}

TEST_CASE("numbers") {
  const auto real = [](std::string_view text) { return decode_real(token_stream(text).next()); };
  CHECK(real("1.5") == 1.5);
  CHECK(real(".5") == 0.5);
  CHECK(real("1e-5") == 1e-5);
  CHECK(real("2.") == 2.0);
  CHECK(std::isinf(real("1e999")));
  CHECK(real("1e-999") == 0.0);
  const auto integer = [](std::string_view text) { return token_stream(text).expect_integer(); };
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK_THROWS_AS(integer("9223372036854775808"), parse_error);
  CHECK_THROWS_AS(integer("99999999999999999999"), parse_error);
}

TEST_CASE("strings") {
  const auto text = [](std::string_view s) { return decode_string(token_stream(s).next()); };
  CHECK(text(R"("a\"b")") == "a\"b");
  CHECK(text(R"('it"s')") == "it\"s");
  CHECK(text(R"("\\\n\x41\0")") == std::string("\\\nA\0", 4));
  CHECK_THROWS_AS(text(R"("\q")"), parse_error);
}

TEST_CASE("errors say where and what") {
  check_error("a\n  b = \"x\n", 2, 7, "a closing quote on the same line");
  check_error("f(a, [b)", 1, 8, "']' for the '[' of line 1, column 6");
  check_error("f(a\n", 2, 1, "')' for the '(' of line 1, column 2");
  check_error("a)", 1, 2, "an opening bracket before it");
  check_error("if x:\n    a\n  b\n", 3, 3, "the indentation of an outer line");
  check_error("a ? b", 1, 3, "a token");
  check_error("12ab", 1, 1, "a number");
  check_error(std::string(2000, '('), 1, 1001, "at most 1000 open brackets");
}

TEST_CASE("a byte-order mark is no token and no column") {
  CHECK(kinds("\xef\xbb\xbf") == "");
  CHECK(kinds("\xef\xbb\xbf  a\n") == kinds("  a\n"));
  check_error(
      "\xef\xbb\xbf"
      "a ? b",
      1, 3, "a token");
  check_error("a \xef\xbb\xbf", 1, 3, "a token");
  check_error(std::string_view("\xff\xfe"
                               "a\0",
                               4),
              1, 1, "text in UTF-8");
  check_error(std::string_view("\xfe\xff\0a", 4), 1, 1, "text in UTF-8");
}
