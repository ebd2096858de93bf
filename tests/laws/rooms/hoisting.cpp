// Statements that leave loops keep the meaning of random programs whose blocks are computed inside of
// loops of their readers, also of loops that they do not depend on.
#include <laws/random_programs.hpp>
#include <laws/running.hpp>

#include <cstdlib>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/hoist_statements.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

/// Computes a block inside of a loop of one that reads it; initializes it there by itself, sometimes.
void move_inwards(schedule& s, support::random& draw) {
  const std::vector<block_rv> all = s.get_child_blocks(s.block("root"));
  const block_rv b = laws::any(draw, all);
  try {
    const std::vector<block_rv> readers = s.get_consumers(b);
    if (readers.empty()) return;
    const std::vector<loop_rv> loops = s.get_loops(laws::any(draw, readers));
    if (loops.empty()) return;
    s.compute_at(b, laws::any(draw, loops), laws::chance(draw, 50));
    const std::vector<loop_rv> own = s.get_loops(b);
    if (s.get(b).block->init && laws::chance(draw, 50))
      s.decompose_reduction(b, laws::any(draw, own));
  } catch (const schedule_error&) {  // it stays as it is
  }
}

/// Whether statements have left loops of the program that a seed gives.
bool check_hoisting(std::uint64_t seed) {
  support::random draw(seed);
  const laws::program p = laws::random_program(draw);
  schedule s(p.function, seed);
  for (int k = 0; k < 6; ++k) move_inwards(s, draw);
  const ir::function before = laws::concrete(p, s.function()),
                     after = pass::hoist_statements(before);
  if (ir::equal(before, after)) return false;
  CAPTURE(seed);
  CAPTURE(ir::print(before));
  CAPTURE(ir::print(after));
  laws::memory want;
  try {
    want = laws::interpreted(p, before);
  } catch (const error&) {
    return false;  // the law of primitives reports that
  }
  CHECK(laws::difference(p, before, want, laws::interpreted(p, after)) == "");
  return true;
}

}  // namespace

TEST_CASE("what leaves loops of random programs leaves their meaning") {
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  const std::uint64_t programs = text ? std::strtoull(text, nullptr, 10) : 400;
  int changed = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) changed += check_hoisting(seed);
  MESSAGE("programs that changed: ", changed);
  CHECK(changed > static_cast<int>(programs / 100));
}
