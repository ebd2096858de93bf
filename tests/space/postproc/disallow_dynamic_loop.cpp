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

TEST_CASE(
    "a loop over a row whose length is data passes where walks are taken, unless it is parallel") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(P: T.Buffer((5,), "int32"), A: T.Buffer((9,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B_o"):
            vi = T.axis.spatial(4, i)
            for k in range(T.max(P[vi + 1] - P[vi], 1)):
                with T.block("B"):
                    vk = T.axis.reduce(T.max(P[vi + 1] - P[vi], 1), k)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + T.if_then_else(vk < P[vi + 1] - P[vi], A[P[vi] + vk], T.float32(0))
)"));
  CHECK_THROWS_AS(space::disallow_dynamic_loop{}(s, draws::haswell()), schedule_error);
  space::disallow_dynamic_loop{.walks = true}(s, draws::haswell());
  s.unroll(s.get_loops(s.get_block("B"))[0]);
  CHECK_THROWS_AS(space::disallow_dynamic_loop{.walks = true}(s, draws::haswell()), schedule_error);
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
