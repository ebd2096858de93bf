#include <tilewright/space/chooser.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/space/steps.hpp>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j;

namespace {

const ir::function& product() {
  static const ir::function out = programs::matmul(16, 32, 8);
  return out;
}

/// The values of the annotation "family" of the sketches, in order.
std::vector<std::int64_t> families(std::uint64_t seed, std::size_t limit,
                                   const std::function<void(schedule&, chooser&)>& build) {
  schedule start(product(), seed);
  std::vector<std::int64_t> out;
  for (const schedule& s : enumerate(start, {}, limit, build))
    out.push_back(std::get<std::int64_t>(
        ir::as_realize(s.function().body)->block->annotations.at("family").value));
  return out;
}

/// Refuses one draw of two.
void need_luck(schedule& s) {
  const expr_rv drawn = s.sample_categorical({0, 1}, {1, 1});
  s.require(eq(drawn, 1));
}

}  // namespace

TEST_CASE("enumerate: a family is not lost where a draw is refused") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::int64_t> met = families(seed, 48, [](schedule& s, chooser& choices) {
      const auto family = static_cast<std::int64_t>(choices.pick(4));
      if (family % 2 == 1) need_luck(s);
      s.annotate(s.get_block("root"), "family", family);
    });
    // those whose draws were lucky at once come first
    CHECK(std::set<std::int64_t>(met.begin(), met.end()) == std::set<std::int64_t>{0, 1, 2, 3});
    CHECK(met.size() == 4);
    CHECK(met.front() == 0);
  }
}

TEST_CASE("enumerate: what is chosen behind a refused draw is met, too") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::int64_t> met = families(seed, 48, [](schedule& s, chooser& choices) {
      std::int64_t family = 10 * static_cast<std::int64_t>(choices.pick(2));
      need_luck(s);
      family += static_cast<std::int64_t>(choices.pick(3));
      s.annotate(s.get_block("root"), "family", family);
    });
    CHECK(std::set<std::int64_t>(met.begin(), met.end()) ==
          std::set<std::int64_t>{0, 1, 2, 10, 11, 12});
    CHECK(met.size() == 6);
  }
}

TEST_CASE("enumerate: structure that is drawn survives refusals") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::int64_t> met = families(seed, 48, [](schedule& s, chooser& choices) {
      const auto family = static_cast<std::int64_t>(choices.draw(s, {1, 1}));
      const expr_rv drawn = s.sample_categorical({0, 1}, {1, 1});
      s.require(eq(drawn, 1));
      s.annotate(s.get_block("root"), "family", family);
    });
    CHECK(std::set<std::int64_t>(met.begin(), met.end()) == std::set<std::int64_t>{0, 1});
    CHECK(met.size() == 2);
  }
}

TEST_CASE("enumerate: a family that no draw can help is tried a bounded number of times") {
  int runs = 0;
  const auto build = [&](schedule& s, chooser& choices) {
    ++runs;
    const bool hopeless = choices.pick(8) != 5;
    s.sample_categorical({0, 1}, {1, 1});
    if (hopeless) s.get_block("nothing");
    s.annotate(s.get_block("root"), "family", std::int64_t{5});
  };
  CHECK(families(1, 4, build) == std::vector<std::int64_t>{5});
  CHECK(runs <= 8 + 4 * 4);
}

TEST_CASE("enumerate: where nothing is drawn a refused run is not made again") {
  int runs = 0;
  const auto build = [&](schedule& s, chooser& choices) {
    ++runs;
    if (choices.pick(3) != 1) s.get_block("nothing");
    s.annotate(s.get_block("root"), "family", std::int64_t{1});
  };
  CHECK(families(1, 48, build).size() == 1);
  CHECK(runs == 3);
  CHECK_THROWS_AS(families(1, 48, [](schedule& s, chooser&) { s.get_block("nothing"); }),
                  schedule_error);
}

TEST_CASE("enumerate: of an expression, a branch that mostly refuses has its sketch") {
  // more than 4 rows are refused, two draws of three
  const design_space s = on<"C">(unroll<j> | steps(let<"rows"> = sample_categorical<2, 8, 16>,
                                                   assert_<>(variable<"rows">{} <= 4),
                                                   split<i, infer, variable<"rows">{}>));
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    CHECK(s.sketches(product(), {}, seed).size() == 2);
}
