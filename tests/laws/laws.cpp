// Random chains of primitives on random programs, under the law of primitives.
//
// Every program features one kind of the instruction table: alone in some programs, between others
// in the rest. TILEWRIGHT_LAWS_PROGRAMS sets the number of programs, TILEWRIGHT_LAWS_SEED the first
// one, TILEWRIGHT_LAWS_KIND the kind that all of them feature.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/support/error.hpp>

#include "law.hpp"

using namespace tilewright;

namespace {

std::uint64_t setting(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

struct counts {
  long accepted = 0, refused = 0;
};

/// What to try in one program: the featured kind and how it is mixed with others.
struct plan {
  const instruction_kind* featured;
  std::int64_t steps;
  std::int64_t percent;  // of steps that try the featured kind
};

plan make_plan(std::uint64_t seed, support::random& draw) {
  static const instruction_kind* only = [] {
    const char* name = std::getenv("TILEWRIGHT_LAWS_KIND");
    return name ? find_instruction_kind(name) : nullptr;
  }();
  const auto kinds = instruction_kinds();
  plan out{only ? only : &kinds[seed % kinds.size()], 0, 0};
  if (laws::chance(draw, 35)) {
    out.steps = 1 + laws::pick(draw, 8);
    out.percent = 100;
  } else {
    out.steps = 4 + laws::pick(draw, 27);
    out.percent = 40;
  }
  return out;
}

/// Runs one program; the text of a failure, empty when all is well.
std::string run_one(std::uint64_t seed, std::map<std::string_view, counts>& tally) {
  support::random draw(seed);
  laws::program made = laws::random_program(draw);
  const plan steps = make_plan(seed, draw);
  laws::trial trial(std::move(made), seed);
  const std::string name = "broken_law_" + std::to_string(seed);
  for (std::int64_t i = 0; i < steps.steps; ++i) {
    const bool feature = laws::chance(draw, steps.percent);
    const instruction_kind& kind = feature ? *steps.featured : laws::random_kind(draw);
    if (!laws::keeps_meaning(kind) && !feature) continue;
    const laws::proposal next = laws::propose(trial.schedule(), kind, draw);
    const laws::verdict v = trial.apply(next);
    if (v == laws::verdict::broken) return std::string(kind.name) + ": " + trial.report(name);
    ++(v == laws::verdict::accepted ? tally[kind.name].accepted : tally[kind.name].refused);
  }
  if (trial.judge() == laws::verdict::broken) return trial.report(name);
  return "";
}

}  // namespace

TEST_CASE("primitives keep the meaning of random programs") {
  std::map<std::string_view, counts> tally;
  for (const instruction_kind& kind : instruction_kinds()) tally[kind.name];
  const std::uint64_t first = setting("TILEWRIGHT_LAWS_SEED", 1);
  const std::uint64_t programs = setting("TILEWRIGHT_LAWS_PROGRAMS", 800);
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + programs && failures < 5; ++seed) {
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
  std::printf("%-28s %9s %9s\n", "primitive", "accepted", "refused");
  for (const auto& [name, n] : tally)
    std::printf("%-28.*s %9ld %9ld\n", static_cast<int>(name.size()), name.data(), n.accepted,
                n.refused);
}
