// What an argument of an instruction holds, by what it is made of.
#include <tilewright/schedule/instruction.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace tilewright;

namespace {

template <class T, class From>
bool holds(From from) {
  return std::holds_alternative<T>(argument(std::move(from)));
}

}  // namespace

TEST_CASE("an argument: numbers are integers of 64 bits, reals or booleans, as they were written") {
  CHECK(std::get<std::int64_t>(argument(3)) == 3);
  CHECK(std::get<std::int64_t>(argument(std::uint32_t{4000000000U})) == 4000000000);
  CHECK(std::get<std::int64_t>(argument('a')) == 97);
  CHECK(std::get<bool>(argument(true)));
  CHECK(std::get<double>(argument(2.5F)) == 2.5);
  CHECK(std::get<double>(argument(0.1)) == 0.1);
  // what might not fit is no argument
  static_assert(!std::is_constructible_v<argument, std::uint64_t>);
  static_assert(!std::is_constructible_v<argument, long double>);
}

TEST_CASE("an argument: texts, variables and values of the schedule") {
  CHECK(holds<std::string>(std::string("global")));
  CHECK(holds<rv>(block_rv{3}));
  CHECK(holds<rv>(loop_rv{3}));
  CHECK(holds<rv>(rv{}));
  CHECK(holds<std::vector<rv>>(std::vector<rv>{block_rv{1}}));
  CHECK(holds<factor>(factor(expr_rv{2})));
  CHECK(holds<factor>(infer));
  CHECK(holds<std::vector<factor>>(std::vector<factor>{infer}));
  CHECK(holds<std::vector<std::int64_t>>(std::vector<std::int64_t>{1, 2}));
  CHECK(holds<std::vector<double>>(std::vector<double>{0.5}));
  CHECK(holds<buffer_selector>(read_buffer(1)));
  CHECK(holds<annotation_value>(annotation_value(1)));
  CHECK(holds<annotation_value>(ir::attr("x")));
  CHECK(holds<map_argument>(map_argument("lambda i: (i,)")));
  CHECK(holds<map_argument>(ir::index_map{}));
  CHECK(holds<std::monostate>(std::monostate{}));
  CHECK(std::holds_alternative<std::monostate>(argument{}));
  // a literal may be a text, a note, a buffer or a map; an integer variable is a factor or a note
  static_assert(!std::is_constructible_v<argument, const char*>);
  static_assert(!std::is_constructible_v<argument, expr_rv>);
}

TEST_CASE("an argument: copies are equal, and what is moved goes on") {
  const argument one(std::vector<factor>{4, expr_rv{2}, infer});
  argument other = one;
  CHECK(other == one);
  CHECK_FALSE(other == argument(std::vector<factor>{4}));
  CHECK_FALSE(argument(0) == argument(false));
  const argument last = std::move(other);
  CHECK(last == one);
  other = std::string("again");
  CHECK(std::get<std::string>(other) == "again");
  static_assert(std::is_nothrow_move_constructible_v<argument>);
  static_assert(std::is_nothrow_move_constructible_v<annotation_value>);
  static_assert(std::is_nothrow_move_constructible_v<ir::attr>);
}

TEST_CASE("a note: constants, variables, lists and maps") {
  const annotation_value::list list{1, 2.5, "x", expr_rv{1}};
  CHECK(std::get<ir::attr>(list[0].value) == ir::attr(1));
  CHECK(std::get<ir::attr>(list[1].value) == ir::attr(2.5));
  CHECK(std::get<ir::attr>(list[2].value) == ir::attr("x"));
  CHECK(std::get<factor>(list[3].value) == factor(expr_rv{1}));
  const annotation_value note(annotation_value::dict{{"all", list}});
  annotation_value copy = note;
  CHECK(copy == note);
  copy = annotation_value(list);
  CHECK_FALSE(copy == note);
  CHECK(annotation_value(ir::attr(ir::attr::list{1, "y"})) ==
        annotation_value(ir::attr::list{1, "y"}));
}
