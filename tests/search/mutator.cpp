#include <tilewright/search/mutator.hpp>

#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/mutators/categorical.hpp>
#include <tilewright/search/mutators/compute_location.hpp>
#include <tilewright/search/mutators/parallel.hpp>
#include <tilewright/search/mutators/thread_binding.hpp>
#include <tilewright/search/mutators/tile_size.hpp>
#include <tilewright/search/mutators/unroll.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

const char* tiles = R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=4, decision=[12, 4])
)";

decision choice_of(const trace& t, std::size_t i) { return t[i].choice; }

}  // namespace

TEST_CASE("tile sizes move to a neighbour, uniformly and within the limit") {
  const trace t = trace::parse(tiles);
  support::random r(1);
  std::map<decision, int> met;
  for (int i = 0; i < 4000; ++i) {
    const auto next = mutate_tile_size(t, r);
    REQUIRE(next);
    ++met[choice_of(*next, 2)];
  }
  // 4 is the limit of the innermost factor, so divisors of it move outwards only
  CHECK(met.size() == 2);
  for (const auto& [tile, count] : met) {
    CHECK(tile[0] * tile[1] == 48);
    CHECK(tile[1] <= 4);
    CHECK(std::abs(count - 2000) < 200);
  }
}

TEST_CASE("tiles that need not divide get other candidates and other middle factors") {
  const trace t = trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5, v6 = sch.sample_tile(loop=l1, n=3, innermost=[4, 6, 8], decision=[4, 3, 4])
)");
  support::random r(2);
  std::set<decision> met;
  for (int i = 0; i < 400; ++i) met.insert(choice_of(*mutate_tile_size(t, r), 2));
  CHECK(met ==
        std::set<decision>{{4, 3, 6}, {4, 3, 8}, {4, 6, 4}, {4, 1, 4}, {4, 4, 4}, {4, 2, 4}});
}

TEST_CASE("a tile of ones has no neighbour") {
  support::random r(3);
  CHECK_FALSE(mutate_tile_size(trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=4, decision=[1, 1])
)"),
                               r));
}

TEST_CASE("a categorical takes every other value by its weight") {
  const trace t = trace::parse(
      "v0 = sch.sample_categorical(candidates=[1, 2, 4], probs=[0.5, 0.3, 0.2], decision=1)\n");
  support::random r(4);
  std::map<std::int64_t, int> met;
  for (int i = 0; i < 7000; ++i) ++met[choice_of(*mutate_categorical(t, r), 0)[0]];
  CHECK(met.size() == 2);
  CHECK(met.count(1) == 0);
  CHECK(std::abs(met[0] - 5000) < 300);
  CHECK_FALSE(mutate_unroll(t, r));
  CHECK_FALSE(mutate_thread_binding(t, r));
}

TEST_CASE("what feeds unrolling belongs to another mutator") {
  const trace t = trace::parse(R"(
b0 = sch.get_block(name="root", func_name="main")
v1 = sch.sample_categorical(candidates=[0, 16, 64], probs=[0.4, 0.3, 0.3], decision=0)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit", ann_val=v1)
)");
  support::random r(5);
  CHECK_FALSE(mutate_categorical(t, r));
  const auto next = mutate_unroll(t, r);
  REQUIRE(next);
  CHECK(choice_of(*next, 1)[0] != 0);
}

TEST_CASE("parallel jobs double or halve") {
  const trace t = trace::parse(R"(
b0 = sch.get_block(name="root", func_name="main")
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.parallel", ann_val=32)
)");
  support::random r(6);
  std::set<std::string> met;
  for (int i = 0; i < 50; ++i) met.insert(mutate_parallel(t, r)->print());
  CHECK(met.size() == 2);
  for (const std::string& text : met)
    CHECK((text.find("ann_val=64") != text.npos || text.find("ann_val=16") != text.npos));
}

TEST_CASE("a compute location is drawn anew") {
  const trace t = trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1 = sch.sample_compute_location(block=b0, decision=-1)
)");
  support::random r(7);
  CHECK(choice_of(*mutate_compute_location(t, r), 1).empty());
  CHECK_FALSE(mutate_compute_location(trace::parse(tiles), r));
}

TEST_CASE("the table draws by weight among those that apply") {
  support::random r(8);
  CHECK_FALSE(
      mutate_by(mutators(), trace::parse("b0 = sch.get_block(name=\"C\", func_name=\"main\")"), r));
  const auto next = mutate_by(mutators(), trace::parse(tiles), r);
  REQUIRE(next);
  CHECK(choice_of(*next, 2) != decision{12, 4});
}

TEST_CASE("the prior of categorical decisions") {
  const trace t = trace::parse(
      "v0 = sch.sample_categorical(candidates=[1, 2], probs=[0.75, 0.25], decision=1)\n"
      "v1 = sch.sample_categorical(candidates=[1, 2], probs=[0.75, 0.25], decision=0)\n");
  CHECK(log_prior(t) == doctest::Approx(std::log(0.25 * 0.75)));
  CHECK(log_prior(t.without_decisions()) == 0);
}
