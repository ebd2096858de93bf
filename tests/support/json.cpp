#include <tilewright/support/json.hpp>

#include <doctest/doctest.h>

#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::support;

TEST_CASE("values of every kind") {
  const json v =
      parse_json(R"( {"a": [1, -2.5e3, 9007199254740993], "b": null, "c": true, "d": {"e": []}} )");
  const json* a = v.find("a");
  REQUIRE(a);
  CHECK(a->items[0].is == json::kind::integer);
  CHECK(a->items[1].is == json::kind::number);
  CHECK(a->items[1].number == -2500);
  CHECK(a->items[2].integer == 9007199254740993);
  CHECK(v.find("b")->is == json::kind::null);
  CHECK(v.find("c")->boolean);
  CHECK(v.find("d")->find("e")->items.empty());
  CHECK(v.find("x") == nullptr);
}

TEST_CASE("text survives, escaped or not") {
  const std::string text =
      std::string("quote \" backslash \\ line\n tab\t bell \a nul ") + '\0' + " ü";
  CHECK(parse_json(json_text(text)).text == text);
  CHECK(parse_json(R"("\u00fc\ud83d\ude00\/")").text == "\xc3\xbc\xf0\x9f\x98\x80/");
}

TEST_CASE("a byte-order mark before the text is skipped") {
  CHECK(parse_json("\xef\xbb\xbf[1]").items.size() == 1);
  CHECK_THROWS(
      parse_json("[\xef\xbb\xbf"
                 "1]"));
}

TEST_CASE("what is no JSON is refused with the place") {
  for (const char* bad : {"", "{", "[1,]", "{\"a\" 1}", "tru", "\"a", "1 2", "\"\\x\"", "nan", "[1",
                          "\"\\ud83d\\u0041\"", "+1", "\"\n\""})
    CHECK_THROWS_AS(parse_json(bad), argument_error);
  CHECK_THROWS_WITH(parse_json("[1, x]"), "JSON: expected a value at character 5");
  CHECK_THROWS_AS(parse_json(std::string(100000, '[')), argument_error);
}
