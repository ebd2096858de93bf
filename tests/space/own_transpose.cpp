#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/modules/register_tiling.hpp>

#include "draws.hpp"
#include "trace_text.hpp"

using namespace tilewright;

TEST_CASE("one transposed buffer serves both loads of a product with its own transpose") {
  const char* text = R"(@T.prim_func
def main(X: T.Buffer((2, 19, 150), "float32"), C: T.Buffer((2, 19, 19), "float32")):
    for b, i, j, t in T.grid(2, 19, 19, 150):
        with T.block("C"):
            vb, vi, vj, vt = T.axis.remap("SSSR", [b, i, j, t])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + X[vb, vi, vt] * X[vb, vj, vt]
)";
  const ir::function f = ir::parse(text);
  schedule s(f);
  REQUIRE_FALSE(space::needs_register_tiling(s, "C"));
  space::chooser first;
  space::arranged_operands(s, "C", 2, first);
  CHECK(space::needs_register_tiling(s, "C"));
  CHECK(space::profile(s, "C")->reuse(2) == 1);
  CHECK(draws::close(draws::run(s.function()), draws::run(f)));
  for (const int threads : {1, 4}) {
    const std::vector<schedule> sketches =
        space::default_cpu().sketches(f, draws::haswell(threads), 1);
    CHECK(traces::mentions(sketches[0], "transform_layout"));
    CHECK(draws::check(f, sketches) > 10);
  }
}

TEST_CASE("what a product with its own transpose reads is computed once, and stored transposed") {
  const char* text = R"(@T.prim_func
def main(X: T.Buffer((19, 40), "float32"), M: T.Buffer((19,), "float32"), C: T.Buffer((19, 19), "float32")):
    D = T.alloc_buffer((19, 40), "float32")
    for i, t in T.grid(19, 40):
        with T.block("D"):
            vi, vt = T.axis.remap("SS", [i, t])
            D[vi, vt] = X[vi, vt] - M[vi]
    for i, j, t in T.grid(19, 19, 40):
        with T.block("C"):
            vi, vj, vt = T.axis.remap("SSR", [i, j, t])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + D[vi, vt] * D[vj, vt]
)";
  const ir::function f = ir::parse(text);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  CHECK_FALSE(traces::mentions(sketches[0], "compute_inline"));
  CHECK(traces::mentions(sketches[0], "transform_layout"));
  CHECK_FALSE(traces::mentions(sketches[0], "cache_read"));
  CHECK(draws::check(f, sketches) > 10);
}
