#include <tilewright/search/drawn_trace.hpp>

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/search/candidate.hpp>
#include <tilewright/search/trace_limits.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "space/kernels.hpp"
#include "space/programs.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

const std::string threads_of_rows = R"(b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=-1)
l6, l7 = sch.split(loop=l1, factors=[v4, v5])
sch.bind(loop=l6, thread_axis="blockIdx.x")
sch.bind(loop=l7, thread_axis="threadIdx.x")
)";

}  // namespace

TEST_CASE("drawn trace: every decision within the limits is drawn, and equally often") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  const ir::function f = programs::matmul(4096, 16, 16);
  const trace sketch = trace::parse(threads_of_rows);
  std::map<std::int64_t, int> times;
  constexpr int draws = 1100;
  support::random random(3);
  for (int i = 0; i < draws; ++i) {
    const trace t = drawn_within_limits(sketch, f, gpu, random);
    REQUIRE(t[2].choice.size() == 2);
    CHECK(t[2].choice[0] * t[2].choice[1] == 4096);
    ++times[t[2].choice[1]];
  }
  CHECK(times.size() == 11);  // 1 to 1024
  for (const auto& drawn : times) {
    const std::int64_t threads = drawn.first;
    CAPTURE(threads);
    CHECK(threads <= 1024);
    CHECK(drawn.second > draws / 22);
    CHECK(drawn.second < draws / 5);
  }
}

TEST_CASE("drawn trace: decisions that are there stay, and none is made where none is legal") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  const ir::function f = programs::matmul(4096, 16, 16);
  support::random random(3);
  const trace fits = trace::parse(threads_of_rows).with_decision(2, {8, 512});
  CHECK(drawn_within_limits(fits, f, gpu, random) == fits);
  const trace too_many = trace::parse(threads_of_rows).with_decision(2, {2, 2048});
  CHECK(drawn_within_limits(too_many, f, gpu, random) == too_many);
  // what a replay alone can know is left to it
  const trace place = trace::parse(R"(b0 = sch.get_block(name="C", func_name="main")
l1 = sch.sample_compute_location(block=b0)
)");
  CHECK(drawn_within_limits(place, f, gpu, random) == place);
}

TEST_CASE("drawn trace: most draws of products and convolutions are candidates") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  space::context where;
  where.gpu = &gpu;
  const space::design_space list = space::default_gpu();
  int candidates = 0, by_replays = 0, draws = 0;
  for (const ir::function& f : {programs::matmul(1024, 512, 768), kernels::conv2d()})
    for (const schedule& sketch : list.sketches(f, where, 5)) {
      const trace open = sketch.trace().without_decisions();
      for (std::uint64_t seed = 0; seed < 12; ++seed, ++draws) {
        support::random random(seed);
        const auto accepted = [&](const trace& t) {
          return replay(t, f, seed, nullptr, [&](schedule& s) { list.finish(s, where); })
              .has_value();
        };
        const trace drawn = drawn_within_limits(open, f, gpu, random);
        CHECK(refused_by_decisions(drawn, f, &gpu).empty());
        candidates += accepted(drawn) ? 1 : 0;
        by_replays += accepted(open) ? 1 : 0;
      }
    }
  MESSAGE(candidates << " of " << draws << " draws are candidates, by replays " << by_replays);
  CHECK(5 * candidates > 4 * draws);
  CHECK(candidates > 2 * by_replays);
}
