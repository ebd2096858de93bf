#include <tilewright/meta/name.hpp>

#include <doctest/doctest.h>

#include <tilewright/meta/axis.hpp>
#include <tilewright/meta/name_set.hpp>

using namespace tilewright;
using meta::name;

static_assert(std::is_same_v<meta::to_name<"co">, name<'c', 'o'>>);
static_assert(meta::text_of<name<'A'>> == "A");
static_assert(meta::text_of<name<>>.empty());
static_assert(meta::hash_of("i") != meta::hash_of("j"));
static_assert(meta::is_identifier("v_1") && !meta::is_identifier("1v") &&
              !meta::is_identifier("") && !meta::is_identifier("a b"));

static_assert(std::is_same_v<meta::to_dim<"M">, meta::dim_name<name<'M'>>>);
static_assert(std::is_same_v<meta::to_dim<64>, meta::dim_extent<64>>);
static_assert(meta::to_dim<64u>::extent == 64 && meta::to_dim<"M">::extent == 0);

static_assert(std::is_empty_v<decltype(axes::i)>);
static_assert(std::is_same_v<axis<"i">, std::remove_const_t<decltype(axes::i)>>);
static_assert(!std::is_same_v<axis<"r", 3>, axis<"r">>);

struct runtime_text {
  static constexpr std::string_view value = "kh";
};
static_assert(std::is_same_v<meta::name_from<runtime_text>, name<'k', 'h'>>);

TEST_CASE("name sets answer by hash") {
  using set = meta::name_set<name<'i'>, name<'j'>, name<'c', 'o'>>;
  CHECK(set::size == 3);
  CHECK(set::contains("co"));
  CHECK_FALSE(set::contains("c"));
  CHECK(set::distinct());
  CHECK_FALSE(meta::name_set<name<'i'>, name<'i'>>::distinct());
  CHECK_FALSE(meta::name_set<>::contains("i"));
}

TEST_CASE("a long axis is declared where it is used") {
  constexpr axis<"co"> co;
  CHECK(meta::text_of<decltype(co)::name> == "co");
}
