#include <tilewright/space/modules/multi_level_tiling.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/access_pattern.hpp>

#include "../kernels.hpp"
#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

std::vector<std::string> tags(schedule& s, const std::string& block) {
  std::vector<std::string> out;
  for (const loop_rv l : s.get_loops(s.get_block(block))) out.push_back(s.get(l).thread_tag);
  return out;
}

std::int64_t extent(schedule& s, loop_rv l) { return s.get(l).extent->integer; }

/// The loops of the block are those of the structure, in its order, and no innermost tile is
/// longer than allowed.
void check_structure(schedule& s, const std::string& block, const std::string& kinds,
                     const std::string& structure, int limit) {
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(block));
  std::size_t next = 0;
  std::size_t last_spatial = structure.rfind('S'), last_reduce = structure.rfind('R');
  for (std::size_t p = 0; p < structure.size(); ++p)
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] != structure[p]) continue;
      REQUIRE(next < loops.size());
      if (p == last_spatial || p == last_reduce) CHECK(extent(s, loops[next]) <= limit);
      ++next;
    }
  CHECK(next == loops.size());
  CHECK(space::is_tiled(s, block));
}

}  // namespace

TEST_CASE("what is tiled: reductions that use operands more than once") {
  CHECK(space::shares_operands(schedule(kernels::dense_relu()), "P"));
  CHECK_FALSE(space::shares_operands(schedule(kernels::dense_relu()), "C"));
  CHECK(space::shares_operands(schedule(kernels::conv2d()), "Y"));
  CHECK_FALSE(space::shares_operands(schedule(kernels::conv2d()), "P"));
  for (const char* block : {"M", "E", "S", "Y"})
    CHECK_FALSE(space::shares_operands(schedule(kernels::softmax()), block));
  schedule split(kernels::dense_relu());
  split.split(split.get_loops(split.get_block("P"))[0], {infer, 4});
  CHECK_FALSE(space::shares_operands(split, "P"));
}

TEST_CASE("SSRSRS with an epilogue: below the first tile, the second, or where it is") {
  const ir::function f = kernels::dense_relu();
  const std::vector<schedule> all = members::sketches(f, {space::cpu_tiling()});
  REQUIRE(all.size() == 3);
  CHECK(traces::mentions(all[0], "reverse_compute_at"));
  CHECK(traces::mentions(all[1], "reverse_compute_at"));
  CHECK_FALSE(traces::mentions(all[2], "reverse_compute_at"));
  for (const schedule& s : all) CHECK_FALSE(traces::mentions(s, "cache_write"));
  const std::size_t different =
      members::check(f, all, [](schedule& s) { check_structure(s, "P", "SSR", "SSRSRS", 64); });
  CHECK(different > 40);
}

TEST_CASE("SSRSRS of an output: in place, or through a tile of its own") {
  const ir::function f = kernels::conv2d();
  const std::vector<schedule> all = members::sketches(f, {space::cpu_tiling()});
  REQUIRE(all.size() == 3);
  CHECK_FALSE(traces::mentions(all[0], "cache_write"));
  CHECK(traces::mentions(all[1], "cache_write"));
  CHECK(traces::mentions(all[2], "cache_write"));
  const std::size_t different =
      members::check(f, all, [](schedule& s) { check_structure(s, "Y", "SSSRRR", "SSRSRS", 64); });
  CHECK(different > 40);
}

TEST_CASE("other structures, limits and sizes that do not divide") {
  const ir::function f = kernels::dense_relu();
  space::multi_level_tiling rule;
  rule.structure = "SRSRS";
  rule.max_innermost_factor = 4;
  members::check(f, members::sketches(f, {rule}),
                 [](schedule& s) { check_structure(s, "P", "SSR", "SRSRS", 4); }, {.count = 25});
  rule.structure = "SSRS";
  rule.dividing = false;
  rule.max_innermost_factor = 8;
  rule.reuse_write = {space::staging::may, {1}, "global"};
  bool cut = false;
  members::check(f, members::sketches(f, {rule}), [&](schedule& s) {
    const std::vector<loop_rv> loops = s.get_loops(s.get_block("P"));
    REQUIRE(loops.size() == 7);
    cut = cut || 12 % extent(s, loops[5]) != 0;
    CHECK(extent(s, loops[5]) <= 8);
    CHECK(extent(s, loops[6]) <= 8);
  });
  CHECK(cut);
}

TEST_CASE("operands are staged where asked, as a choice or always") {
  const ir::function f = kernels::conv2d();
  space::multi_level_tiling rule;
  rule.reuse_read = {space::staging::may, {2, 3}, "global"};
  const std::vector<schedule> all = members::sketches(f, {rule});
  REQUIRE(all.size() == 3);
  CHECK_FALSE(space::has_block(all[0], "F_global"));
  for (std::size_t i : {1u, 2u}) {
    CHECK(space::has_block(all[i], "P_global"));
    CHECK(space::has_block(all[i], "F_global"));
    CHECK_FALSE(traces::mentions(all[i], "cooperative_fetch"));
  }
  members::check(f, {all[1], all[2]}, [](schedule& s) {
    // the tile's loops, then those of the copy in one
    const auto copy = s.get_loops(s.get_block("F_global")).size();
    CHECK((copy == 6 + 1 || copy == 9 + 1));
  });
}

