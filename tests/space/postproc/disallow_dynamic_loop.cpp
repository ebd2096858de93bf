#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;

TEST_CASE("a loop whose extent is a variable is rejected by name") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + T.float32(1)
)"));
  CHECK_THROWS_WITH_AS(
      space::disallow_dynamic_loop{}(s, draws::haswell()),
      "disallow_dynamic_loop: loop i has the extent n; tune the kernel for literal "
      "extents (requirement 1)",
      schedule_error);
}

TEST_CASE("constant loops pass, whatever was drawn") {
  const ir::function f = programs::matmul(12, 20, 8);
  const space::design_space tiles = [](schedule& s) {
    const auto [i, j, k] = s.loops<3>(s.get_block("C"));
    const auto factors = s.sample_tile(i, 2, {3, 5, 7});
    s.split(i, factors);
  };
  CHECK(draws::check(f, tiles.with({space::disallow_dynamic_loop{}})) > 2);
}
