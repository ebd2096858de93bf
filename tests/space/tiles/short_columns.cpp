#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

struct pooling {
  int channels = 3, columns = 11, step = 2, window = 2;
  std::string type = "float32";
  bool weights = false;  // of each channel and tap: a depthwise convolution
};

/// Y[p, q, c] reduces X[p * step + r, q * step + s, c], channels last, to 4 rows.
ir::function pool(const pooling& v) {
  const auto n = [](int x) { return std::to_string(x); };
  const std::string shape = "4, " + n(v.columns) + ", " + n(v.channels), size = n(v.window),
                    step = " * " + n(v.step) + " + ",
                    image = n(3 * v.step + v.window) + ", " +
                            n((v.columns - 1) * v.step + v.window) + ", " + n(v.channels);
  const std::string x = "X[vp" + step + "vr, vq" + step + "vs, vc]", y = "Y[vp, vq, vc]";
  const std::string filter = v.weights ? "F: T.Buffer((" + size + ", " + size + ", " +
                                             n(v.channels) + "), \"" + v.type + "\"), "
                                       : "";
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((" + image + "), \"" + v.type + "\"), " + filter +
      "Y: T.Buffer((" + shape + "), \"" + v.type + "\")):\n    for p, q, c, r, s in T.grid(" +
      shape + ", " + size + ", " + size +
      "):\n        with T.block(\"Y\"):\n            vp, vq, vc, vr, vs = "
      "T.axis.remap(\"SSSRR\", [p, q, c, r, s])\n            with T.init():\n"
      "                " +
      y + " = T." + v.type + "(0)\n            " + y + " = " +
      (v.weights ? y + " + " + x + " * F[vr, vs, vc]" : "T.max(" + y + ", " + x + ")") + "\n");
}

bool fuses(const schedule& s) { return traces::mentions(s, "sch.fuse("); }

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  static const target::cpu cpu = target::named("skylake-avx512");
  return space::default_cpu().sketches(f, space::context{&cpu, threads}, 1);
}

}  // namespace

TEST_CASE("pixels and channels that fill half a vector at most become lanes together") {
  for (const int channels : {3, 5, 8})
    for (const int columns : {4, 19})
      for (const bool weights : {false, true}) {
        CAPTURE(channels);
        CAPTURE(columns);
        CAPTURE(weights);
        const ir::function f = pool({channels, columns, 2, 2, "float32", weights});
        const std::vector<schedule> sketches = sketches_of(f);
        REQUIRE_FALSE(sketches.empty());
        CHECK(fuses(sketches[0]));
        CHECK_FALSE(fuses(sketches.back()));  // the other choice stays
        draws::check(f, sketches, 8);
      }
  CHECK(fuses(sketches_of(pool({3, 11, 1, 3}))[0]));
  CHECK(fuses(sketches_of(pool({3, 11, 1, 3}), 4)[0]));
}

TEST_CASE("long columns, steps that leave too much between lanes, and products keep their loops") {
  CHECK_FALSE(fuses(sketches_of(pool({9, 11, 2, 2}))[0]));
  CHECK_FALSE(fuses(sketches_of(pool({5, 11, 2, 2, "float64"}))[0]));
  CHECK_FALSE(fuses(sketches_of(pool({3, 11, 5, 2}))[0]));
  const ir::function product = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 20), "float32"), B: T.Buffer((20, 3), "float32"), C: T.Buffer((8, 3), "float32")):
    for i, j, k in T.grid(8, 3, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  CHECK_FALSE(fuses(sketches_of(product)[0]));
}
