#include <tilewright/space/modules/transposed_output.hpp>

#include <doctest/doctest.h>

#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/register_tiling.hpp>

#include "../draws.hpp"
#include "../programs.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// Y[k, p, q] sums P[c, stride * p + r, stride * q + s] * F[k, c, r, s] in NCHW, P being X with a
/// border of zeros.
ir::function convolution(int channels, int filters, int extent, int stride) {
  const auto n = [](int v) { return std::to_string(v); };
  const int padded = (extent - 1) * stride + 3, inside = padded - 2;
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + n(channels) + ", " + n(inside) + ", " +
                   n(inside) + "), \"float32\"), F: T.Buffer((" + n(filters) + ", " + n(channels) +
                   ", 3, 3), \"float32\"), Y: T.Buffer((" + n(filters) + ", " + n(extent) + ", " +
                   n(extent) + "), \"float32\")):\n    P = T.alloc_buffer((" + n(channels) + ", " +
                   n(padded) + ", " + n(padded) + "), \"float32\")\n    for c, h, w in T.grid(" +
                   n(channels) + ", " + n(padded) + ", " + n(padded) + R"():
        with T.block("P"):
            vc, vh, vw = T.axis.remap("SSS", [c, h, w])
            P[vc, vh, vw] = T.if_then_else(1 <= vh and vh < )" +
                   n(inside + 1) + " and 1 <= vw and vw < " + n(inside + 1) +
                   ", X[vc, vh - 1, vw - 1], T.float32(0))\n    for k, p, q, c, r, s in T.grid(" +
                   n(filters) + ", " + n(extent) + ", " + n(extent) + ", " + n(channels) +
                   R"(, 3, 3):
        with T.block("Y"):
            vk, vp, vq, vc, vr, vs = T.axis.remap("SSSRRR", [k, p, q, c, r, s])
            with T.init():
                Y[vk, vp, vq] = T.float32(0)
            Y[vk, vp, vq] = Y[vk, vp, vq] + P[vc, vp * )" +
                   n(stride) + " + vr, vq * " + n(stride) + " + vs] * F[vk, vc, vr, vs]\n");
}

std::vector<std::size_t> axes_of(const ir::function& f, const std::string& block) {
  return space::column_axes(schedule(f), block, draws::haswell());
}

}  // namespace

TEST_CASE("a strided convolution in NCHW may have its output channels as columns") {
  const std::vector<std::size_t> strided = axes_of(convolution(5, 24, 9, 2), "Y");
  REQUIRE(strided.size() == 2);
  CHECK(strided[0] == 0);  // channels: the image is strided along the rows of the output
  CHECK(strided[1] == 2);
  // elements too far apart for shuffles can be stored by phases
  const std::vector<std::size_t> far = axes_of(convolution(5, 24, 9, 7), "Y");
  CHECK((far.size() == 2 && far[0] + far[1] == 2));
}

TEST_CASE(
    "pixels come before channels where they fill vectors and results would be much to transpose") {
  // 3 channels and 48 results a pixel: 40 of 40 lanes either way, a small image, many results
  CHECK(axes_of(convolution(3, 48, 40, 2), "Y").front() == 2);
  // long sums: what is laid out anew is little, and rows of 9 leave 7 of 16 lanes empty
  CHECK(axes_of(convolution(200, 48, 9, 2), "Y").front() == 0);
}

TEST_CASE("long rows without windows stay the only columns, and elementwise blocks have none") {
  CHECK(axes_of(programs::matmul(64, 64, 64), "C") == std::vector<std::size_t>{1});
  CHECK(axes_of(convolution(5, 24, 9, 2), "P").empty());
}

TEST_CASE("the result is laid out along the columns and written back transposed") {
  const ir::function f = convolution(3, 10, 6, 2);
  schedule s(f);
  space::transposed_output(s, "Y", 0);
  CHECK(space::profile(s, "Y")->contiguous() == 0);
  CHECK(space::needs_register_tiling(s, "Y"));
  CHECK_FALSE(space::profile(s, "Y_global")->reduction);
  CHECK(draws::close(draws::run(s.function()), draws::run(f)));
}

TEST_CASE("nothing is done along the axis that is contiguous, and a moving index is refused") {
  const ir::function f = convolution(3, 10, 6, 2);
  schedule s(f);
  space::transposed_output(s, "Y", 2);
  CHECK(s.function().body.get() == f.body.get());
  CHECK_THROWS_AS(space::transposed_output(s, "Y", 3), schedule_error);
}

TEST_CASE("members of all families of a strided convolution compute it") {
  for (const int threads : {1, 4}) {
    const ir::function f = convolution(3, 19, 9, 2);
    const std::vector<schedule> sketches =
        space::default_cpu().sketches(f, draws::haswell(threads), 1);
    bool transposed = false, direct = false;
    for (const schedule& s : sketches) {
      const bool other = traces::mentions(s, "transform_layout");
      transposed = transposed || other;
      direct = direct || !other;
      CHECK(traces::mentions(s, "vectorize"));
    }
    CHECK(transposed);
    CHECK(direct);
    CHECK(draws::check(f, sketches) > 10);
  }
}
