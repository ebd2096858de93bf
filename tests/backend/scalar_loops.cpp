#include <tilewright/impl/backend/scalar_loops.hpp>

#include "harness.hpp"

using namespace harness;

namespace {

/// Y[i] = sum of X[i, k] * W[k] over eight k that are written out: neighbours of X lie along k.
function rows(std::int64_t extent, loop_kind outer = loop_kind::serial) {
  const buffer x = make_buffer("X", dtype::f32, {extent, 24}),
               w = make_buffer("W", dtype::f32, {8}), y = make_buffer("Y", dtype::f32, {extent});
  const var i = make_var("i"), k = make_var("k");
  const stmt sum =
      make_loop(k, 0, 8, make_store(y, {i}, load(y, {i}) + load(x, {i, k}) * load(w, {k})),
                loop_kind::unrolled);
  return make("rows", {x, w, y}, make_loop(i, 0, expr(static_cast<int>(extent)), sum, outer));
}

options rounded() {
  options o;
  o.tolerance = 1e-6;
  return o;
}

/// A copy of so many elements in vectors beside `rows`.
function beside_vectors(std::int64_t vectors) {
  function f = rows(64);
  const buffer from = make_buffer("from", dtype::f32, {vectors, 8}),
               to = make_buffer("to", dtype::f32, {vectors, 8});
  const var o = make_var("o"), v = make_var("v");
  f.params.push_back({from, {}});
  f.params.push_back({to, {}});
  f.body =
      make_seq({f.body, make_loop(o, 0, expr(static_cast<int>(vectors)),
                                  make_loop(v, 0, 8, make_store(to, {o, v}, load(from, {o, v})),
                                            loop_kind::vectorized))});
  return f;
}

}  // namespace

TEST_CASE("functions most of whose stores are scalars in long loops are told from others") {
  const auto dominate = [](const function& f) {
    return backend::detail::scalar_loops::dominate(f);
  };
  CHECK(dominate(rows(64)));
  CHECK_FALSE(dominate(rows(8)));
  CHECK_FALSE(dominate(rows(64, loop_kind::vectorized)));
  CHECK_FALSE(dominate(rows(64, loop_kind::unrolled)));
  CHECK(dominate(beside_vectors(500)));
  CHECK_FALSE(dominate(beside_vectors(520)));  // 512 stores are scalars
}

TEST_CASE("LLVM gives vectors to loops that nobody gave any, and nothing but these changes") {
  if (!have_compiler()) return;
  const auto vectors = [](const function& f) {
    return backend::inspect(f, target::named("skylake-avx512"), backend::stage::optimized_ir)
               .find("x float>") != std::string::npos;
  };
  CHECK(vectors(rows(64)));
  CHECK_FALSE(vectors(rows(8)));
  check_agrees(rows(64), rounded());
  check_agrees(rows(67), rounded());
  check_agrees(beside_vectors(500), rounded());
}