TEST_CASE("a GPU's structure: blocks, virtual threads, threads, shared operands, own results") {
  for (const bool conv : {false, true}) {
    CAPTURE(conv);
    const ir::function f = conv ? kernels::conv2d() : kernels::dense_relu();
    const std::string block = conv ? "Y" : "P";
    const std::vector<schedule> all = members::sketches(f, {space::gpu_tiling()});
    REQUIRE(all.size() == 1);
    CHECK(traces::mentions(all[0], "meta_schedule.cooperative_fetch"));
    const auto promised = [&](schedule& s) {
      const std::vector<std::string> bound = tags(s, block);
      REQUIRE(bound.size() > 3);
      CHECK(bound[0] == "blockIdx.x");
      CHECK(bound[1] == "vthread.x");
      CHECK(bound[2] == "threadIdx.x");
      const ir::block_node& b = *s.get(s.get_block(block)).block;
      CHECK(b.writes[0].buffer->scope == "local");
      for (const ir::buffer_region& r : b.reads) CHECK(r.buffer->scope == "shared");
      CHECK(b.annotations.at("meta_schedule.thread_extent_low_inclusive") == ir::attr(32));
      CHECK(b.annotations.at("meta_schedule.thread_extent_high_inclusive") == ir::attr(1024));
    };
    CHECK(members::check(f, all, promised, {.device = true}) > 40);
  }
}

TEST_CASE("vector loads are at most 16 bytes") {
  const std::vector<schedule> all = members::sketches(kernels::dense_relu(), {space::gpu_tiling()});
  CHECK(traces::mentions(all[0], "candidates=[1, 2, 3, 4], "));
  CHECK_FALSE(traces::mentions(all[0], "candidates=[1, 2, 3, 4, 8"));
}

TEST_CASE("a block may ask for its cache, and a filter for other blocks") {
  const ir::function f = kernels::dense_relu();
  const members::rule ask = [](schedule& s, const std::string& name, const space::context&,
                               space::chooser&) {
    if (name == "P")
      s.annotate(s.get_block(name), "meta_schedule.write_cache_level",
                 annotation_value::list{annotation_value(2)});
  };
  const std::vector<schedule> all = members::sketches(f, {ask, space::cpu_tiling()});
  REQUIRE(all.size() == 1);
  CHECK(traces::mentions(all[0], "cache_write"));
  space::multi_level_tiling rule;
  rule.structure = "SSS";
  rule.filter = [](const schedule&, const std::string& block) { return block == "C"; };
  const std::vector<schedule> other = members::sketches(f, {rule});
  REQUIRE(other.size() == 1);
  members::check(f, other, [](schedule& s) { check_structure(s, "C", "SS", "SSS", 64); },
                 {.count = 10});
}

TEST_CASE("mistakes are refused with what was written") {
  const auto refusal = [](const char* structure, std::vector<int> levels) {
    space::multi_level_tiling rule;
    rule.structure = structure;
    rule.reuse_write = {space::staging::must, std::move(levels), "global"};
    schedule s(kernels::dense_relu());
    space::chooser choices;
    try {
      rule(s, "P", members::machine(), choices);
    } catch (const schedule_error& e) {
      return e.requirement();
    }
    return 0;
  };
  CHECK(refusal("SXR", {1}) == 1);
  CHECK(refusal("", {1}) == 1);
  CHECK(refusal("SSS", {1}) == 1);
  CHECK(refusal("SSRSRS", {7}) == 3);
  CHECK(refusal("SSRSRS", {0}) == 3);
  CHECK(refusal("SSRSRS", {2}) == 0);
}

TEST_CASE("operands are copied ahead where they are copied or padded, not where computed") {
  space::multi_level_tiling rule = space::gpu_tiling();
  rule.steps_ahead = {2, 1, 0};
  rule.resident_blocks = {0, 2};
  const auto notes = [&](const ir::function& f, const char* block) {
    schedule s = members::sketches(f, {rule}).at(0);
    std::string out;
    for (const loop_rv l : s.get_loops(s.get_block(block)))
      for (const auto& [key, value] : s.get(l).annotations) out += key + " ";
    return out;
  };
  for (const std::string& all :
       {notes(kernels::dense_relu(), "P"), notes(kernels::conv2d(), "Y")}) {
    CHECK(all.find("software_pipeline_stage") != std::string::npos);
    CHECK(all.find("software_pipeline_order") != std::string::npos);
    CHECK(all.find("software_pipeline_async_stages") != std::string::npos);
    CHECK(all.find("tilewright.resident_blocks") != std::string::npos);
  }
  const ir::function computed = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((12, 20), "float32"), B: T.Buffer((20, 16), "float32"), C: T.Buffer((12, 16), "float32")):
    E = T.alloc_buffer((12, 20), "float32")
    for i, k in T.grid(12, 20):
        with T.block("E"):
            vi, vk = T.axis.remap("SS", [i, k])
            E[vi, vk] = T.exp(A[vi, vk])
    for i, j, k in T.grid(12, 16, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + E[vi, vk] * B[vk, vj]
)");
  CHECK(notes(computed, "C").find("software_pipeline_stage") == std::string::npos);
  rule.steps_ahead.clear();
  rule.resident_blocks.clear();
  CHECK(notes(kernels::dense_relu(), "P").empty());
}
