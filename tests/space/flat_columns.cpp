#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "draws.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

struct pointwise {
  int filters = 6, channels = 5, rows = 7, columns = 8;
  int step = 1, border = 0;  // columns behind each row of the image that nothing reads
  bool biased = false;
};

/// Y[k, p, q] adds up X[c, p * step, q * step] * F[k, c], and then a bias where there is one.
ir::function convolve(const pointwise& v) {
  const auto n = [](int x) { return std::to_string(x); };
  const std::string shape = n(v.filters) + ", " + n(v.rows) + ", " + n(v.columns),
                    step = v.step > 1 ? " * " + n(v.step) : "", sum = v.biased ? "S" : "Y",
                    at = "[vk, vp, vq]";
  const auto buffer = [](const std::string& extents) {
    return "T.Buffer((" + extents + "), \"float32\")";
  };
  std::string out =
      "@T.prim_func\ndef main(X: " +
      buffer(n(v.channels) + ", " + n(v.rows * v.step) + ", " + n(v.columns * v.step + v.border)) +
      ", F: " + buffer(n(v.filters) + ", " + n(v.channels)) +
      (v.biased ? ", B: " + buffer(n(v.filters)) : "") + ", Y: " + buffer(shape) + "):\n";
  if (v.biased) out += "    S = T.alloc_buffer((" + shape + "), \"float32\")\n";
  out += "    for k, p, q, c in T.grid(" + shape + ", " + n(v.channels) +
         "):\n        with T.block(\"S\"):\n            vk, vp, vq, vc = "
         "T.axis.remap(\"SSSR\", [k, p, q, c])\n            with T.init():\n                " +
         sum + at + " = T.float32(0)\n            " + sum + at + " = " + sum + at + " + X[vc, vp" +
         step + ", vq" + step + "] * F[vk, vc]\n";
  if (v.biased)
    out += "    for k, p, q in T.grid(" + shape +
           "):\n        with T.block(\"Y\"):\n            vk, vp, vq = "
           "T.axis.remap(\"SSS\", [k, p, q])\n            Y[vk, vp, vq] = S[vk, vp, vq] + B[vk]\n";
  return ir::parse(out);
}

bool flattens(const schedule& s) { return traces::mentions(s, "sch.transform_block_layout("); }

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  static const target::cpu cpu = target::named("skylake-avx512");
  return space::default_cpu(12).sketches(f, space::context{&cpu, threads}, 1);
}

}  // namespace

TEST_CASE("rows that lie behind each other become columns of one register tile") {
  for (const int threads : {1, 4})
    for (const int columns : {8, 14, 23}) {
      CAPTURE(threads);
      CAPTURE(columns);
      const ir::function f = convolve({6, 5, 8, columns});
      const std::vector<schedule> sketches = sketches_of(f, threads);
      REQUIRE_FALSE(sketches.empty());
      CHECK(flattens(sketches[0]));
      draws::check(f, sketches, 6);
    }
}

TEST_CASE("where vectors do not fill all rows together, either form is tried") {
  const std::vector<schedule> whole = sketches_of(convolve({6, 5, 4, 12})),
                              ragged = sketches_of(convolve({6, 5, 7, 9}));
  const auto count = [](const std::vector<schedule>& all) {
    std::size_t out = 0;
    for (const schedule& s : all) out += flattens(s);
    return out;
  };
  CHECK(count(whole) == whole.size());
  CHECK(flattens(ragged[0]));
  CHECK(count(ragged) < ragged.size());
}

TEST_CASE("rows of an image whose windows reach beyond its border stay") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((4, 7, 9), "float32"), F: T.Buffer((6, 4, 3, 3), "float32"), Y: T.Buffer((6, 7, 9), "float32")):
    P = T.alloc_buffer((4, 9, 11), "float32")
    for c, h, w in T.grid(4, 9, 11):
        with T.block("P"):
            vc, vh, vw = T.axis.remap("SSS", [c, h, w])
            P[vc, vh, vw] = T.if_then_else(vh >= 1 and vh < 8 and vw >= 1 and vw < 10, X[vc, vh - 1, vw - 1], T.float32(0))
    for k, p, q, c, r, s in T.grid(6, 7, 9, 4, 3, 3):
        with T.block("Y"):
            vk, vp, vq, vc, vr, vs = T.axis.remap("SSSRRR", [k, p, q, c, r, s])
            with T.init():
                Y[vk, vp, vq] = T.float32(0)
            Y[vk, vp, vq] = Y[vk, vp, vq] + P[vc, vp + vr, vq + vs] * F[vk, vc, vr, vs]
)");
  const std::vector<schedule> sketches = sketches_of(f);
  for (const schedule& s : sketches) CHECK_FALSE(flattens(s));
  draws::check(f, sketches, 4);
}

TEST_CASE("rows with something between them, in steps, or read by another block stay") {
  CHECK_FALSE(flattens(sketches_of(convolve({6, 5, 8, 14, 2}))[0]));
  CHECK_FALSE(flattens(sketches_of(convolve({6, 5, 8, 14, 1, 1}))[0]));
  CHECK_FALSE(flattens(sketches_of(convolve({6, 5, 8, 14, 1, 0, true}))[0]));
  CHECK_FALSE(flattens(sketches_of(convolve({6, 5, 8, 16}))[0]));  // whole vectors already
}
