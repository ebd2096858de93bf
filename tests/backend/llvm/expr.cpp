// Expressions (impl/backend/llvm/expr.ipp).
#include <tilewright/backend/compile.hpp>

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

TEST_CASE(
    "a product that a loop does not change is not multiplied once more in each of its iterations") {
  const buffer x = make_buffer("X", dtype::f32, {32, 16}), m = make_buffer("M", dtype::f32, {16}),
               y = make_buffer("Y", dtype::f32, {16});
  const var k = make_var("k"), v = make_var("v");
  const auto lanes = [&](const stmt& body) {
    return make_loop(v, 0, 16, body, loop_kind::vectorized);
  };
  const expr apart = load(x, {k, v}) - load(m, {v}) * real(dtype::f32, 0.05);
  const auto squares = [&](const stmt& begin) {
    return make(
        "squares", {x, m, y},
        make_seq(
            {begin, make_loop(k, 0, 32, lanes(make_store(y, {v}, load(y, {v}) + apart * apart)))}));
  };
  const function f = squares(lanes(make_store(y, {v}, real(dtype::f32, 0))));
  options near;
  near.tolerance = 1e-6;  // products are contracted
  check_agrees(f, near);
  if (!have_compiler()) return;
  const auto text = [](const function& g) {
    return backend::inspect(g, target::named("skylake-avx512"), backend::stage::assembly);
  };
  CHECK(text(f).find("vsubps") != std::string::npos);
  // nothing is known of it where a value of the loop is multiplied
  const function inside = make(
      "inside", {x, m, y},
      make_loop(
          k, 0, 32,
          lanes(make_store(x, {k, v}, load(m, {v}) - load(x, {k, v}) * real(dtype::f32, 0.05)))));
  check_agrees(inside, near);
  CHECK(text(inside).find("vsubps") == std::string::npos);
}
