// Along which variable vectors of a block load cheapest.
#include <tilewright/impl/space/vector_axis.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "draws.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

/// Of one load that takes these steps along two variables.
double cost(std::int64_t step, std::int64_t values, std::int64_t lanes = 16, bool affine = true) {
  const std::vector<space::access_profile> loads{
      {ir::make_buffer("A", dtype::f32, {64}), {7, step}, affine, -1}};
  return space::detail::vector_load_cost(loads, 1, values, lanes);
}

/// One element of every window of channels first, each channel times a number.
ir::function strided(int step) {
  const std::string n = std::to_string(step);
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((3, 150), \"float32\"), F: T.Buffer((3, 1), "
      "\"float32\"), Y: T.Buffer((3, 48), \"float32\")):\n    for c, p, r in T.grid(3, "
      "48, 1):\n        with T.block(\"Y\"):\n            vc, vp, vr = "
      "T.axis.remap(\"SSR\", [c, p, r])\n            with T.init():\n                "
      "Y[vc, vp] = T.float32(0)\n            Y[vc, vp] = Y[vc, vp] + X[vc, vp * " +
      n + " + vr] * F[vc, vr]\n");
}

/// Sums of rows whose elements lie `step` apart, so many from row to row.
ir::function rows(int step, int terms, int row) {
  return ir::parse(
      "@T.prim_func\ndef main(A: T.Buffer((20000,), \"float32\"), Y: T.Buffer((40,), "
      "\"float32\")):\n    for i, k in T.grid(40, " +
      std::to_string(terms) +
      "):\n        with T.block(\"Y\"):\n            vi, vk = T.axis.remap(\"SR\", [i, "
      "k])\n            with T.init():\n                Y[vi] = T.float32(0)\n         "
      "   Y[vi] = Y[vi] + A[vi * " +
      std::to_string(row) + " + vk * " + std::to_string(step) + "]\n");
}

/// Sketches of the default space, and those of them that make vectors of the loop over results.
struct counts {
  std::size_t all = 0, vectors = 0;
  bool first = false;
};
counts count(const ir::function& f) {
  counts out;
  for (const schedule& s : space::default_cpu().sketches(f, draws::haswell(), 1)) {
    const bool vectors = traces::mentions(s, "sch.vectorize");
    out.first = out.all == 0 ? vectors : out.first;
    out.vectors += vectors ? 1 : 0;
    ++out.all;
  }
  return out;
}

}  // namespace

TEST_CASE("vector axis: loads cost more the farther lanes lie apart") {
  CHECK(cost(0, 64) < cost(1, 64));
  CHECK(cost(1, 64) == 1);
  for (std::int64_t step = 1; step < 8; ++step) CHECK(cost(step, 64) < cost(step + 1, 64));
  CHECK(cost(8, 64) < cost(9, 64));
  CHECK(cost(9, 64) == 16);  // each lane its own
  CHECK(cost(-1, 64) == 16);
  CHECK(cost(1, 64, 16, false) == 16);
  CHECK(cost(9, 64, 4) == 4);
}

TEST_CASE("vector axis: lanes that have no work cost as the others do") {
  CHECK(cost(1, 4) == 4);
  CHECK(cost(1, 16) == cost(1, 17));
  CHECK(cost(2, 1) == 16 * cost(2, 0));
  CHECK(cost(1, 0) == 1);  // nobody knows how many there are
}

TEST_CASE("vector axis: a sum of one term has vectors of its results") {
  for (const int step : {2, 3}) {
    const counts found = count(strided(step));
    CHECK(found.first);
    const ir::function f = strided(step);
    CHECK(draws::check(f, space::default_cpu().sketches(f, draws::haswell(), 1), 20) > 1);
  }
}

TEST_CASE("vector axis: sums along memory, or along every second element, go first") {
  const counts beside = count(rows(1, 400, 400)), pairs = count(rows(2, 200, 400));
  CHECK_FALSE(beside.first);
  CHECK(beside.vectors == 0);
  CHECK_FALSE(pairs.first);
  CHECK(pairs.vectors > 0);  // the other choice
  // shorter than a vector, the elements of pairs are gathered by vectors of results
  CHECK(count(rows(2, 7, 400)).first);
}
