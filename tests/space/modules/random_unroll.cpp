#include <tilewright/space/modules/random_unroll.hpp>

#include <doctest/doctest.h>

#include <set>

#include <tilewright/search/mutators/unroll.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

const ir::annotations& notes_of_nest(schedule& s, const std::string& block) {
  return s.get(s.get_loops(s.get_block(block))[0]).annotations;
}

/// Every member has the annotation, with all of the values among them; the unroll mutator finds it.
void check_unrolled(const ir::function& f, std::vector<members::rule> rules,
                    const std::vector<std::string>& blocks) {
  rules.emplace_back(space::random_unroll{});
  const std::vector<schedule> all = members::sketches(f, std::move(rules));
  std::set<std::int64_t> met;
  members::check(f, all, [&](schedule& s) {
    for (const std::string& block : blocks) {
      const ir::annotations& notes = notes_of_nest(s, block);
      CHECK(notes.at("pragma_unroll_explicit") == ir::attr(1));
      met.insert(std::get<std::int64_t>(notes.at("pragma_auto_unroll_max_step").value));
    }
  });
  CHECK(met == std::set<std::int64_t>{0, 16, 64, 512});
  support::random random(3);
  CHECK(search::mutate_unroll(all[0].trace(), f, random));
}

}  // namespace

TEST_CASE("nests of reductions get a depth of unrolling") {
  check_unrolled(kernels::dense_relu(), {space::cpu_tiling()}, {"P"});
  check_unrolled(kernels::conv2d(), {}, {"Y"});
  check_unrolled(kernels::softmax(), {}, {"M", "S"});
}

TEST_CASE("chains without reductions stay") {
  const std::vector<schedule> all =
      members::sketches(kernels::relu_chain(), {space::random_unroll{}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].trace().empty());
}

TEST_CASE("the root is annotated for post-processing") {
  schedule s(kernels::dense_relu());
  space::chooser choices;
  space::random_unroll implicit;
  implicit.written_out = false;
  implicit(s, "root", members::machine(), choices);
  const ir::annotations& notes = s.get(s.get_block("root")).block->annotations;
  CHECK(notes.count("meta_schedule.unroll_implicit") == 1);
  schedule chain(kernels::relu_chain());
  implicit(chain, "root", members::machine(), choices);
  CHECK(chain.trace().empty());
}
