#include <tilewright/cost/curve_features.hpp>

#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

constexpr std::size_t points = 30;

std::vector<float> curves_of(const std::string& text) {
  return curve_features(loop_contexts(ir::parse(text)), points);
}

std::string product_of(const std::string& a, const std::string& b) {
  return R"(
@T.prim_func
def main()" +
         a + R"(: T.Buffer((128, 128), "float32"), )" + b +
         R"(: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for y, x, k in T.grid(128, 128, 128):
        with T.block("C"):
            vy, vx, vk = T.axis.remap("SSR", [y, x, k])
            with T.init():
                C[vy, vx] = T.float32(0)
            C[vy, vx] = C[vy, vx] + )" +
         a + "[vy, vk] * " + b + "[vk, vx]\n";
}

/// Value at the last knot, and the distance from it.
void check_point(const std::vector<float>& f, std::size_t buffer, std::size_t curve,
                 std::size_t point, float value, float beyond) {
  const float* at = &f[((buffer * 4 + curve) * points + point) * 2];
  INFO("buffer " << buffer << ", curve " << curve << ", point " << point);
  CHECK(at[0] == value);
  CHECK(at[1] == beyond);
}

}  // namespace

TEST_CASE("the curves of a product are those that its loop contexts have") {
  const std::vector<float> f = curves_of(product_of("A", "B"));
  REQUIRE(f.size() == curve_buffers * 8 * points);
  // of A: counts 2^14, 2^7, 2^7, reuses 2^7, 2^7, 1, iterations 2^7, 2^14, 2^21
  check_point(f, 0, 0, 0, 0, 0);
  check_point(f, 0, 0, 6, 0, 6);
  check_point(f, 0, 0, 7, 7, 0);
  check_point(f, 0, 0, 29, 7, 15);
  check_point(f, 0, 1, 0, 7, 0);
  check_point(f, 0, 1, 7, 14, 0);
  check_point(f, 0, 2, 7, 14, 0);
  check_point(f, 0, 2, 14, 21, 0);
  check_point(f, 0, 3, 20, 7, 6);
  check_point(f, 0, 3, 21, 14, 0);
  // three buffers have curves, the places of two more are empty
  CHECK(std::all_of(f.begin() + 3 * 8 * points, f.end(), [](float x) { return x == 0; }));
  CHECK(std::any_of(f.begin() + 2 * 8 * points, f.begin() + 3 * 8 * points,
                    [](float x) { return x != 0; }));
}

TEST_CASE("a program without loops has curves that are 0, and names do not count") {
  const std::vector<float> none = curves_of(
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\")):\n    A[0] = T.float32(1)\n");
  CHECK(none == std::vector<float>(curve_buffers * 8 * points, 0.0f));
  CHECK(curves_of(product_of("A", "B")) == curves_of(product_of("A_2", "B_10")));
}
