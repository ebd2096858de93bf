#include <tilewright/space/modules/random_compute_location.hpp>

#include <doctest/doctest.h>

#include <set>

#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

TEST_CASE("every stage of a chain moves on its own") {
  for (const ir::function& f : {kernels::softmax(), kernels::relu_chain()}) {
    const std::vector<schedule> all = members::sketches(f, {space::random_compute_location{}});
    REQUIRE(all.size() == 1);
    std::set<std::size_t> left;  // blocks in the root scope: fewer where one was inlined
    const std::size_t different = members::check(f, all, [&](schedule& s) {
      CHECK(traces::mentions(s, "sample_compute_location"));
      CHECK(space::has_block(s, "Y"));
      left.insert(space::root_block_names(s).size());
    });
    CHECK(different > 5);
    CHECK(left.size() > 1);
  }
}

TEST_CASE("a padding moves below the tiles of its consumer") {
  const ir::function f = kernels::conv2d();
  const std::vector<schedule> all =
      members::sketches(f, {space::cpu_tiling(), space::random_compute_location{}});
  REQUIRE(all.size() == 3);
  std::set<std::size_t> depth;
  members::check(f, all, [&](schedule& s) {
    if (space::has_block(s, "P")) depth.insert(space::loop_count(s, "P"));
  });
  CHECK(depth.size() > 3);
}

TEST_CASE("outputs, tiled blocks, and blocks in shared loops stay") {
  const std::vector<schedule> tiled = members::sketches(
      kernels::dense_relu(), {space::cpu_tiling(), space::random_compute_location{}});
  // the product is tiled, the relu an output: only the bias in between moves, where it is no
  // epilogue of the product yet
  for (const schedule& s : tiled) {
    std::size_t moves = 0;
    for (const trace::step& step : s.trace().steps())
      moves += step.what->kind->name == "sample_compute_location" ? 1 : 0;
    CHECK(moves == (traces::mentions(s, "reverse_compute_at") ? 0 : 1));
  }
}

TEST_CASE("the partial results of a reduction move where it asks for it") {
  const ir::function f = kernels::dense_relu();
  const members::rule partial = [](schedule& s, const std::string& name, const space::context&,
                                   space::chooser&) {
    if (name != "P") return;
    const block_rv block = s.get_block(name);
    const auto [i, j, k] = s.loops<3>(block);
    const auto [outer, inner] = s.split(k, {infer, 5});
    s.rfactor(outer, 0);
    s.annotate(block, "meta_schedule.random_compute_producer", 1);
  };
  const std::vector<schedule> all =
      members::sketches(f, {partial, [](schedule& s, const std::string& name,
                                        const space::context& where, space::chooser& choices) {
                              if (name == "P")
                                space::random_compute_location{}(s, name, where, choices);
                            }});
  REQUIRE(all.size() == 1);
  CHECK(traces::mentions(all[0], "unannotate"));
  std::size_t moves = 0;
  for (const trace::step& step : all[0].trace().steps())
    moves += step.what->kind->name == "sample_compute_location" ? 1 : 0;
  CHECK(moves >= 1);  // the reduction moves too, unless the partial results now share its loops
  members::check(f, all,
                 [](schedule& s) { CHECK(s.get(s.get_block("P")).block->annotations.empty()); });
}
