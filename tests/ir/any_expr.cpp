#include <tilewright/ir/any_expr.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("any_expr: of an expression, of a statement, of none") {
  const ir::var i = ir::make_var("i"), j = ir::make_var("j");
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {4});
  const auto is_i = [&](const ir::expr& e) { return e.same(i); };
  CHECK(ir::any_expr(ir::expr(i), is_i));
  CHECK(ir::any_expr(ir::min(j, i * 2), is_i));
  CHECK(!ir::any_expr(ir::expr(j + 1), is_i));
  CHECK(ir::any_expr(ir::make_store(a, {i}, ir::real(dtype::f32, 0)), is_i));
  CHECK(!ir::any_expr(ir::make_store(a, {j}, ir::real(dtype::f32, 0)), is_i));
  CHECK(!ir::any_expr(ir::stmt{}, is_i));
}
