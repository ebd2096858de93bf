#include <tilewright/space/modules/auto_inline.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;
using names = std::vector<std::string>;

namespace {

names left_by(const ir::function& f, const std::vector<members::rule>& rules) {
  const std::vector<schedule> all = members::sketches(f, rules);
  REQUIRE(all.size() == 1);
  members::check(f, all, [](schedule&) {}, {.count = 2});
  return space::root_block_names(all[0]);
}

space::auto_inline strict() {
  space::auto_inline rule;
  rule.all_if_spatial = false;
  return rule;
}

/// Draws of a whole space: inlining, then tiles in which the epilogue is computed.
void check_before_tiling(const ir::function& f, const std::string& tiled) {
  const std::vector<schedule> all =
      members::sketches(f, {space::auto_inline{}, space::cpu_tiling()});
  const std::size_t different = members::check(f, all, [&](schedule& s) {
    CHECK_FALSE(space::has_block(s, "Q"));
    CHECK(space::has_block(s, tiled));
  });
  CHECK(different > 10);
}

}  // namespace

TEST_CASE("a chain without reductions becomes one block") {
  CHECK(left_by(kernels::relu_chain(), {space::auto_inline{}}) == names{"Y"});
}

TEST_CASE("conditions, costly calls and reads out of order are kept where asked") {
  const ir::function f = kernels::relu_chain();
  CHECK(left_by(f, {strict()}) == names{"P", "E", "Y"});
  space::auto_inline paddings = strict();
  paddings.conditionals = true;
  CHECK(left_by(f, {paddings}) == names{"E", "Y"});
  paddings.costly.clear();
  CHECK(left_by(f, {paddings}) == names{"Y"});
  paddings.calls = false;
  CHECK(left_by(f, {paddings}) == names{"E", "Y"});
  space::auto_inline without = strict();
  without.into_consumers = without.constant_tensors = false;
  CHECK(left_by(f, {without}).size() == 6);
}

TEST_CASE("reads that do not follow the write are an option") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    A = T.alloc_buffer((8, 8), "float32")
    D = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vj, vi] + T.float32(1)
    for i, j in T.grid(8, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = X[vi, vi] * T.float32(2)
    for i, j in T.grid(8, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj] + D[vi, vj]
)");
  CHECK(left_by(f, {strict()}) == names{"A", "D", "Y"});
  space::auto_inline rule = strict();
  rule.ordered_reads = false;
  CHECK(left_by(f, {rule}) == names{"D", "Y"});
  rule.injective_reads = false;
  CHECK(left_by(f, {rule}) == names{"Y"});
}

TEST_CASE("a block says that it stays") {
  const members::rule keep = [](schedule& s, const std::string& name, const space::context&,
                                space::chooser&) {
    if (name == "E") s.annotate(s.get_block(name), "meta_schedule.inline_rule", "disable");
  };
  CHECK(left_by(kernels::relu_chain(), {keep, space::auto_inline{}}) == names{"E", "Y"});
}

TEST_CASE("an epilogue goes into the copy out of a tile, never into a reduction") {
  space::auto_inline rule = strict();
  rule.into_producer = true;
  CHECK(left_by(kernels::dense_relu(), {rule}) == names{"P", "Q"});
  const members::rule cache = [](schedule& s, const std::string& name, const space::context&,
                                 space::chooser&) {
    if (name == "P") s.cache_write(s.get_block(name), 0, "local");
  };
  rule.into_consumers = false;
  const std::vector<schedule> all = members::sketches(kernels::dense_relu(), {cache, rule, rule});
  REQUIRE(all.size() == 1);
  CHECK(space::root_block_names(all[0]) == names{"P", "P_local"});
  check_meaning(all[0], kernels::dense_relu());
}

TEST_CASE("constants become literals") {
  CHECK(left_by(kernels::relu_chain(), {space::inline_constant_scalars{}}) ==
        names{"P", "K", "E", "B", "Y"});
  space::auto_inline rule = strict();
  rule.into_consumers = false;
  CHECK(left_by(kernels::relu_chain(), {rule}) == names{"P", "E", "B", "Y"});
}

TEST_CASE("inlining stands before other rules") {
  check_before_tiling(kernels::dense_relu(), "P");
  check_before_tiling(kernels::conv2d(), "Y");
  const std::vector<schedule> softmax =
      members::sketches(kernels::softmax(), {space::auto_inline{}});
  REQUIRE(softmax.size() == 1);
  CHECK(space::root_block_names(softmax[0]) == names{"M", "E", "S", "Y"});
}
