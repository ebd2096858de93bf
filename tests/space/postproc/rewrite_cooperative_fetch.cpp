#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>

#include <doctest/doctest.h>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::rewrite_cooperative_fetch;

namespace {

/// A product whose operands are staged in shared memory by blocks of drawn numbers of threads, and
/// fetched by vectors of drawn lengths.
void staged(schedule& s) {
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [ib, iy] = s.split(i, {infer, s.sample_categorical({1, 2, 4}, {1, 1, 1})});
  const auto [jb, jx] = s.split(j, {infer, s.sample_categorical({2, 4, 8}, {1, 1, 1})});
  const auto [k0, k1] = s.split(k, {infer, 4});
  s.reorder(ib, jb, iy, jx, k0, k1);
  s.bind(s.fuse(ib, jb), "blockIdx.x");
  s.bind(iy, "threadIdx.y");
  s.bind(jx, "threadIdx.x");
  for (int operand : {0, 1}) {
    const block_rv copy = s.cache_read(c, operand, "shared");
    s.compute_at(copy, k0, true);
    const std::vector<loop_rv> loops = s.get_loops(copy);
    s.fuse(std::vector<loop_rv>{loops.end() - 2, loops.end()});
    s.annotate(copy, "meta_schedule.cooperative_fetch", s.sample_categorical({1, 2, 4}, {1, 1, 1}));
  }
}

}  // namespace

TEST_CASE("the threads of a block share a fetch, by vectors") {
  schedule s(programs::matmul(8, 16, 8));
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  s.bind(i, "blockIdx.x");
  s.bind(j, "threadIdx.x");
  const block_rv copy = s.cache_read(c, 1, "shared");
  s.compute_at(copy, s.get_loops(c)[1], true);
  const std::vector<loop_rv> loops = s.get_loops(copy);
  s.fuse(std::vector<loop_rv>{loops.end() - 2, loops.end()});
  s.annotate(copy, "meta_schedule.cooperative_fetch", 4);
  rewrite_cooperative_fetch{}(s, draws::haswell());
  const std::vector<loop_rv> after = s.get_loops(copy);
  CHECK(s.get(after[after.size() - 2]).thread_tag == "threadIdx.x");
  CHECK(ir::is_int(s.get(after[after.size() - 2]).extent, 16));
  CHECK(s.get(after.back()).loop == ir::loop_kind::vectorized);
  CHECK(ir::is_int(s.get(after.back()).extent, 4));
  CHECK(s.get(copy).block->annotations.empty());
}

TEST_CASE("drawn fetches compute the same") {
  const ir::function f = programs::matmul(8, 16, 8);
  CHECK(draws::check(f, space::design_space(staged).with({rewrite_cooperative_fetch{}})) > 15);
}

TEST_CASE("vectors that do not divide the fetch are left out") {
  schedule s(programs::matmul(8, 16, 9));
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  s.bind(i, "threadIdx.x");
  const block_rv copy = s.cache_read(c, 0, "shared");
  s.annotate(copy, "meta_schedule.cooperative_fetch", 4);
  s.compute_at(copy, i, true);
  rewrite_cooperative_fetch{}(s, draws::haswell());
  CHECK(s.get(s.get_loops(copy).back()).thread_tag == "threadIdx.x");
}

TEST_CASE("without threads there is nobody to fetch") {
  schedule s(programs::matmul(8, 16, 8));
  const block_rv copy = s.cache_read(s.get_block("C"), 0, "shared");
  s.annotate(copy, "meta_schedule.cooperative_fetch", 4);
  CHECK_THROWS_AS(rewrite_cooperative_fetch{}(s, draws::haswell()), schedule_error);
}

TEST_CASE("rows of a fetch begin further on where that was asked for") {
  for (const int bytes : {16, 0}) {
    schedule s(programs::matmul(8, 16, 8));
    const block_rv c = s.get_block("C");
    const auto [i, j, k] = s.loops<3>(c);
    s.bind(i, "blockIdx.x");
    s.bind(j, "threadIdx.x");
    const block_rv copy = s.cache_read(c, 0, "shared");
    s.annotate(copy, "meta_schedule.cooperative_fetch", 1);
    s.annotate(copy, "tilewright.row_padding", bytes);
    s.compute_at(copy, s.get_loops(c)[1], true);
    rewrite_cooperative_fetch{}(s, draws::haswell());
    const ir::annotations& notes = s.get(copy).block->annotations;
    CHECK(notes.count("tilewright.row_padding") == 0);
    CHECK((notes.count("buffer_dim_align") > 0) == (bytes > 0));
  }
}
