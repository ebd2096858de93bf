#include <tilewright/search/enumeration.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/steps.hpp>

#include "space/programs.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

namespace {

const ir::function& product() {
  static const ir::function out = programs::matmul(12, 8, 6);
  return out;
}

std::vector<trace> sketches_of(const design_space& s, const ir::function& f = product()) {
  std::vector<trace> out;
  for (const schedule& sketch : s.sketches(f, {}, 7)) out.push_back(sketch.trace());
  return out;
}

/// What sampling gives in many draws.
std::set<std::string> drawn(const design_space& s) {
  std::set<std::string> out;
  for (const trace& t : sketches_of(s))
    for (std::uint64_t seed = 0; seed < 4000; ++seed)
      if (const auto c = replay(t.without_decisions(), product(), seed))
        out.insert(c->scheduled.trace().print());
  return out;
}
std::set<std::string> listed(const design_space& s) {
  std::set<std::string> out;
  enumeration all(product(), sketches_of(s));
  while (const auto c = all.next()) CHECK(out.insert(c->scheduled.trace().print()).second);
  CHECK(all.met() == out.size());
  CHECK(all.at_end());
  return out;
}

}  // namespace

TEST_CASE("enumeration: what it lists is what sampling draws, of each kind") {
  const std::vector<design_space> spaces{
      on<"C">(steps(let<"t"> = sample_perfect_tile<i, 2>, split<i, variable<"t">{}>)),
      on<"C">(steps(let<"t"> = sample_perfect_tile<i, 3, 4>, split<i, variable<"t">{}>)),
      on<"C">(steps(let<"t"> = sample_partitioned_tile<i, 3, 1, 2>, split<i, variable<"t">{}>)),
      on<"C">(tile<i, 3>(choose({4, 5, 8}))),
      on<"C">(steps(let<"v"> = sample_categorical<1, 2, 4>, split<j, infer, variable<"v">{}>)),
      on<"C">(steps(sample_categorical<1, 2, 4>({1, 0, 1}), let<"t"> = sample_perfect_tile<k, 2>,
                    split<k, variable<"t">{}>))};
  for (const design_space& s : spaces) {
    const std::set<std::string> all = listed(s);
    CHECK(all.size() > 1);
  }
  // a draw that nothing uses is none, so this one is compared without it
  for (std::size_t n = 0; n + 1 < spaces.size(); ++n) CHECK(listed(spaces[n]) == drawn(spaces[n]));
  CHECK(listed(spaces.back()).size() == 4);  // 6 = 1 * 6 = 2 * 3 = 3 * 2 = 6 * 1
}

TEST_CASE("enumeration: places of a block that draws where it is computed") {
  const ir::function f = programs::matmul_relu(8, 6, 4);
  const design_space s =
      steps(let<"place"> = sample_compute_location<"P">, compute_at<"P", variable<"place">{}>);
  const space_size all = count_members(f, sketches_of(s, f));
  CHECK(all.complete);
  CHECK(all.members > 1);
  CHECK(all.refused == 0);
}

TEST_CASE("enumeration: a refusal skips what begins alike, and is counted once") {
  // the assertion does not take 2 rows, and the four tiles are not tried with them
  const design_space s =
      on<"C">(steps(let<"rows"> = sample_categorical<2, 3, 4>, assert_<>(variable<"rows">{} >= 3),
                    let<"t"> = sample_perfect_tile<k, 2>, split<k, variable<"t">{}>,
                    split<i, infer, variable<"rows">{}>));
  std::vector<trace> sketch;
  for (std::uint64_t seed = 0; sketch.empty(); ++seed) {
    schedule made(product(), seed);
    try {
      sketch.push_back(s.grow(made, {})[0].trace());
    } catch (const schedule_error&) {
    }
  }
  const space_size all = count_members(product(), sketch);
  CHECK(all.members == 8);
  CHECK(all.refused == 1);
}

TEST_CASE("enumeration: members with equal programs count as one program") {
  const design_space s =
      on<"C">(steps(let<"v"> = sample_categorical<8, 8, 4>, split<j, infer, variable<"v">{}>));
  const space_size all = count_members(product(), sketches_of(s));
  CHECK(all.sketches == 1);
  CHECK(all.members == 3);
  CHECK(all.programs == 2);
  CHECK(all.complete);
}

TEST_CASE("enumeration: counting ends at the limit and says so") {
  const design_space s = on<"C">(tile<"SSRSRS">);
  const space_size some = count_members(product(), sketches_of(s), {}, 10);
  CHECK(some.members == 10);
  CHECK_FALSE(some.complete);
}
