#include <tilewright/space/modules/multi_level_tiling_wide_vector.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/access_pattern.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

const ir::loop_node& innermost(schedule& s, const std::string& block) {
  return s.get(s.get_loops(s.get_block(block)).back());
}

/// The innermost loop is one vector of the last output dimension in every member.
void check_vectors(const ir::function& f, const std::string& block, int bits,
                   std::int64_t elements) {
  space::multi_level_tiling_wide_vector rule;
  rule.vector_bits = bits;
  const std::vector<schedule> all = members::sketches(f, {rule});
  const std::size_t different = members::check(f, all, [&](schedule& s) {
    CHECK(space::is_tiled(s, block));
    CHECK(innermost(s, block).loop == ir::loop_kind::vectorized);
    CHECK(ir::is_int(innermost(s, block).extent, elements));
  });
  CHECK(different > 10);
}

}  // namespace

TEST_CASE("the innermost tile is one vector, also where that does not divide") {
  check_vectors(kernels::dense_relu(), "P", 256, 8);  // 16 columns
  check_vectors(kernels::conv2d(), "Y", 128, 4);      // 6 channels
}

TEST_CASE("a dimension that is no longer than a vector is tiled like the others") {
  space::multi_level_tiling_wide_vector rule;
  const std::vector<schedule> all = members::sketches(kernels::dense_relu(), {rule});
  REQUIRE(all.size() == 1);
  members::check(kernels::dense_relu(), all,
                 [](schedule& s) {
                   CHECK(s.get_loops(s.get_block("P")).size() == 2 * 3 + 2);
                   CHECK(innermost(s, "P").loop == ir::loop_kind::serial);
                 },
                 {.count = 15});
}

TEST_CASE("blocks that share nothing stay") {
  const std::vector<schedule> all =
      members::sketches(kernels::softmax(), {space::multi_level_tiling_wide_vector{}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].trace().empty());
}
