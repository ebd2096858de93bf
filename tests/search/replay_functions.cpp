#include <tilewright/search/strategies/replay_functions.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/target/cpu.hpp>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

/// Control flow of C++ follows a draw: each of five values is another structure.
void branches(schedule& s) {
  const auto loops = s.get_loops(s.get_block("C"));
  const std::int64_t drawn = s.get(s.sample_categorical({0, 1, 2, 3, 4}, {1, 1, 1, 1, 1}));
  if (drawn == 0) s.parallel(loops[0]);
  if (drawn == 1) s.vectorize(loops[1]);
  if (drawn == 2) s.unroll(loops[1]);
  if (drawn == 3) s.split(loops[0], s.sample_perfect_tile(loops[0], 2));
}

search_task task_of(const space::design_space& space) {
  search_task out;
  out.function = product().function;
  const space::context where{&target::host(), 1};
  for (const schedule& s : space.sketches(out.function, where, 3))
    out.sketches.push_back(s.trace().simplified().without_decisions());
  out.generate = [space, where, f = out.function](std::uint64_t seed) {
    return space.member(f, where, seed);
  };
  return out;
}

std::set<std::string> proposed(const search_task& task, strategy& s) {
  s.start(task, 11);
  std::set<std::string> out;
  for (const candidate& c : s.propose(200, {}))
    out.insert(c.scheduled.trace().simplified().without_decisions().print());
  return out;
}

}  // namespace

TEST_CASE("replay functions: each structure that follows from a draw is met") {
  const search_task task = task_of(branches);
  CHECK(task.sketches.size() == 5);
  CHECK(proposed(task, *replay_functions()).size() == 5);
  CHECK(proposed(task, *replay_traces()).size() == 5);
}

TEST_CASE("replay functions: decisions stay those that control flow has seen") {
  const search_task task = task_of(branches);
  const std::unique_ptr<strategy> s = replay_functions();
  s->start(task, 5);
  for (const candidate& c : s->propose(40, {})) {
    const std::string text = c.scheduled.trace().print();
    if (text.find("parallel") != std::string::npos)
      CHECK(text.find("sample_perfect_tile") == std::string::npos);
  }
}

TEST_CASE("replay functions: members of a space of expressions have drawn structure, too") {
  const search_task task = task_of(space::default_cpu());
  CHECK(proposed(task, *replay_functions()).size() > 1);
}
