#include <tilewright/impl/space/chains/finished_sums.hpp>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Channels of pixels times a matrix, and what finishes the sums; `reads` is where the result reads the sum.
ir::function colours(int rows, int pixels, int channels, int terms, const std::string& reads) {
  const auto n = [](int v) { return std::to_string(v); };
  const std::string image = n(rows) + ", " + n(pixels) + ", ";
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + image + n(terms) +
                   "), \"float32\"), M: T.Buffer((" + n(channels) + ", " + n(terms) +
                   "), \"float32\"), B: T.Buffer((" + image + n(channels) +
                   "), \"float32\")):\n    S = T.alloc_buffer((" + image + n(channels) +
                   "), \"float32\")\n    for y, x, c, k in T.grid(" + image + n(channels) + ", " +
                   n(terms) + R"():
        with T.block("S"):
            vy, vx, vc, vk = T.axis.remap("SSSR", [y, x, c, k])
            with T.init():
                S[vy, vx, vc] = T.float32(0)
            S[vy, vx, vc] = S[vy, vx, vc] + M[vc, vk] * A[vy, vx, vk]
    for y, x, c in T.grid()" +
                   image + n(channels) + R"():
        with T.block("B"):
            vy, vx, vc = T.axis.remap("SSS", [y, x, c])
            B[vy, vx, vc] = T.min(T.max(S[)" +
                   reads + R"(], T.float32(-0.25)), T.float32(0.5))
)");
}

bool is_finished_in_place(const ir::function& f) {
  return space::detail::sum_of_pixels(schedule(f), "B", draws::haswell()).has_value();
}

}  // namespace

TEST_CASE("few sums of few terms are added up where they are finished, in vectors along pixels") {
  for (const int pixels : {32, 37})
    for (const int channels : {2, 3}) {
      const ir::function f = colours(2, pixels, channels, 4, "vy, vx, vc");
      CHECK(is_finished_in_place(f));
      for (const int threads : {1, 4}) {
        const std::vector<schedule> sketches =
            space::default_cpu().sketches(f, draws::haswell(threads), 1);
        INFO(sketches.front().show());
        CHECK_FALSE(ir::as_seq(ir::root_block(sketches.front().function())->body));
        draws::check(f, sketches, 8);
      }
    }
}

TEST_CASE("sums of many terms, of few pixels, or read elsewhere have nests of their own") {
  CHECK_FALSE(is_finished_in_place(colours(2, 32, 3, 16, "vy, vx, vc")));
  CHECK_FALSE(is_finished_in_place(colours(2, 8, 3, 3, "vy, vx, vc")));
  CHECK_FALSE(is_finished_in_place(colours(2, 32, 9, 2, "vy, vx, vc")));
  CHECK_FALSE(is_finished_in_place(colours(2, 32, 3, 3, "vy, 31 - vx, vc")));
  CHECK_FALSE(is_finished_in_place(colours(2, 32, 3, 3, "vy, vx, 2 - vc")));
}
