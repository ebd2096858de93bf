#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/access_pattern.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

/// What post-processing makes of the annotation: init apart, body replaced.
void tensorize(schedule& s, const std::string& name, const std::string& block) {
  const block_rv b = s.get_block(block);
  REQUIRE(s.get(b).block->annotations.at("meta_schedule.auto_tensorize") == ir::attr(name));
  s.decompose_reduction(b, s.get_loops(b)[0]);
  s.unannotate(b, "meta_schedule.auto_tensorize");
  s.tensorize(b, name);
}

std::vector<schedule> tiled(const ir::function& f, const std::string& intrinsic) {
  space::multi_level_tiling_with_intrinsic rule;
  rule.intrinsic = intrinsic;
  return members::sketches(f, {rule});
}

/// Members of every sketch become the intrinsic and compute the same, interpreted and compiled.
void check_tensorized(const ir::function& f, const std::string& intrinsic, const std::string& block,
                      int count) {
  const std::vector<schedule> all = tiled(f, intrinsic);
  CHECK(all.size() == 3);
  const auto expected = members::interpreted(f, false);
  int compiled = 0;
  const std::size_t different = members::check(
      f, all,
      [&](schedule& s) {
        CHECK(space::is_tiled(s, block + "_o"));
        CHECK(s.get_loops(s.get_block(block + "_o")).size() % 2 == 0);
        schedule done = s;
        tensorize(done, intrinsic, block + "_o");
        members::check_equal(members::interpreted(done.function(), false), expected, 1e-5);
        if (compiled++ % 16 == 0) members::check_compiled(done.function(), expected, 1e-5);
      },
      {.count = count, .compiled = false});
  CHECK(different > static_cast<std::size_t>(count) / 3);
}

}  // namespace

TEST_CASE("dot products of bytes are found, tiled around, and become the intrinsic") {
  check_tensorized(kernels::dense_i8(), "dot_16x4_vnni", "C", 50);
}

TEST_CASE("outer products of floats have no reduction of their own") {
  const ir::function f = kernels::dense_relu();
  const std::vector<schedule> all = tiled(f, "outer_product_6x16_f32");
  REQUIRE_FALSE(all.empty());
  CHECK(space::has_block(all[0], "P_o"));
  check_tensorized(f, "outer_product_6x16_f32", "P", 20);
}

TEST_CASE("what cannot become the intrinsic is left to the next rule") {
  // 8-bit signed times signed, extents that do not divide, and a kernel of another kind
  for (const char* name : {"dot_4x4_i8i8s32_neon", "dot_32x4_u8u8i32_vrmpy"}) {
    const std::vector<schedule> all = tiled(kernels::dense_i8(), name);
    REQUIRE(all.size() == 1);
    CHECK(all[0].trace().empty());
  }
  CHECK(tiled(kernels::conv2d(), "dot_16x4_vnni")[0].trace().empty());
  CHECK(tiled(kernels::softmax(), "dot_16x4_vnni")[0].trace().empty());
  space::multi_level_tiling_with_intrinsic rule;
  rule.intrinsic = "dot_16x4_vnni";
  const std::vector<schedule> next =
      members::sketches(kernels::conv2d(), {rule, space::cpu_tiling()});
  CHECK(next.size() == 3);
  CHECK(space::is_tiled(next[0], "Y"));
}

TEST_CASE("an intrinsic that wants staged operands is found where the tiling stages them") {
  space::multi_level_tiling_with_intrinsic rule;
  rule.intrinsic = "dp4a_u8s8s32";
  rule.tiling = space::gpu_tiling();
  rule.tiling.vector_load_lengths.clear();
  const ir::function f = kernels::dense_i8();
  const std::vector<schedule> all = members::sketches(f, {rule});
  REQUIRE(all.size() == 1);
  REQUIRE(space::has_block(all[0], "C_o"));
  const auto expected = members::interpreted(f, true);
  members::check(f, all,
                 [&](schedule& s) {
                   schedule done = s;
                   tensorize(done, rule.intrinsic, "C_o");
                   members::check_equal(members::interpreted(done.function(), true), expected, 0);
                 },
                 {.device = true});
}

TEST_CASE("an unknown intrinsic is named") {
  CHECK_THROWS_WITH_AS(tiled(kernels::dense_i8(), "dot_3"),
                       "multi_level_tiling_with_intrinsic: no intrinsic is called \"dot_3\"; "
                       "intrin::add makes one known",
                       argument_error);
}
