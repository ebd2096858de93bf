// The order of blocks and threads in products.
#include <tilewright/impl/space/tiles/product_order.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/target/gpu.hpp>

#include "kernels.hpp"
#include "members.hpp"
#include "programs.hpp"
#include "trace_text.hpp"

using namespace tilewright;
using space::detail::sides_of_product, space::detail::sides_of_window;

namespace {

const ir::block_node& block_of(const schedule& s, const char* name) {
  return *space::named_block(s, name).block;
}

space::multi_level_tiling in_order() {
  space::multi_level_tiling rule = space::gpu_tiling();
  rule.product_order = true;
  rule.row_padding = {16, 0};
  return rule;
}

/// The first schedule for a device of 132 multiprocessors.
schedule first_for(const ir::function& f) {
  static const target::gpu gpu = target::named_gpu("sm_90a");
  return space::default_gpu().sketches(f, {&gpu, 1}, 1).at(0);
}

}  // namespace

TEST_CASE("product_order: rows and columns are the last two axes of a product") {
  const schedule product(programs::matmul(8, 16, 4));
  const auto sides = sides_of_product(block_of(product, "C"));
  REQUIRE(sides);
  CHECK(sides->row == 0);
  CHECK(sides->column == 1);
  // a vector has no rows, a window no rows of terms
  CHECK_FALSE(sides_of_product(block_of(schedule(programs::matmul(1, 16, 4)), "C")));
  CHECK_FALSE(sides_of_product(block_of(schedule(kernels::conv2d()), "Y")));
}

TEST_CASE("product_order: rows and columns of a window are pixels and filters") {
  const schedule window(kernels::conv2d());
  const ir::block_node& block = block_of(window, "Y");
  const auto sides = sides_of_window(block);
  REQUIRE(sides);
  CHECK(sides->row + 1 == sides->column);
  // what is laid on has rows of channels, which are terms; filters have rows of results
  for (const ir::buffer_region& r : block.reads)
    CHECK(space::detail::terms_of_rows(block, r).has_value() == (r.buffer->name == "P"));
  CHECK_FALSE(sides_of_window(block_of(schedule(programs::matmul(8, 16, 4)), "C")));
}

TEST_CASE("product_order: pixels of a window stand in twos where a thread has several filters") {
  const auto window = [](int pixels, int channels, int filters) {
    const auto n = [](int x) { return std::to_string(x); };
    return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + n(pixels + 2) + ", " + n(channels) +
                     "), \"float32\"), F: T.Buffer((3, " + n(channels) + ", " + n(filters) +
                     "), \"float32\"), C: T.Buffer((" + n(pixels) + ", " + n(filters) +
                     "), \"float32\")):\n    for i, j, p, k in T.grid(" + n(pixels) + ", " +
                     n(filters) + ", 3, " + n(channels) + R"():
        with T.block("C"):
            vi, vj, vp, vk = T.axis.remap("SSRR", [i, j, p, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi + vp, vk] * F[vp, vk, vj]
)");
  };
  // threads of a warp: so many above each other, columns, two above each other
  const schedule wide = first_for(window(16384, 64, 64));
  CHECK(traces::mentions(wide, "n=3, max_innermost_factor=4, decision="));
  CHECK(traces::mentions(wide, ", 2])"));
  CHECK(traces::mentions(wide, "tilewright.row_padding"));
  // one filter to a thread: nothing is read in vectors; three channels: rows are too short to meet in a bank
  const schedule narrow = first_for(window(64, 3, 8));
  CHECK_FALSE(traces::mentions(narrow, "n=3, max_innermost_factor=4, decision="));
  CHECK_FALSE(traces::mentions(narrow, "tilewright.row_padding"));
}

TEST_CASE("product_order: any order of a window's threads computes the same") {
  const ir::function f = kernels::conv2d();
  const std::vector<schedule> all = members::sketches(f, {in_order()});
  REQUIRE(all.size() == 1);
  CHECK(members::check(f, all, [](schedule&) {}, {.device = true}) > 40);
}

TEST_CASE("product_order: rows of A are terms, those of B are not") {
  const schedule s(programs::matmul(8, 16, 4));
  const ir::block_node& block = block_of(s, "C");
  for (const ir::buffer_region& r : block.reads)
    CHECK(space::detail::has_rows_of_terms(block, r) == (r.buffer->name == "A"));
}

TEST_CASE("product_order: a large product has warps of 4 x 8, blocks in groups, and rows padded") {
  const schedule large = first_for(programs::matmul(4096, 4096, 4096));
  CHECK(traces::mentions(large, "n=2, max_innermost_factor=16, decision=[4, 8]"));
  CHECK(traces::mentions(large, "n=3, max_innermost_factor=4, decision=[4, 2, 2]"));
  CHECK(traces::mentions(large, "n=2, max_innermost_factor=32, decision=[2, 8]"));
  CHECK(traces::mentions(large, "tilewright.row_padding"));
  // the device runs all blocks of a smaller one at once
  const schedule small = first_for(programs::matmul(1024, 1024, 1024));
  CHECK(traces::mentions(small, "n=2, max_innermost_factor=16, decision=[32, 1]"));
  CHECK(traces::mentions(small, "n=3, max_innermost_factor=4, decision=[2, 2, 2]"));
}

TEST_CASE("product_order: any sizes of warps and groups compute the same") {
  const ir::function f = kernels::dense_relu();
  const std::vector<schedule> all = members::sketches(f, {in_order()});
  REQUIRE(all.size() == 1);
  CHECK(traces::mentions(all[0], "tilewright.row_padding"));
  CHECK(members::check(f, all, [](schedule&) {}, {.device = true}) > 40);
}
