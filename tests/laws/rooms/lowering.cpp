// Lowering keeps the meaning of random schedules of random programs.
#include <laws/random_steps.hpp>
#include <laws/running.hpp>

#include <cstdlib>

#include <doctest/doctest.h>

#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

void check_lowering(std::uint64_t seed, int steps, const target::cpu& cpu) {
  support::random draw(seed);
  const laws::program p = laws::random_program(draw);
  schedule s(p.function, seed);
  for (int k = 0; k < steps; ++k) laws::random_step(s, draw);
  const ir::function scheduled = laws::concrete(p, s.function());
  CAPTURE(seed);
  CAPTURE(ir::print(scheduled));
  ir::function lowered;
  try {
    lowered = pass::lower(scheduled, cpu);
  } catch (const build_error&) {
    return;  // loops bound to GPU threads
  }
  CAPTURE(ir::print(lowered));
  laws::memory want, got;
  try {
    want = laws::interpreted(p, scheduled);
  } catch (const error&) {
    return;  // the law of primitives reports that
  }
  std::string failure;
  try {
    // accumulators may be filled from a buffer that an initialization inside the loop fills
    got = laws::interpreted(p, lowered, false);
  } catch (const error& e) {
    failure = e.what();
  }
  // A producer that moved into a parallel loop while another writer of its buffer stayed outside:
  // the iterations store equal values. What blocks allocate is not checked for that before
  // lowering.
  if (failure.rfind("race", 0) == 0) return;
  CHECK(failure == "");
  if (failure.empty()) CHECK(laws::difference(p, lowered, want, got) == "");
}

}  // namespace

TEST_CASE("lowered random schedules compute what the schedules do") {
  const target::cpu haswell = target::named("haswell"), plain = target::named("x86-64");
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  const std::uint64_t programs = text ? std::strtoull(text, nullptr, 10) : 150;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    check_lowering(seed, 0, haswell);
    check_lowering(seed, 12, seed % 2 ? haswell : plain);
  }
}
