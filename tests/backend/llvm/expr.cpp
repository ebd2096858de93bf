// Expressions (impl/backend/llvm/expr.ipp).
#include "backend/harness.hpp"

using namespace harness;

namespace {

/// Y = max(of(A, B), -of(A, B)), where that negative is written from zero or as the difference turned round.
function magnitudes(dtype t, bool turned) {
  const std::vector<expr> shape{64};
  const buffer a = make_buffer("A", t, shape), b = make_buffer("B", t, shape),
               y = make_buffer("Y", t, shape);
  const var u = make_var("u"), v = make_var("v");
  const expr at = u * 16 + v, x = load(a, {at}), z = load(b, {at});
  const expr value = turned ? max(x - z, z - x) : max(x, integer(t, 0) - x);
  return make(
      "magnitudes", {a, b, y},
      make_loop(u, 0, 4, make_loop(v, 0, 16, make_store(y, {at}, value), loop_kind::vectorized)));
}

}  // namespace

TEST_CASE("the larger one of an integer and its negative agrees with the interpreter") {
  for (const dtype t : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u32})
    for (const bool turned : {false, true}) {
      CAPTURE(std::string(name(t)));
      check_agrees(magnitudes(t, turned));
    }
}

TEST_CASE("the larger one of an integer and its negative is one instruction") {
  if (!have_compiler()) return;
  const target::cpu cpu = target::named("skylake-avx512");
  for (const bool turned : {false, true})
    CHECK(backend::inspect(magnitudes(dtype::i32, turned), cpu, backend::stage::assembly)
              .find("vpabsd") != std::string::npos);
}
