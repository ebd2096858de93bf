// Law: every program, at every stage of its life, survives the way through its text.
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <laws/random_steps.hpp>
#include <laws/running.hpp>

using namespace tilewright;

namespace {

void check_text(const ir::function& f) {
  const std::string text = ir::print(f);
  CAPTURE(text);
  ir::function again;
  REQUIRE_NOTHROW(again = ir::parse(text));
  CHECK(ir::print(again) == text);
  CHECK(ir::equal(again, f));
  CHECK(ir::workload_key(again) == ir::workload_key(f));
}

}  // namespace

TEST_CASE("random programs, their schedules and what they are lowered to print and parse") {
  const target::cpu machine = target::named("haswell");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    support::random draw(seed);
    const laws::program p = laws::random_program(draw);
    check_text(p.function);
    schedule s(p.function, seed);
    for (int i = 0; i < 8; ++i) laws::random_step(s, draw);
    check_text(s.function());
    CHECK(trace::parse(s.trace().print()) == s.trace());
    const ir::function fixed = laws::concrete(p, s.function());
    try {
      check_text(pass::lower(fixed, machine));
    } catch (const build_error&) {  // loops bound to threads of a GPU
    }
  }
}
