// Random chains of primitives on random programs, under the law of primitives.
//
// Every program features one kind of the instruction table: alone in some programs, between others
// in the rest. TILEWRIGHT_LAWS_PROGRAMS sets the number of programs, TILEWRIGHT_LAWS_SEED the first
// one, TILEWRIGHT_LAWS_KIND the kind that all of them feature, TILEWRIGHT_LAWS_THEME the theme of
// all, TILEWRIGHT_LAWS_FAILURES how many failures end the run. In a run of 10,000 programs and more of all kinds, each kind must have been
// accepted and refused often enough to prove something.
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/support/error.hpp>

#include "law.hpp"
#include "tally.hpp"

using namespace tilewright;

namespace {

/// What to try in one program: the featured kind and how it is mixed with others.
struct plan {
  const instruction_kind* featured;
  std::int64_t steps;
  std::int64_t percent;  // of steps that try the featured kind
};

/// Kinds in the order in which programs feature them; those that few places suit come more often.
const std::vector<const instruction_kind*>& rota() {
  static const std::vector<const instruction_kind*> all = [] {
    std::vector<const instruction_kind*> out;
    for (const int round : {0, 1, 2, 3})
      for (const instruction_kind& kind : instruction_kinds())
        if (round == 0 || !laws::theme_of(kind).empty()) out.push_back(&kind);
    return out;
  }();
  return all;
}

plan make_plan(std::uint64_t seed, support::random& draw) {
  static const instruction_kind* only = [] {
    const char* name = std::getenv("TILEWRIGHT_LAWS_KIND");
    return name ? find_instruction_kind(name) : nullptr;
  }();
  plan out{only ? only : rota()[seed % rota().size()], 0, 0};
  if (laws::chance(draw, 45)) {
    out.steps = 1 + laws::pick(draw, 8);
    out.percent = 100;
  } else {
    out.steps = 4 + laws::pick(draw, 27);
    out.percent = 40;
  }
  return out;
}

/// Runs one program; the text of a failure, empty when all is well.
std::string run_one(std::uint64_t seed, laws::tally& tally) {
  support::random draw(seed);
  const plan steps = make_plan(seed, draw);
  const bool themed = steps.percent == 100 || laws::chance(draw, 70);
  static const char* theme = std::getenv("TILEWRIGHT_LAWS_THEME");
  laws::program made = laws::random_program(draw, theme    ? theme
                                                  : themed ? laws::theme_of(*steps.featured)
                                                           : std::string_view());
  if (steps.featured->name == "work_on") made = laws::with_twin(std::move(made));
  if (steps.featured->name.substr(0, 7) == "sparse_") made = laws::sparse_program(draw);
  laws::trial trial(std::move(made), seed);
  const std::string name = "broken_law_" + std::to_string(seed);
  for (std::int64_t i = 0; i < steps.steps; ++i) {
    const bool feature = laws::chance(draw, steps.percent);
    const instruction_kind& kind = feature ? *steps.featured : laws::random_kind(draw);
    if (!laws::keeps_meaning(kind) && !feature) continue;
    const laws::proposal next = laws::propose(trial.schedule(), kind, draw);
    const laws::verdict v = trial.apply(next);
    if (v == laws::verdict::broken) return std::string(kind.name) + ": " + trial.report(name);
    tally.add(kind, v);
  }
  if (trial.judge() == laws::verdict::broken) return trial.report(name);
  return "";
}

}  // namespace

TEST_CASE("primitives keep the meaning of random programs") {
  laws::tally tally;
  const std::uint64_t first = laws::setting("TILEWRIGHT_LAWS_SEED", 1);
  const std::uint64_t programs = laws::setting("TILEWRIGHT_LAWS_PROGRAMS", 800);
  const std::uint64_t most = laws::setting("TILEWRIGHT_LAWS_FAILURES", 5);
  std::uint64_t failures = 0;
  for (std::uint64_t seed = first; seed < first + programs && failures < most; ++seed) {
    INFO("TILEWRIGHT_LAWS_SEED=", seed);
    std::string wrong;
    try {
      wrong = run_one(seed, tally);
    } catch (const std::exception& e) {
      wrong = std::string("thrown: ") + e.what();
    }
    if (wrong.empty()) continue;
    ++failures;
    FAIL_CHECK(wrong);
  }
  tally.print();
  if (programs < 10000 || std::getenv("TILEWRIGHT_LAWS_KIND")) return;
  for (const instruction_kind& kind : instruction_kinds()) {
    INFO(kind.name);
    // programs of one iteration or two have little to fuse or to turn, and each is featured in a few hundred
    const bool of_iterations = std::string_view(kind.name).substr(0, 7) == "sparse_";
    CHECK(tally[kind].accepted >= (of_iterations ? 250 : 500));
    // what has no arguments is never refused
    if (!kind.parameters.empty()) CHECK(tally[kind].refused >= 100);
  }
}
