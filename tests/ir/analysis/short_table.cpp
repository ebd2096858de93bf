#include <tilewright/ir/analysis/short_table.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("a short table is a row of 2 to 64 elements that is read at a place that memory tells") {
  const ir::buffer places = ir::make_buffer("P", dtype::i32, {8});
  const ir::var i = ir::make_var("i");
  const auto from = [&](std::vector<ir::expr> shape, std::vector<ir::expr> at) {
    return ir::reads_short_table(
        ir::load(ir::make_buffer("T", dtype::f32, std::move(shape)), std::move(at)));
  };
  const ir::expr place = ir::load(places, {i});
  CHECK(from({16}, {place}));
  CHECK(from({1000, 64}, {i, place + 1}));
  CHECK_FALSE(from({1}, {place}));
  CHECK_FALSE(from({65}, {place}));
  CHECK_FALSE(from({16}, {i}));
  CHECK_FALSE(from({16, 4}, {place, i}));
  CHECK_FALSE(ir::reads_short_table(place + 1));
}
