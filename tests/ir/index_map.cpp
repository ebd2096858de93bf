#include <tilewright/ir/index_map.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

namespace {

std::string again(const char* text) { return ir::print(ir::make_index_map(text)); }

}  // namespace

TEST_CASE("an index map prints as it is written in a trace") {
  const ir::index_map map = ir::make_index_map(2, [](const auto& v) {
    return std::vector<ir::expr>{ir::floordiv(v[0], 4), v[1], ir::floormod(v[0], 4)};
  });
  CHECK(ir::print(map) == "lambda i0, i1: (i0 // 4, i1, i0 % 4,)");
  CHECK(ir::equal(map, ir::make_index_map("lambda a, b: (a // 4, b, a % 4)")));
  CHECK_FALSE(ir::equal(map, ir::make_index_map("lambda a, b: (b // 4, b, a % 4)")));
  CHECK_FALSE(ir::equal(map, ir::make_index_map("lambda a, b: (a // 4, b)")));
}

TEST_CASE("results are a tuple, a list or one expression") {
  CHECK(again("lambda i: [i // 4, i % 4]") == "lambda i: (i // 4, i % 4,)");
  CHECK(again("lambda i, j: i * 4 + j") == "lambda i, j: (i * 4 + j,)");
  CHECK(again("lambda i, j: (i + j) * 4") == "lambda i, j: ((i + j) * 4,)");
  CHECK(again("lambda i, j: ((i + j) * 4, j,)") == "lambda i, j: ((i + j) * 4, j,)");
  CHECK(again("lambda i: (i)") == "lambda i: (i,)");
  CHECK(again("lambda: ()") == "lambda : ()");
  CHECK(again("lambda i: (tvm.tir.if_then_else(i < 3, i, 0),)") ==
        "lambda i: (T.if_then_else(i < 3, i, 0),)");
}

TEST_CASE("an inverse and separators are kept") {
  const char* text =
      "tvm.tir.IndexMap.from_func(lambda i: (i // 4, i % 4,), "
      "inverse_index_map=lambda a, b: (a * 4 + b,))";
  CHECK(again(text) == text);
  CHECK(again("T.index_map(lambda i: i)") == "lambda i: (i,)");
  CHECK(again("IndexMap.from_func(lambda i: i, ndim=1, index_dtype=\"int32\")") ==
        "lambda i: (i,)");
  const ir::index_map split =
      ir::make_index_map("lambda i: [i // 4, IndexMap.AXIS_SEPARATOR, i % 4]");
  CHECK(split.separators == std::vector<std::size_t>{1});
  CHECK(split.outputs.size() == 2);
}

TEST_CASE("a map takes indices and another index type") {
  const ir::index_map map = ir::make_index_map("lambda i: (i // 4, 0)");
  CHECK(ir::print(ir::map_indices(map, {ir::integer(dtype::i32, 9)})[0]) == "2");
  CHECK_THROWS_AS(ir::map_indices(map, {}), argument_error);
  const ir::index_map wide = ir::with_index_type(map, dtype::i64);
  CHECK(wide.outputs[0].type() == dtype::i64);
  CHECK(wide.outputs[1].type() == dtype::i64);
}

TEST_CASE("what is no index map is refused with its place") {
  for (const char* text :
       {"i", "lambda i, i: i", "lambda i: k", "lambda i: (i", "lambda i: (i))", "lambda i: i j",
        "f(lambda i: i)", "lambda i: (i, )) ", "IndexMap.from_func(lambda i: i, what=3)"})
    CHECK_THROWS_AS(ir::make_index_map(text), ir::parse_error);
}
