// Compiled code of random schedules of random programs computes what the interpreter computes.
#include <laws/random_steps.hpp>
#include <laws/running.hpp>

#include <cstdlib>

#include <doctest/doctest.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

void check_code(std::uint64_t seed, int steps, target::cpu cpu, const backend::executor* exec) {
  support::random draw(seed);
  const laws::program p = laws::random_program(draw);
  schedule s(p.function, seed);
  for (int k = 0; k < steps; ++k) laws::random_step(s, draw);
  CAPTURE(seed);
  laws::memory want;
  ir::function lowered;
  try {
    want = laws::interpreted(p, s.function());
    lowered = pass::lower(laws::concrete(p, s.function()), cpu);
  } catch (const error&) {
    return;  // the laws of primitives and of lowering report that
  }
  CAPTURE(ir::print(lowered));
  std::string failure;
  try {
    failure = laws::difference(p, lowered, want, laws::compiled(p, lowered, cpu, exec));
  } catch (const error& e) {
    failure = e.what();
  }
  CHECK(failure == "");
}

}  // namespace

TEST_CASE("compiled random schedules compute what the interpreter does") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library: the compiling test is skipped");
    return;
  }
  std::vector<target::cpu> targets;
  for (const char* name : {"x86-64", "haswell", "host"})
    if (target::runs_on(target::named(name), target::host()))
      targets.push_back(target::named(name));
  for (target::cpu& t : targets) t.cores = 2;
  backend::pool two(2);
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  const std::uint64_t programs = text ? std::strtoull(text, nullptr, 10) : 100;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const target::cpu& cpu = targets[seed % targets.size()];
    check_code(seed, 0, cpu, nullptr);
    check_code(seed, 12, cpu, seed % 2 ? &two.view() : nullptr);
  }
}
