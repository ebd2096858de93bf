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

#include <tilewright/search/candidate.hpp>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

const char* tiles = R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=4, decision=[12, 4])
)";

ir::function product() { return reify(kernels::matmul_relu, {{"M", 48}, {"N", 48}, {"K", 48}}); }

decision choice_of(const trace& t, std::size_t i) { return t[i].choice; }

/// What a mutator makes of decision `i` of `t`, and how often in `draws`.
std::map<decision, int> changes(std::optional<trace> (*mutator)(const trace&, const ir::function&,
                                                                support::random&),
                                const trace& t, std::size_t i, int draws) {
  const ir::function f = product();
  support::random r(1);
  std::map<decision, int> out;
  for (int k = 0; k < draws; ++k) {
    const auto next = mutator(t, f, r);
    REQUIRE(next);
    ++out[choice_of(*next, i)];
    schedule s(f);
    CHECK_NOTHROW(next->apply_to(s));
    CHECK(s.trace()[i].choice == choice_of(*next, i));  // nothing had to be repaired
    CHECK(std::isfinite(next->log_probability(schedule(f))));
  }
  return out;
}

}  // namespace

TEST_CASE("tile sizes move to a neighbour, uniformly and within the limit") {
  // 4 is the limit of the innermost factor, so divisors of it move outwards only
  const auto met = changes(&mutate_tile_size, trace::parse(tiles), 2, 1000);
  CHECK(met.size() == 2);
  for (const auto& [tile, count] : met) {
    CHECK(tile[0] * tile[1] == 48);
    CHECK(tile[1] <= 4);
    CHECK(std::abs(count - 500) < 100);
  }
}

TEST_CASE("partitioned tiles keep the inner part a multiple, uniformly") {
  const auto met = changes(&mutate_tile_size, trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5, v6 = sch.sample_partitioned_tile(loop=l1, n=3, partition_pos=1, innerpart_factor=6, decision=[4, 2, 6])
)"),
                           2, 1800);
  // 6 divides the product of the two inner factors in all of them
  const std::set<decision> right{{2, 4, 6},  {1, 8, 6}, {2, 2, 12}, {1, 2, 24}, {8, 1, 6},
                                 {4, 1, 12}, {8, 2, 3}, {4, 4, 3},  {4, 6, 2},  {4, 12, 1}};
  std::set<decision> all;
  for (const auto& [tile, count] : met) {
    all.insert(tile);
    CHECK(std::abs(count - 180) < 70);
  }
  CHECK(all == right);
}

TEST_CASE("tiles that need not divide get what drawing may give") {
  const auto met = changes(&mutate_tile_size, trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5, v6 = sch.sample_tile(loop=l1, n=3, innermost=[4, 6, 8], decision=[4, 3, 4])
)"),
                           2, 800);
  std::set<decision> all;
  for (const auto& [tile, count] : met) {
    all.insert(tile);
    CHECK(std::abs(count - 200) < 70);
  }
  CHECK(all == std::set<decision>{{3, 3, 6}, {2, 3, 8}, {6, 2, 4}, {3, 4, 4}});
}

TEST_CASE("a tile of ones has no neighbour") {
  support::random r(3);
  ir::function f = product();
  CHECK_FALSE(mutate_tile_size(trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=4, decision=[1, 1])
)"),
                               f, r));
}

TEST_CASE("a categorical takes every other value by its weight") {
  const trace t = trace::parse(
      "v0 = sch.sample_categorical(candidates=[1, 2, 4], probs=[0.5, 0.3, 0.2], decision=1)\n");
  support::random r(4);
  std::map<std::int64_t, int> met;
  for (int i = 0; i < 7000; ++i) ++met[choice_of(*mutate_categorical(t, product(), r), 0)[0]];
  CHECK(met.size() == 2);
  CHECK(met.count(1) == 0);
  CHECK(std::abs(met[0] - 5000) < 300);
  CHECK_FALSE(mutate_unroll(t, product(), r));
  CHECK_FALSE(mutate_thread_binding(t, product(), r));
}

TEST_CASE("what feeds unrolling belongs to another mutator") {
  const trace t = trace::parse(R"(
b0 = sch.get_block(name="root", func_name="main")
v1 = sch.sample_categorical(candidates=[0, 16, 64], probs=[0.4, 0.3, 0.3], decision=0)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit", ann_val=v1)
)");
  support::random r(5);
  CHECK_FALSE(mutate_categorical(t, product(), r));
  const auto next = mutate_unroll(t, product(), r);
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
  for (int i = 0; i < 50; ++i) met.insert(mutate_parallel(t, product(), r)->print());
  CHECK(met.size() == 2);
  for (const std::string& text : met)
    CHECK((text.find("ann_val=64") != text.npos || text.find("ann_val=16") != text.npos));
}

TEST_CASE("a compute location moves to every other legal place") {
  const char* at_root = R"(
b0 = sch.get_block(name="C_epilogue", func_name="main")
b1 = sch.get_block(name="C", func_name="main")
l2 = sch.sample_compute_location(block=b1, decision=-1)
)";
  const auto met = changes(&mutate_compute_location, trace::parse(at_root), 2, 600);
  CHECK(met.size() == 2);  // below one or both loops of its consumer
  for (const auto& [place, count] : met) {
    CHECK(place[0] >= 0);
    CHECK(std::abs(count - 300) < 80);
  }
  support::random r(7);
  CHECK_FALSE(mutate_compute_location(trace::parse(tiles), product(), r));
  // what writes the output has no consumer below which it could go
  CHECK_FALSE(mutate_compute_location(trace::parse(R"(
b0 = sch.get_block(name="C_epilogue", func_name="main")
l1 = sch.sample_compute_location(block=b0, decision=-1)
)"),
                                      product(), r));
}

TEST_CASE("the number of threads is drawn again, never the same") {
  const auto met = changes(&mutate_thread_binding, trace::parse(R"(
b0 = sch.get_block(name="C_epilogue", func_name="main")
l1, l2 = sch.get_loops(block=b0)
v3 = sch.sample_categorical(candidates=[8, 16, 32], probs=[0.25, 0.5, 0.25], decision=1)
l4, l5 = sch.split(loop=l1, factors=[None, v3])
sch.bind(loop=l5, thread_axis="threadIdx.x")
)"),
                           2, 400);
  CHECK(met.size() == 2);
  CHECK(met.count({1}) == 0);
  for (const auto& [index, count] : met) CHECK(std::abs(count - 200) < 60);
}

TEST_CASE("the table draws by weight among those that apply") {
  support::random r(8);
  CHECK_FALSE(mutate_by(mutators(),
                        trace::parse("b0 = sch.get_block(name=\"C\", func_name=\"main\")"),
                        product(), r));
  const auto next = mutate_by(mutators(), trace::parse(tiles), product(), r);
  REQUIRE(next);
  CHECK(choice_of(*next, 2) != decision{12, 4});
}

TEST_CASE("a candidate knows the probability of its decisions") {
  const ir::function f = product();
  const auto c = replay(trace::parse(tiles), f, 1);
  REQUIRE(c);
  CHECK(c->log_prior == doctest::Approx(c->scheduled.trace().log_probability(schedule(f))));
  CHECK(c->log_prior == doctest::Approx(-std::log(4.0)));  // 48 = a * b, b in {1, 2, 3, 4}
  // tiles of another program are repaired, and count as what became of them
  CHECK(replay(trace::parse(tiles).with_decision(2, {5, 5}), f, 1)->log_prior == c->log_prior);
}
