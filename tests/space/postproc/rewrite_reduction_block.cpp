#include <tilewright/space/postproc/rewrite_reduction_block.hpp>

#include <doctest/doctest.h>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::rewrite_reduction_block;

namespace {

/// A product with drawn tiles, in an order that has a reduction loop outside of a spatial one.
void tiles(schedule& s) {
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  const auto [i0, i1] = s.split(i, {infer, s.sample_categorical({2, 3, 4, 6}, {1, 1, 1, 1})});
  const auto [k0, k1] = s.split(k, {infer, s.sample_categorical({1, 2, 4, 8}, {1, 1, 1, 1})});
  s.reorder(i0, k0, i1, j, k1);
}

bool has_init(const ir::function& f) {
  schedule s(f);
  for (const char* name : {"C", "C_update"}) {
    try {
      return static_cast<bool>(s.get(s.get_block(name)).block->init);
    } catch (const schedule_error&) {
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the init goes before the outermost reduction loop") {
  schedule s(programs::matmul(12, 8, 16));
  tiles(s);
  rewrite_reduction_block{}(s, draws::haswell());
  CHECK_FALSE(has_init(s.function()));
  const auto loops = s.get_loops(s.get_block("C_init"));
  REQUIRE(loops.size() == 3);
  CHECK(s.get(loops[0]).var->name == "i_0");
  CHECK(s.get(loops[1]).var->name == "i_1_init");
}

TEST_CASE("drawn tiles compute the same with decomposed reductions") {
  const ir::function f = programs::matmul(12, 8, 16);
  CHECK(draws::check(f, space::design_space(tiles).with({rewrite_reduction_block{}})) > 8);
  const ir::function rows = programs::row_normalization(6, 12);
  const space::design_space as_it_is = [](schedule&) {};
  CHECK(draws::check(rows, as_it_is.with({rewrite_reduction_block{}})) == 1);
}

TEST_CASE("a reduction that threads share keeps its init") {
  schedule s(programs::matmul(4, 4, 16));
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  s.bind(i, "blockIdx.x");
  s.bind(k, "threadIdx.x");
  rewrite_reduction_block{}(s, draws::haswell());
  CHECK(has_init(s.function()));
}

TEST_CASE("the intrinsic of the init becomes that of the init's block, an empty one without") {
  for (const bool named : {true, false}) {
    schedule s(programs::matmul(4, 4, 16));
    const block_rv c = s.get_block("C");
    s.annotate(c, "meta_schedule.auto_tensorize", "one");
    if (named) s.annotate(c, "meta_schedule.auto_tensorize_init", "zeros");
    rewrite_reduction_block{}(s, draws::haswell());
    const auto note = [&](const char* block, const char* key) {
      const ir::annotations& notes = s.get(s.get_block(block)).block->annotations;
      return notes.count(key) ? std::get<std::string>(notes.at(key).value) : "none";
    };
    CHECK(note("C_update", "meta_schedule.auto_tensorize") == "one");
    CHECK(note("C_update", "meta_schedule.auto_tensorize_init") == "none");
    CHECK(note("C_init", "meta_schedule.auto_tensorize") == (named ? "zeros" : ""));
    CHECK(note("C_init", "meta_schedule.auto_tensorize_init") == "none");
  }
}
