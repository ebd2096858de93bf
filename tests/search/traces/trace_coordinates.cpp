#include <tilewright/search/trace_coordinates.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tilewright;
using namespace tilewright::search;

namespace {

trace tile_of(const char* decision, const char* unroll) {
  return trace::parse(std::string("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                                  "l1, l2 = sch.get_loops(block=b0)\n"
                                  "v3, v4, v5 = sch.sample_perfect_tile(loop=l1, n=3, "
                                  "max_innermost_factor=64, decision=[") +
                      decision +
                      "])\n"
                      "v6 = sch.sample_categorical(candidates=[0, 16, 64, 512], probs=[0.25, 0.25, "
                      "0.25, 0.25], decision=" +
                      unroll +
                      ")\n"
                      "v7 = sch.sample_categorical(candidates=[4, 2, 9], probs=[0.5, 0.25, 0.25], "
                      "decision=1)\n"
                      "l8 = sch.sample_compute_location(block=b0, decision=4)\n");
}

}  // namespace

TEST_CASE("each choice is a coordinate of its own scale") {
  const std::vector<trace> sketches{tile_of("4, 4, 4", "0").without_decisions()};
  const trace_coordinates c(sketches);
  CHECK(c.ordered() == 4);     // two factors, the unrolling, the place
  CHECK(c.categories() == 2);  // the candidates without order, the sketch
  const cost::mixed_point p = c.of(tile_of("2, 8, 4", "2"));
  CHECK(p.ordered[0] == doctest::Approx(0.5));
  CHECK(p.ordered[1] == doctest::Approx(2.0 / 6));
  CHECK(p.ordered[2] == doctest::Approx(2.0 / 3));
  CHECK(p.ordered[3] == doctest::Approx(0.5));
  CHECK(p.categories == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("sketches share the coordinates of what they share, and differ by a category") {
  const trace whole = tile_of("4, 4, 4", "1");
  trace part;
  for (std::size_t i = 0; i < 3; ++i) part.append(whole[i].what, whole[i].choice);
  const std::vector<trace> sketches{whole.without_decisions(), part.without_decisions()};
  const trace_coordinates c(sketches);
  CHECK(c.ordered() == 4);
  const cost::mixed_point a = c.of(whole), b = c.of(part);
  CHECK(a.ordered[0] == b.ordered[0]);
  CHECK(b.ordered[2] == 0.5);  // a choice that is not made lies in the middle
  CHECK(a.categories.back() == 0);
  CHECK(b.categories.back() == 1);
  CHECK(b.categories.front() == -1);
}
