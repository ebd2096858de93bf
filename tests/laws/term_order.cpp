// Random schedules of random programs that keep the order of their terms: what the check accepts computes the
// same bits, before and after lowering, in the interpreter and by machine code.
#include <tilewright/schedule/term_order.hpp>

#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

#include "random_programs.hpp"
#include "random_steps.hpp"
#include "running.hpp"

using namespace laws;

namespace {

/// Programs and schedules of them, with numbers whose sums show their order.
struct attempt {
  program what;
  schedule done;
  memory expected;
};

std::optional<attempt> draw_attempt(std::uint64_t seed) {
  support::random draw(seed);
  program p = random_program(draw, seed % 2 == 0 ? "product" : "");
  p.exact = false;
  p.function = ir::with_term_order(concrete(p, p.function));
  p.dims.clear();
  try {
    memory expected = interpreted(p, p.function);
    schedule s(p.function, seed);
    for (int i = 0; i < 8; ++i) random_step(s, draw);
    for (std::size_t k = 0; k < p.function.params.size(); ++k)  // else data mean something else
      if (p.function.params[k].buffer != s.function().params[k].buffer) return std::nullopt;
    return attempt{std::move(p), std::move(s), std::move(expected)};
  } catch (const error&) {  // a program whose numbers are indices
    return std::nullopt;
  }
}

/// Functions that machine code computes by polynomials, and the interpreter by the C library.
bool calls_functions(const ir::function& f) {
  bool out = false;
  ir::for_each_expr(f.body, [&](const ir::expr& e) {
    out = out || (e->op == ir::op::call && is_float(e.type()));
  });
  return out;
}

/// Nothing for a loop that is bound to threads of a GPU.
std::optional<ir::function> lowered(const ir::function& f) {
  try {
    return pass::lower(f, target::host());
  } catch (const build_error&) {
    return std::nullopt;
  }
}

/// Nothing where iterations of parallel loops meet in what is their own in machine code alone.
std::optional<memory> interpreted_code(const attempt& a, const ir::function& code) {
  try {
    return interpreted(a.what, code, false);
  } catch (const error& e) {
    if (std::string_view(e.what()).substr(0, 4) == "race") return std::nullopt;
    throw;
  }
}

bool is_accepted(const attempt& a) {
  try {
    check_term_order(a.done, a.what.function);
    return true;
  } catch (const schedule_error& e) {
    CHECK(e.primitive() == "term_order");
    return false;
  }
}

std::uint64_t programs() {
  const char* text = std::getenv("TILEWRIGHT_LAWS_PROGRAMS");
  return text ? std::strtoull(text, nullptr, 10) : 1000;
}

}  // namespace

TEST_CASE("schedules that keep the order of terms compute the same bits") {
  std::size_t accepted = 0, moved = 0, refused_with_other_bits = 0;
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    const std::optional<attempt> a = draw_attempt(seed);
    if (!a) continue;
    const ir::function& scheduled = a->done.function();
    CAPTURE(seed);
    CAPTURE(a->done.trace().print());
    const memory found = interpreted(a->what, scheduled);
    if (!is_accepted(*a)) {
      refused_with_other_bits += found != a->expected;
      continue;
    }
    ++accepted;
    moved += scheduled.body != a->what.function.body && ir::reduces_floats(a->what.function);
    CHECK_MESSAGE(found == a->expected, "the scheduled program computes other bits");
    const std::optional<ir::function> code = lowered(scheduled);
    if (!code) continue;
    if (const std::optional<memory> again = interpreted_code(*a, *code))
      CHECK_MESSAGE(*again == a->expected, "the lowered program computes other bits");
    if (seed % 4 == 0 && !calls_functions(scheduled))
      CHECK_MESSAGE(compiled(a->what, *code, target::host()) == a->expected,
                    "machine code computes other bits");
  }
  MESSAGE(accepted, " accepted, ", moved, " of them reductions that were changed, ",
          refused_with_other_bits, " refused that compute other bits");
  CHECK(accepted > programs() / 8);
  CHECK(moved > programs() / 40);
  CHECK(refused_with_other_bits > 0);
}
