#include <tilewright/ir/analysis/declared.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("declared: a block reads and writes the buffers of its regions") {
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {4}),
                   b = ir::make_buffer("B", dtype::f32, {4});
  ir::block_node block;
  block.reads = {ir::full_region(a)};
  block.writes = {ir::full_region(b)};
  CHECK(ir::mentions(block.reads, a));
  CHECK(!ir::mentions(block.reads, b));
  CHECK(!ir::mentions({}, a));
  CHECK(ir::reads_buffer(block, a));
  CHECK(!ir::reads_buffer(block, b));
  CHECK(ir::writes_buffer(block, b));
  CHECK(!ir::writes_buffer(block, a));
}
