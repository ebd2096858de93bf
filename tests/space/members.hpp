// Rules applied to kernels, and what must hold for every member of the families that they make.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/cpu.hpp>

#include "backend/harness.hpp"
#include "schedule/check_schedule.hpp"

namespace members {

using namespace tilewright;

using rule =
    std::function<void(schedule&, const std::string&, const space::context&, space::chooser&)>;

inline const space::context& machine() {
  static const target::cpu cpu = target::named("haswell");
  static const space::context where{&cpu, 1};
  return where;
}

/// A space in which the rules meet every block of the root scope, one rule after the other,
/// consumers first.
inline space::design_space space_of(std::vector<rule> rules) {
  return space::design_space::function([rules](schedule s, const space::context& where) {
    return space::enumerate(s, where, 64, [&](schedule& sketch, space::chooser& choices) {
      for (const rule& r : rules) {
        const std::vector<std::string> blocks = space::root_block_names(sketch);
        for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
          if (space::has_block(sketch, *name)) r(sketch, *name, where, choices);
      }
    });
  });
}
inline std::vector<schedule> sketches(const ir::function& f, std::vector<rule> rules,
                                      std::uint64_t seed = 7) {
  return space_of(std::move(rules)).sketches(f, machine(), seed);
}

/// What a rule is tested with.
struct demands {
  int count = 50;
  bool device = false;      // threads have memory of their own; nothing is compiled
  bool compiled = true;     // a few members are lowered and run
  double tolerance = 1e-5;  // relative
  /// What becomes of a member before it runs; one that is refused counts as drawn.
  std::function<void(schedule&)> finish = nullptr;
};

inline std::vector<harness::argument> interpreted(const ir::function& f, bool device) {
  std::vector<harness::argument> memory = harness::make_arguments(f, {});
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
  ir::interpret_options how;
  how.check_races = true;
  how.check_scopes = device;
  ir::interpret(f, views, how);
  return memory;
}

inline void check_equal(const std::vector<harness::argument>& got,
                        const std::vector<harness::argument>& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    REQUIRE(harness::difference(got[i], expected[i]) <= tolerance);
}

inline void check_compiled(const ir::function& f, const std::vector<harness::argument>& expected,
                           double tolerance) {
  if (!harness::have_compiler()) return;
  std::vector<harness::argument> got = harness::make_arguments(f, {});
  const ir::function lowered = pass::lower(f, target::host());
  REQUIRE(harness::run_compiled(lowered, target::host(), got, {}) == backend::call_done);
  check_equal(got, expected, tolerance);
}

/// What lowering for a device makes of a program: a barrier after every stage below a loop of threads,
/// and virtual threads one after the other.
class stages_apart : public ir::mutator {
 public:
  using ir::mutator::mutate;
  ir::stmt mutate(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    const bool threads = loop && loop->loop == ir::loop_kind::thread_binding &&
                         loop->thread_tag.rfind("blockIdx", 0) != 0;
    depth_ += threads ? 1 : 0;
    ir::stmt out = ir::mutator::mutate(s);
    depth_ -= threads ? 1 : 0;
    if (threads && loop->thread_tag.rfind("vthread", 0) == 0)
      return pass::with_kind(*ir::as_loop(out), ir::loop_kind::serial, ir::as_loop(out)->body);
    if (depth_ == 0 || out->kind != ir::stmt_kind::seq) return out;
    std::vector<ir::stmt> apart;
    for (const ir::stmt& stage : static_cast<const ir::seq_node&>(*out).stmts) {
      apart.push_back(stage);
      apart.push_back(
          ir::make_evaluate(ir::call(dtype::i32, "tvm_storage_sync", {ir::text("shared")})));
    }
    return ir::make_seq(std::move(apart));
  }

 private:
  int depth_ = 0;
};

/// The function with its threads in lockstep from stage to stage.
inline ir::function in_lockstep(ir::function f) {
  f.body = stages_apart().mutate(f.body);
  return f;
}

/// Draws members of the sketches: each is well formed, replays from its text, computes what `f`
/// computes, has what `promised` checks, and so has what one mutation makes of it.
/// @returns the number of different programs
template <class Promised>
std::size_t check(const ir::function& f, const std::vector<schedule>& from, Promised promised,
                  demands ask = {}) {
  REQUIRE_FALSE(from.empty());
  const std::vector<harness::argument> expected = interpreted(f, ask.device);
  std::set<std::string> met;
  int drawn = 0, rejected = 0, tried = 0, mutated = 0;
  const auto look = [&](schedule s) {
    INFO(s.trace().print());
    check_equal(interpreted(s.function(), ask.device), expected, ask.tolerance);
    promised(s);
    if (ask.finish) {
      try {
        ask.finish(s);
      } catch (const schedule_error&) {
        ++rejected;
        return;
      }
      INFO(s.show());
      const ir::function done = ask.device ? in_lockstep(s.function()) : s.function();
      check_equal(interpreted(done, ask.device), expected, ask.tolerance);
    }
    if (met.insert(s.show()).second && ask.compiled && !ask.device && met.size() % 8 == 1)
      check_compiled(s.function(), expected, ask.tolerance);
  };
  for (const schedule& sketch : from) look(sketch);
  for (std::uint64_t seed = 1; drawn < ask.count; ++seed) {
    REQUIRE(seed < 4 * static_cast<std::uint64_t>(ask.count));
    const trace family = from[seed % from.size()].trace().without_decisions();
    std::string why;
    const auto member = search::replay(family, f, seed, &why);
    if (!member) continue;  // draws that do not go together
    ++drawn;
    check_schedule(member->scheduled, f);
    look(member->scheduled);
    support::random random(seed);
    const auto next = search::mutate_by(search::mutators(), member->scheduled.trace(), f, random);
    if (!next) continue;
    ++tried;
    if (const auto other = search::replay(*next, f, seed)) {
      ++mutated;
      look(other->scheduled);
    }
  }
  CHECK(2 * mutated >= tried);
  CHECK(2 * rejected <= drawn + mutated);
  return met.size();
}

}  // namespace members
