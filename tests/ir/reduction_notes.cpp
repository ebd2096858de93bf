#include <tilewright/ir/reduction_notes.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("one partial result, or none, asks for all terms in their order") {
  CHECK_FALSE(ir::asks_for_order({}));
  CHECK_FALSE(ir::asks_for_order({{ir::skip_zeros_note, 1}}));
  for (const int lanes : {0, 1}) CHECK(ir::asks_for_order({{ir::reduction_lanes_note, lanes}}));
  CHECK_FALSE(ir::asks_for_order({{ir::reduction_lanes_note, 8}}));
}
