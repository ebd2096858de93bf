#include <tilewright/impl/space/tiles/whole_tiles.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "../kernels.hpp"
#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

ir::function product(int m, int n, int k) {
  const auto t = [](int x) { return std::to_string(x); };
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) +
                   "), \"float32\"), B: T.Buffer((" + t(k) + ", " + t(n) +
                   "), \"float32\"), C: T.Buffer((" + t(m) + ", " + t(n) +
                   "), \"float32\")):\n    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " +
                   t(k) +
                   "):\n        with T.block(\"C\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
                   "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n");
}

std::vector<schedule> padded(const ir::function& f) {
  return members::sketches(f, {space::detail::whole_tiles{}});
}

}  // namespace

TEST_CASE("whole_tiles: loops without divisors are padded by a twelfth at most") {
  const auto multiple = space::detail::multiple_for_tiles;
  for (const int divided : {1, 7, 16, 23, 48, 64, 100, 1000, 4096}) CHECK(multiple(divided) == 1);
  CHECK(multiple(31) == 32);
  CHECK(multiple(127) == 128);
  CHECK(multiple(129) == 8);
  CHECK(multiple(513) == 32);
  CHECK(multiple(4097) == 128);
  CHECK(multiple(37) == 8);
}

TEST_CASE("whole_tiles: products are padded where they need it, and compute what they computed") {
  for (const ir::function& f : {product(33, 26, 31), product(48, 31, 40)}) {
    const std::vector<schedule> all = padded(f);
    REQUIRE(all.size() == 1);
    CHECK(traces::mentions(all[0], "pad_einsum"));
    members::check(f, all, [](schedule&) {}, {.count = 1});
  }
  for (const ir::function& f : {product(48, 64, 40), kernels::conv2d(), kernels::softmax()}) {
    const std::vector<schedule> all = padded(f);
    REQUIRE(all.size() == 1);
    CHECK(all[0].trace().empty());
  }
}
