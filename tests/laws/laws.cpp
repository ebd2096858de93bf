// The law of primitives: one that accepts preserves meaning, one that refuses changes nothing.
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/ir/verify.hpp>

#include "random_programs.hpp"

using namespace tilewright;

namespace {

/// Number of programs: TILEWRIGHT_LAWS_PROGRAMS, or a number that an ordinary test run affords.
std::uint64_t programs() {
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  return text ? std::strtoull(text, nullptr, 10) : 300;
}
std::uint64_t first_seed() {
  const char* text = std::getenv("TILEWRIGHT_LAWS_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

struct tally {
  std::map<std::string, std::pair<long, long>> counts;  // primitive: accepted, refused
};

/// What is wrong with the schedule after a step; empty when nothing is.
std::string check_step(const schedule& s, const schedule_state& before, std::size_t trace_before,
                       const laws::step& step, const std::vector<std::vector<char>>& expected) {
  if (!step.accepted) {
    // Queries and samples that found the arguments may have been recorded; the program must not
    // change.
    return s.function().body == before.function.body ? "" : "a refusal changed the program";
  }
  if (s.trace().size() < trace_before) return "the trace lost instructions";
  try {
    ir::verify(s.function());
    if (laws::results_of(s.function()) != expected) return "the program computes something else";
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

std::string check_trace(const schedule& s, const ir::function& original) {
  const std::string text = s.trace().print();
  try {
    const trace parsed = trace::parse(text);
    if (!(parsed == s.trace())) return "the parsed trace differs";
    schedule replayed(original, 12345);
    parsed.apply_to(replayed);
    if (!ir::equal(replayed.function(), s.function()))
      return "the replayed trace gives another program";
    if (replayed.trace().print() != text) return "the replayed trace prints differently";
  } catch (const error& e) {
    return std::string("replay: ") + e.what();
  }
  return "";
}

/// Runs one program; the text of a failure, empty when all is well.
std::string run_one(std::uint64_t seed, tally& count) {
  support::random draw(seed);
  const ir::function original = laws::random_program(draw);
  std::vector<std::vector<char>> expected;
  try {
    ir::verify(original);
    expected = laws::results_of(original);
  } catch (const error& e) {
    return std::string("the program itself: ") + e.what() + "\n" + ir::print(original);
  }
  schedule s(original, seed);
  const std::uint64_t steps = 1 + draw.below(15);
  for (std::uint64_t i = 0; i < steps; ++i) {
    const schedule_state before = s.state();
    const std::size_t trace_before = s.trace().size();
    laws::step step;
    std::string wrong;
    try {
      step = laws::random_step(s, draw);
      wrong = check_step(s, before, trace_before, step, expected);
    } catch (const std::exception& e) {
      wrong = std::string("thrown: ") + e.what();
    }
    auto& [accepted, refused] = count.counts[step.primitive];
    ++(step.accepted ? accepted : refused);
    if (!wrong.empty())
      return wrong + "\nafter " + step.primitive + " " + step.text + "\nprogram:\n" +
             ir::print(original) + "\ntrace:\n" + s.trace().print() + "\nbefore the step:\n" +
             ir::print(before.function) + "\nresult:\n" + ir::print(s.function());
  }
  const std::string wrong = check_trace(s, original);
  if (wrong.empty()) return "";
  return wrong + "\nprogram:\n" + ir::print(original) + "\ntrace:\n" + s.trace().print();
}

}  // namespace

TEST_CASE("primitives preserve the meaning of random programs") {
  tally count;
  const std::uint64_t first = first_seed(), last = first + programs();
  int failures = 0;
  for (std::uint64_t seed = first; seed < last && failures < 3; ++seed) {
    const std::string wrong = run_one(seed, count);
    if (wrong.empty()) continue;
    ++failures;
    FAIL_CHECK("TILEWRIGHT_LAWS_SEED=" << seed << ": " << wrong);
  }
  for (const auto& [primitive, n] : count.counts)
    MESSAGE(primitive << ": " << n.first << " accepted, " << n.second << " refused");
}
