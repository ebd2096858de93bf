#include <tilewright/space/modules/apply_custom_rule.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

/// The program's wish, as an annotation of its blocks.
ir::function asking(ir::function f, const std::string& block, const std::string& name) {
  schedule s(std::move(f));
  s.annotate(s.get_block(block), "schedule_rule", name);
  return s.function();
}

/// A rule of this test's own: two levels of every loop, drawn; in halves, as a structural choice.
void two_levels(schedule& s, const std::string& block, const space::context&,
                space::chooser& choices) {
  const bool halves = choices.pick(2) == 1;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(block));
  for (const loop_rv loop : loops)
    if (halves)
      s.split(loop, {2, infer});
    else
      s.split(loop, s.sample_perfect_tile(loop, 2, 8));
}

space::apply_custom_rule custom() { return {{{"two_levels", two_levels}}}; }

}  // namespace

TEST_CASE("a block names a rule of the user's") {
  const std::pair<ir::function, std::string> kernels_and_blocks[] = {{kernels::dense_relu(), "P"},
                                                                     {kernels::conv2d(), "Y"},
                                                                     {kernels::softmax(), "S"},
                                                                     {kernels::relu_chain(), "E"}};
  for (const auto& entry : kernels_and_blocks) {
    const ir::function& kernel = entry.first;
    const std::string& block = entry.second;
    CAPTURE(block);
    const std::size_t loops = space::loop_count(schedule(kernel), block);
    const ir::function f = asking(kernel, block, "two_levels");
    const std::vector<schedule> all = members::sketches(f, {custom()});
    REQUIRE(all.size() == 2);
    members::check(f, all, [&](schedule& s) {
      CHECK(space::loop_count(s, block) == 2 * loops);
      CHECK(s.get(s.get_block(block)).block->annotations.empty());
    });
  }
}

TEST_CASE("rules after it see the block as any other") {
  const ir::function f = asking(kernels::dense_relu(), "C", "two_levels");
  const std::vector<schedule> all = members::sketches(f, {custom(), space::cpu_tiling()});
  CHECK(all.size() == 6);
}

TEST_CASE("no rule of a composition meets a block that asks for none") {
  const space::design_space rules = space::post_order(space::module(custom())) >>
                                    space::post_order(space::module(space::cpu_tiling()));
  const ir::function f = asking(kernels::dense_relu(), "P", "None");
  CHECK(space::blocks_in_post_order(schedule(f)) == std::vector<std::string>{"C", "Q"});
  CHECK(rules.sketches(f, members::machine(), 7).at(0).trace().empty());
  CHECK(rules.sketches(kernels::dense_relu(), members::machine(), 7).size() == 3);
}

TEST_CASE("None keeps its annotation, an unknown name is refused with the known ones") {
  const std::vector<schedule> none =
      members::sketches(asking(kernels::dense_relu(), "P", "None"), {custom()});
  CHECK(none[0].trace().empty());
  CHECK_THROWS_WITH_AS(
      members::sketches(asking(kernels::dense_relu(), "P", "three_levels"), {custom()}),
      "block P asks for schedule_rule \"three_levels\"; apply_custom_rule knows \"None\", "
      "\"two_levels\"",
      argument_error);
  CHECK(members::sketches(kernels::dense_relu(), {custom()})[0].trace().empty());
}
