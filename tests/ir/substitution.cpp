#include <tilewright/ir/substitution.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

TEST_CASE("substitution: ranges, lists and regions have the variables of their parts replaced") {
  const ir::var i = ir::make_var("i"), j = ir::make_var("j");
  const ir::var_map to_j{{i, j + 1}};
  const ir::range r = ir::substitute(ir::range{i, i * 2}, to_j);
  CHECK(ir::print(r.min) == "j + 1");
  CHECK(ir::print(r.extent) == "(j + 1) * 2");
  const std::vector<ir::expr> list = ir::substitute(std::vector<ir::expr>{i, j}, to_j);
  CHECK(ir::print(list[0]) == "j + 1");
  CHECK(list[1].same(j));
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {8});
  const ir::buffer_region part{a, {{i, ir::expr(1)}}};
  CHECK(ir::print(ir::substitute(part, to_j)) == "A[j + 1]");
  CHECK(ir::print(part) == "A[i]");
}

TEST_CASE("substitution: the bindings of a realize give each variable its value") {
  const ir::var i = ir::make_var("i"), v = ir::make_var("v");
  ir::block_node block;
  block.name = "B";
  block.iters = {{v, {ir::expr(0), ir::expr(4)}, ir::iter_kind::spatial}};
  block.body = ir::make_store(ir::make_buffer("A", dtype::f32, {4}), {v}, ir::real(dtype::f32, 0));
  const ir::stmt s = ir::make_realize({i}, ir::boolean(true), ir::make_block(std::move(block)));
  const ir::var_map map = ir::bindings(*ir::as_realize(s));
  CHECK(map.size() == 1);
  CHECK(map.at(v).same(i));
}
