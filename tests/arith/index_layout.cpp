#include <tilewright/arith/index_layout.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>

using namespace tilewright;

namespace {

std::vector<ir::expr> extents(const std::vector<std::int64_t>& values) {
  std::vector<ir::expr> out;
  for (const std::int64_t v : values) out.push_back(ir::integer(dtype::i32, v));
  return out;
}

arith::index_layout layout(const char* map, const std::vector<std::int64_t>& shape) {
  return arith::lay_out(ir::make_index_map(map), extents(shape), {});
}

std::string text(const std::vector<ir::expr>& list) {
  std::string out;
  for (const ir::expr& e : list) out += (out.empty() ? "" : ", ") + ir::print(e);
  return out;
}

/// All points of a box.
std::vector<std::vector<std::int64_t>> points(const std::vector<std::int64_t>& shape) {
  std::vector<std::vector<std::int64_t>> out{{}};
  for (const std::int64_t n : shape) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& p : out)
      for (std::int64_t i = 0; i < n; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    out = std::move(longer);
  }
  return out;
}

std::int64_t value(const ir::expr& e, const std::vector<ir::var>& vars,
                   const std::vector<std::int64_t>& at) {
  ir::var_map map;
  for (std::size_t i = 0; i < vars.size(); ++i)
    map.emplace(vars[i], ir::integer(dtype::i32, at[i]));
  const ir::expr out = arith::simplify(ir::substitute(e, map));
  REQUIRE(ir::is_int(out));
  return ir::as_int(out);
}

/// The layout says of every place what enumerating the box shows.
void check_by_enumeration(const char* text_of_map, const std::vector<std::int64_t>& shape) {
  CAPTURE(std::string(text_of_map));
  const ir::index_map map = ir::make_index_map(text_of_map);
  const arith::index_layout l = arith::lay_out(map, extents(shape), {});
  REQUIRE(l.has_inverse());
  std::set<std::vector<std::int64_t>> taken;
  for (const auto& p : points(shape)) {
    std::vector<std::int64_t> image;
    for (const ir::expr& e : map.outputs) image.push_back(value(e, map.inputs, p));
    CHECK(taken.insert(image).second);
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(value(l.inverse[i], l.axes, image) == p[i]);
  }
  std::vector<std::int64_t> sizes;
  for (const ir::expr& e : l.shape) sizes.push_back(ir::as_int(e));
  std::size_t inside = 0;
  for (const auto& p : points(sizes)) {
    inside += taken.count(p);
    CHECK(value(l.padding, l.axes, p) == (taken.count(p) == 0 ? 1 : 0));
  }
  CHECK(inside == taken.size());
}

}  // namespace

TEST_CASE("a split pads to the next multiple") {
  const arith::index_layout l = layout("lambda i: (i // 4, i % 4)", {14});
  CHECK(text(l.shape) == "4, 4");
  CHECK(text(l.inverse) == "axis0 * 4 + axis1");
  CHECK(ir::print(l.padding) == "axis0 == 3 and 2 <= axis1");
  CHECK(text(layout("lambda i: (i // 4, i % 4)", {1}).shape) == "1, 4");
  const arith::index_layout kept = layout("lambda i, j: (j // 4, i, j % 4)", {16, 16});
  CHECK(ir::print(kept.padding) == "T.bool(False)");
  CHECK(kept.axes[1]->name == "i");
}

TEST_CASE("layouts agree with enumeration") {
  check_by_enumeration("lambda i: (i // 4, i % 4)", {14});
  check_by_enumeration("lambda i: ((i + 1) // 4, (i + 1) % 4)", {14});
  check_by_enumeration("lambda i: (i // 16, i // 4 % 4, i % 4)", {60});
  check_by_enumeration("lambda i: (i % 4, i // 16, i % 16 // 4)", {35});
  check_by_enumeration("lambda i: (i // 64, i % 64)", {60});
  check_by_enumeration("lambda i: (0, i)", {5});
  check_by_enumeration("lambda i, j: (j // 4, i // 3, j % 4, i % 3)", {16, 14});
  check_by_enumeration("lambda i, j: (i * 7 + j,)", {10, 7});
  check_by_enumeration("lambda i, j: ((i * 7 + j) // 8, (i * 7 + j) % 8)", {10, 7});
  check_by_enumeration("lambda i, j: ((i * 7 + j + 3) // 8, (i * 7 + j + 3) % 8)", {10, 7});
  check_by_enumeration("lambda i, j: (i // 2, j * 2 + i % 2)", {5, 3});
  check_by_enumeration("lambda i, j, k: (k, i * 4 + j)", {3, 4, 1});
  check_by_enumeration("lambda: ()", {});
}

