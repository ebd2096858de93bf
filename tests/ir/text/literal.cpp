#include <tilewright/ir/text/literal.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace tilewright::ir;

TEST_CASE("literal values print as Python and read back") {
  const attr values[] = {0,
                         -7,
                         INT64_MIN,
                         1.0,
                         -2.5,
                         1e-30,
                         1e300,
                         "",
                         "a\"b\\c\n\x01",
                         attr::list{},
                         attr::list{1, "x", attr::list{2.0}},
                         attr::dict{},
                         attr::dict{{"pragma_auto_unroll_max_step", 64},
                                    {"nested", attr::dict{{"k", attr::list{1, 2}}}}}};
  for (const attr& v : values) CHECK(parse_attr(print_attr(v)) == v);
  CHECK(print_attr(attr::list{1, 2.0, "x"}) == R"([1, 2.0, "x"])");
  CHECK(print_attr(annotations{{"a", 1}, {"b", "c"}}) == R"({"a": 1, "b": "c"})");
}

TEST_CASE("infinities and NaN") {
  CHECK(print_attr(-std::numeric_limits<double>::infinity()) == "float(\"-inf\")");
  CHECK(parse_attr("float('-inf')") == attr(-std::numeric_limits<double>::infinity()));
  CHECK(std::isnan(std::get<double>(parse_attr("float(\"nan\")").value)));
}

TEST_CASE("forms that are only read") {
  CHECK(parse_attr("True") == attr(1));
  CHECK(parse_attr("T.int64(3)") == attr(3));
  CHECK(parse_attr("T.bool(False)") == attr(0));
  CHECK(parse_attr("T.float32(2)") == attr(2.0));
  CHECK(parse_attr("(1, 2,)") == attr(attr::list{1, 2}));
  CHECK(parse_attr("\"ab\" 'cd'") == attr("abcd"));
}

TEST_CASE("bad literals are refused") {
  for (const char* bad : {"", "x", "[1", "[1 2]", "{1: 2}", "{\"a\" 1}", "1 2", "-", "T.foo(1)",
                          "T.int32(\"x\")", "float(\"big\")", "- -1"})
    CHECK_THROWS_AS(parse_attr(bad), parse_error);
  CHECK_THROWS_AS(parse_attr(std::string(100, '[') + std::string(100, ']')), parse_error);
}
