#include <tilewright/impl/search/replay_memory.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/impl/search/sketch.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "space/programs.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Draws the number of rows and columns; more than four rows are refused, and nothing is drawn then.
trace rows_and_columns(std::int64_t rows, std::int64_t columns) {
  return trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4 = sch.sample_categorical(candidates=[2, 4, 8], probs=[1, 1, 1], decision=)" +
                      std::to_string(rows) + R"()
sch.assert_(condition=v4 <= 4)
v5 = sch.sample_categorical(candidates=[2, 4], probs=[1, 1], decision=)" +
                      std::to_string(columns) + R"()
l6, l7 = sch.split(loop=l1, factors=[None, v4], preserve_unit_iters=True, disable_predication=False)
l8, l9 = sch.split(loop=l2, factors=[None, v5], preserve_unit_iters=True, disable_predication=False)
)");
}

}  // namespace

TEST_CASE("replay memory: what begins as a refused trace is refused, other traces are not known") {
  const ir::function f = programs::matmul(16, 16, 4);
  const trace bad = rows_and_columns(2, 0);
  const support::hash128 sketch = search::detail::sketch_of(bad);
  search::detail::replay_memory memory;
  CHECK_FALSE(memory.find(sketch, bad).refused);
  search::detail::replay_refusal refusal;
  CHECK_FALSE(search::detail::replay_or_refuse(bad, f, 1, refusal, {}));
  REQUIRE(refusal.instruction);
  CHECK(*refusal.instruction == 3);
  CHECK(refusal.why.find("assert") != std::string::npos);
  memory.add_refusal(sketch, bad, *refusal.instruction);
  CHECK(memory.find(sketch, bad).refused);
  CHECK(memory.find(sketch, rows_and_columns(2, 1)).refused);  // differs behind the refusal
  CHECK_FALSE(memory.find(sketch, rows_and_columns(1, 0)).refused);
  CHECK_FALSE(memory.find({1, 2}, bad).refused);  // another sketch
  CHECK_FALSE(memory.find(sketch, bad.without_decisions()).refused);
}

TEST_CASE("replay memory: a refusal that may follow from a missing decision is not kept") {
  const trace open = rows_and_columns(2, 0).without_decisions();
  const support::hash128 sketch = search::detail::sketch_of(open);
  search::detail::replay_memory memory;
  memory.add_refusal(sketch, open, 3);
  CHECK_FALSE(memory.find(sketch, rows_and_columns(2, 0)).refused);
}

TEST_CASE("replay memory: a trace that was replayed gives the same candidate") {
  const ir::function f = programs::matmul(16, 16, 4);
  const trace good = rows_and_columns(1, 1);
  const support::hash128 sketch = search::detail::sketch_of(good);
  search::detail::replay_memory memory;
  const auto c = replay(good, f, 1);
  REQUIRE(c);
  CHECK_FALSE(memory.find(sketch, good).known);
  memory.add(sketch, good, *c);
  const auto found = memory.find(sketch, good).known;
  REQUIRE(found);
  CHECK(found->identity == c->identity);
  CHECK(found->log_prior == c->log_prior);
  CHECK(found->scheduled.trace() == c->scheduled.trace());
  CHECK_FALSE(memory.find(sketch, rows_and_columns(1, 0)).known);
  memory.add(sketch, good.without_decisions(), *c);  // which other decisions may come of
  CHECK_FALSE(memory.find(sketch, rows_and_columns(0, 0)).known);
}

TEST_CASE("replay memory: what begins where another replay has stood ends where a whole one does") {
  const ir::function f = programs::matmul(96, 64, 48);
  const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  support::random draws(7);
  search::detail::replay_memory memory;
  std::size_t replayed = 0, refused = 0, instructions = 0;
  for (const schedule& drawn : space::default_cpu().sketches(f, where, 1)) {
    const support::hash128 sketch = search::detail::sketch_of(drawn.trace());
    trace at = drawn.trace();
    for (int step = 0; step < 40; ++step) {
      std::optional<trace> t = mutate_by(mutators(), at, f, draws);
      if (!t) continue;
      if (step % 5 == 0) t = mutate_by(mutators(), *t, f, draws).value_or(*t);
      const std::uint64_t seed = draws.next();
      search::detail::replay_refusal whole, rest;
      const auto expected = search::detail::replay_or_refuse(*t, f, seed, whole, {});
      const auto got = memory.replay(sketch, *t, f, seed, rest);
      REQUIRE(got.has_value() == expected.has_value());
      instructions += t->size();
      if (!got) {
        ++refused;
        CHECK(rest.instruction == whole.instruction);
        CHECK(rest.why == whole.why);
        continue;
      }
      ++replayed;
      CHECK(got->identity == expected->identity);
      CHECK(got->log_prior == expected->log_prior);
      CHECK(got->scheduled.trace() == expected->scheduled.trace());
      CHECK(got->scheduled.trace().print() == expected->scheduled.trace().print());
      if (step % 3 == 0) at = got->scheduled.trace();
    }
  }
  CHECK(replayed > 40);
  CHECK(memory.skipped() > instructions / 5);
  MESSAGE(replayed << " replayed, " << refused << " refused, " << memory.skipped() << " of "
                   << instructions << " instructions skipped");
}

TEST_CASE("replay memory: what begins where another replay has stood draws from its own seed") {
  const ir::function f = programs::matmul(16, 16, 4);
  const trace given = rows_and_columns(1, 1);
  const support::hash128 sketch = search::detail::sketch_of(given);
  search::detail::replay_memory memory;
  search::detail::replay_refusal refusal;
  REQUIRE(memory.replay(sketch, given, f, 1, refusal));
  const trace open = given.with_decision(4, {});  // the columns
  bool differ = false;
  std::optional<support::hash128> first;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto whole = replay(open, f, seed), rest = memory.replay(sketch, open, f, seed, refusal);
    REQUIRE(whole);
    REQUIRE(rest);
    CHECK(whole->identity == rest->identity);
    CHECK(whole->log_prior == rest->log_prior);
    differ = differ || whole->identity != first.value_or(whole->identity);
    first = whole->identity;
  }
  CHECK(differ);
  CHECK(memory.skipped() == 16 * 4);
}

TEST_CASE("replay memory: a trace that leaves out names of results is replayed as a whole") {
  const ir::function f = programs::matmul(16, 16, 4);
  const trace unnamed = trace::parse(R"(
b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True, disable_predication=False)
v4 = sch.sample_categorical(candidates=[2, 4], probs=[1, 1], decision=1)
sch.split(loop=l2, factors=[None, v4], preserve_unit_iters=True, disable_predication=False)
)");
  search::detail::replay_memory memory;
  search::detail::replay_refusal refusal;
  const auto whole = replay(unnamed, f, 1);
  const auto got = memory.replay({1, 2}, unnamed, f, 1, refusal);
  REQUIRE(whole);
  REQUIRE(got);
  CHECK(got->identity == whole->identity);
  CHECK(got->scheduled.trace() == whole->scheduled.trace());
}