TEST_CASE("maps without an inverse have a shape") {
  const arith::index_layout gaps = layout("lambda i, j: (i * 8 + j,)", {10, 7});
  CHECK_FALSE(gaps.has_inverse());
  CHECK(text(gaps.shape) == "79");
  CHECK_FALSE(layout("lambda i, j: (i + j,)", {4, 4}).has_inverse());
  CHECK_FALSE(layout("lambda i: (i // 4, i % 4, i)", {16}).has_inverse());
  CHECK_FALSE(layout("lambda i: (i * 2,)", {16}).has_inverse());
  CHECK_FALSE(layout("lambda i: (i // 4,)", {16}).has_inverse());
  CHECK(layout("lambda i: (i + 2,)", {16}).shape.empty());
  CHECK(layout("lambda i: (0 - i,)", {16}).shape.empty());
}

TEST_CASE("sums with symbolic factors can be inverted") {
  const ir::var n = ir::make_var("n", dtype::i64);
  ir::index_map map = ir::make_index_map(4, [&](const auto&) { return std::vector<ir::expr>{}; });
  map = ir::with_index_type(map, dtype::i64);
  map.outputs = {map.inputs[0] * 32 * n + map.inputs[1] * n + map.inputs[2] * n + map.inputs[3]};
  const auto whole = [](std::int64_t v) { return ir::integer(dtype::i64, v); };
  const arith::index_layout l = arith::lay_out(map, {whole(1), whole(32), whole(1), n}, {});
  CHECK(text(l.shape) == "n * T.int64(32)");
  CHECK(text(l.inverse) == "T.int64(0), axis0 // n, T.int64(0), axis0 % n");
}

TEST_CASE("a symbolic multiple can be split") {
  const ir::var n = ir::make_var("n", dtype::i32);
  const auto split = [&](const char* map, const ir::expr& extent) {
    return arith::lay_out(ir::make_index_map(map), {ir::integer(dtype::i32, 3), extent}, {});
  };
  const ir::expr rounded_up = ir::floordiv(n + 7, ir::integer(dtype::i32, 8)) * 8;
  const arith::index_layout l = split("lambda i, j: (j // 8, i, j % 8)", rounded_up);
  CHECK(text(l.shape) == "(n + 7) // 8, 3, 8");
  CHECK(text(l.inverse) == "i, axis0 * 8 + axis2");
  CHECK(ir::print(l.padding) == "T.bool(False)");
  const arith::index_layout deep = split("lambda i, j: (j // 8, i, j % 8 // 2, j % 2)", n * 8);
  CHECK(text(deep.shape) == "n, 3, 4, 2");
  CHECK(text(deep.inverse) == "i, axis0 * 8 + axis2 * 2 + axis3");
  CHECK_FALSE(split("lambda i, j: (j // 8, i, j % 8)", n * 4).has_inverse());
  CHECK_FALSE(split("lambda i, j: (j // 8, i, j % 4)", n * 8).has_inverse());
  CHECK_FALSE(split("lambda i, j: ((j + 1) // 8, i, (j + 1) % 8)", n * 8).has_inverse());
}

TEST_CASE("an inverse that is given must be one") {
  const char* good =
      "tvm.tir.IndexMap.from_func(lambda i: (15 - i,), inverse_index_map=lambda a: (15 - a,))";
  CHECK(text(layout(good, {16}).inverse) == "15 - axis0");
  const char* bad =
      "tvm.tir.IndexMap.from_func(lambda i: (15 - i,), inverse_index_map=lambda a: (14 - a,))";
  CHECK_FALSE(layout(bad, {16}).has_inverse());
}

TEST_CASE("boxes are mapped as intervals") {
  const ir::index_map map = ir::make_index_map("lambda i, j: (i // 16, j, i % 16)");
  const ir::var v = ir::make_var("v");
  arith::analyzer known;
  known.bind(v, 0, 7);
  const std::vector<ir::range> box{{v * 16, 16}, {v, 1}};
  const auto image = arith::map_box(map, box, extents({8, 8, 16}), known);
  CHECK(ir::print(image[0].min) == "v");
  CHECK(ir::is_int(image[0].extent, 1));
  CHECK(image[1].min.same(v));
  CHECK(ir::is_int(image[2].min, 0));
  CHECK(ir::is_int(image[2].extent, 16));
}
