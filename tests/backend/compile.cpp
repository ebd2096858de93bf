#include <tilewright/backend/compile.hpp>

#include "harness.hpp"

using namespace harness;

namespace {

/// Y[i] = value(X[i], i) for i in [0, n), vectorized by `lanes` with a scalar tail.
template <class Value>
function pointwise(dtype from, dtype to, std::int64_t n, std::int64_t lanes, const Value& value) {
  const buffer x = make_buffer("X", from, {expr(n)}), y = make_buffer("Y", to, {expr(n)});
  const var o = make_var("o"), v = make_var("v"), t = make_var("t");
  const expr wide = o * lanes + v;
  const auto store = [&](const expr& i) { return make_store(y, {i}, value(load(x, {i}), i)); };
  std::vector<stmt> parts;
  if (n / lanes > 0)
    parts.push_back(make_loop(o, 0, expr(n / lanes), make_loop(v, 0, expr(lanes), store(wide), loop_kind::vectorized)));
  if (n % lanes > 0) parts.push_back(make_loop(t, expr(n - n % lanes), expr(n % lanes), store(t)));
  return make("pointwise", {x, y}, make_seq(parts));
}

}  // namespace

TEST_CASE("a function that adds one") {
  check_agrees(pointwise(dtype::f32, dtype::f32, 37, 8, [](const expr& x, const expr&) { return x + real(dtype::f32, 1); }));
}
