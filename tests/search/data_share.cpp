#include <tilewright/search/check/verify.hpp>

#include <doctest/doctest.h>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ops/convolution.hpp>

using namespace tilewright;
using search::operations_of;

TEST_CASE("operations count the taps of a convolution that lie in the data") {
  constexpr ops::conv_options plain{}, padded{.padding = 1}, wide{.stride = 2, .padding = 3};
  const std::int64_t W = 11, C = 4, K = 6;
  const auto conv1 = [&](const auto& kernel, std::int64_t S, std::int64_t Q) {
    return operations_of(
        reify(kernel, {{"N", 2}, {"W", W}, {"C", C}, {"S", S}, {"K", K}, {"Q", Q}}));
  };
  const double each = 2.0 * 2 * C * K;  // a multiplication and an addition
  CHECK(conv1(ops::conv1d<float, float, plain>, 3, 9) == each * 27);
  CHECK(conv1(ops::conv1d<float, float, padded>, 3, 11) == doctest::Approx(each * (33 - 2)));
  // outputs 0, 1 and 4, 5 lack 3, 1 and 1, 3 taps: windows begin at -3, -1, ..., 7
  CHECK(conv1(ops::conv1d<float, float, wide>, 7, 6) == doctest::Approx(each * (42 - 8)));
}

TEST_CASE(
    "both directions of a picture count, and so do the remainders of a transposed convolution") {
  constexpr ops::conv_options padded{.padding = 1}, twice{.stride = 2, .padding = 1};
  const double square = operations_of(reify(
      ops::conv2d<float, float, padded>,
      {{"N", 1}, {"H", 5}, {"W", 5}, {"C", 3}, {"R", 3}, {"S", 3}, {"K", 2}, {"P", 5}, {"Q", 5}}));
  CHECK(square == doctest::Approx(2.0 * 3 * 2 * 13 * 13));
  // each of 4 x 4 inputs meets 4 x 4 taps, but for those that fall beside the 8 x 8 outputs
  const double turned = operations_of(reify(
      ops::conv2d_transposed<float, float, twice>,
      {{"N", 1}, {"H", 4}, {"W", 4}, {"C", 3}, {"R", 4}, {"S", 4}, {"K", 2}, {"P", 8}, {"Q", 8}}));
  CHECK(turned == doctest::Approx(2.0 * 3 * 2 * 14 * 14));
}

TEST_CASE("a padded maximum compares with what lies outside") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), M: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 3):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(-1000)
            M[vi] = T.max(M[vi], T.if_then_else(1 <= vi + vk and vi + vk < 8, A[vi + vk - 1], T.float32(0)))
)");
  CHECK(operations_of(f) == 21);
}
