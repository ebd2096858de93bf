#include <tilewright/space/postproc/rewrite_unbound_block.hpp>

#include <doctest/doctest.h>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::rewrite_unbound_block;

namespace {

/// "blockIdx.x:12 threadIdx.x:8 5" for the loops around the block.
std::string loops_of(schedule s, const char* block) {
  std::string out;
  for (const loop_rv rv : s.get_loops(s.get_block(block))) {
    const ir::loop_node& l = s.get(rv);
    out += (out.empty() ? "" : " ") + (l.thread_tag.empty() ? "" : l.thread_tag + ":") +
           std::to_string(l.extent->integer);
  }
  return out;
}

schedule bound(schedule s, const rewrite_unbound_block& by = {}) {
  by(s, draws::haswell());
  return s;
}

}  // namespace

TEST_CASE("outer spatial loops become blocks and threads") {
  CHECK(loops_of(bound(schedule(programs::matmul(32, 64, 8))), "C") ==
        "blockIdx.x:2 threadIdx.x:1024 8");
  CHECK(loops_of(bound(schedule(programs::matmul(4, 5, 8))), "C") ==
        "blockIdx.x:1 threadIdx.x:20 8");
}

TEST_CASE("more iterations than threads: a thread has several") {
  CHECK(loops_of(bound(schedule(programs::matmul(16, 16, 2)), {4, 8}), "C") ==
        "blockIdx.x:4 threadIdx.x:8 8 2");
}

TEST_CASE("what is bound stays, what is missing is added") {
  schedule blocks(programs::matmul(16, 16, 2));
  blocks.bind(blocks.loops<3>(blocks.get_block("C"))[0], "blockIdx.x");
  CHECK(loops_of(bound(blocks), "C") == "blockIdx.x:16 1 threadIdx.x:16 2");

  schedule threads(programs::matmul(16, 16, 2));
  threads.bind(threads.loops<3>(threads.get_block("C"))[1], "threadIdx.x");
  CHECK(loops_of(bound(threads), "C") == "blockIdx.x:16 threadIdx.x:16 2");

  schedule both = bound(schedule(programs::matmul(16, 16, 2)));
  const std::size_t steps = both.trace().size();
  CHECK(bound(both).trace().size() == steps);
}

TEST_CASE("a nest without outer spatial loops runs on one thread") {
  schedule s(programs::matmul(4, 4, 8));
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  s.reorder(k, i, j);
  CHECK(loops_of(bound(s), "C") == "blockIdx.x:1 threadIdx.x:1 8 4 4");
}

TEST_CASE("drawn nests compute the same on the grid") {
  const space::design_space tiles = [](schedule& s) {
    const auto [i, j, k] = s.loops<3>(s.get_block("P"));
    const auto [i0, i1] = s.split(i, {infer, s.sample_categorical({1, 2, 5, 10}, {1, 1, 1, 1})});
    const auto [j0, j1] = s.split(j, {infer, s.sample_categorical({1, 2, 7, 14}, {1, 1, 1, 1})});
    s.reorder(i0, j0, i1, j1, k);
  };
  const ir::function f = programs::matmul_relu(10, 14, 4);
  CHECK(draws::check(f, tiles.with({rewrite_unbound_block{4, 8}})) > 8);
  CHECK(draws::check(f, tiles.with({rewrite_unbound_block{}})) > 8);
}
