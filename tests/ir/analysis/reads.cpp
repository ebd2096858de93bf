#include <tilewright/ir/analysis/reads.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/expr.hpp>

using namespace tilewright;

TEST_CASE("reads: which expressions look at memory") {
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {8}, "global");
  const ir::buffer b = ir::make_buffer("B", dtype::f32, {8}, "global");
  const ir::var i = ir::make_var("i");
  const ir::expr element = ir::load(a, {i});
  CHECK_FALSE(ir::reads_memory(i * 2 + 1));
  CHECK(ir::reads_memory(element * ir::real(dtype::f32, 2)));
  CHECK(ir::reads_memory(ir::load(b, {i + 1})));
  CHECK(ir::reads_memory(ir::call(dtype::f32, "exp", {ir::real(dtype::f32, 2)})));
  CHECK(ir::loads_from(element + ir::load(b, {i}), b));
  CHECK_FALSE(ir::loads_from(element, b));
  const ir::stmt copy = ir::make_store(b, {i}, element);
  CHECK(ir::loads_from(copy, a));
  CHECK_FALSE(ir::loads_from(copy, b));  // a store is no load
}

TEST_CASE("reads: what rebuilds an expression keeps what it reads") {
  const ir::buffer a = ir::make_buffer("A", dtype::i32, {8}, "global");
  const ir::var i = ir::make_var("i");
  const ir::expr sum = ir::load(a, {i}) + i;
  CHECK(ir::reads_memory(ir::with_args(sum, {sum->args[0], ir::integer(dtype::i32, 3)})));
  CHECK_FALSE(ir::reads_memory(ir::with_args(sum, {i, ir::integer(dtype::i32, 3)})));
  CHECK(ir::reads_memory(ir::let_in(i, ir::load(a, {0}), i * 2)));
  CHECK(ir::reads_memory(ir::floordiv(i, 2 + ir::max(i, sum))));
  CHECK_FALSE(ir::reads_memory(ir::integer(dtype::i32, 3)));
}
