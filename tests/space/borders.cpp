#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/any.hpp>

#include "members.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

struct shape {
  bool channels_last = true;
  int extent = 6, stride = 1, size = 3;
  std::string type = "float32";
  bool fixed = false;  // one term after the other
};

/// Y[p, q, k] sums P[p * stride + r, q * stride + s, c] * F[r, s, c, k], P being X with a border of
/// zeros one element wide; 5 channels to 12. With channels first c, k, and k, c of F are in front.
ir::function convolution(const shape& v) {
  const auto n = [](int x) { return std::to_string(x); };
  const auto image = [&](const std::string& channel, const std::string& row,
                         const std::string& column) {
    return v.channels_last ? row + ", " + column + ", " + channel
                           : channel + ", " + row + ", " + column;
  };
  const auto filter = [&](const std::string& taps, const std::string& c, const std::string& k) {
    return v.channels_last ? taps + ", " + c + ", " + k : k + ", " + c + ", " + taps;
  };
  const bool bytes = v.type == "int8";
  const std::string sum = bytes ? "int32" : v.type;
  const auto wide = [&](const std::string& x) {
    return bytes ? "T.cast(" + x + ", \"int32\")" : x;
  };
  const std::string outputs = n((v.extent + 2 - v.size) / v.stride + 1), inside = n(v.extent),
                    padded = n(v.extent + 2), last = n(v.extent + 1), size = n(v.size),
                    step = " * " + n(v.stride) + " + ";
  const std::string axes = v.channels_last ? "p, q, k, r, s, c" : "k, p, q, c, r, s";
  const std::string variables =
      v.channels_last ? "vp, vq, vk, vr, vs, vc" : "vk, vp, vq, vc, vr, vs";
  const std::string extents =
      image("12", outputs, outputs) + ", " +
      (v.channels_last ? size + ", " + size + ", 5" : "5, " + size + ", " + size);
  const std::string y = "Y[" + image("vk", "vp", "vq") + "]";
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((" + image("5", inside, inside) + "), \"" + v.type +
      "\"), F: T.Buffer((" + filter(size + ", " + size, "5", "12") + "), \"" + v.type +
      "\"), Y: T.Buffer((" + image("12", outputs, outputs) + "), \"" + sum +
      "\")):\n    P = T.alloc_buffer((" + image("5", padded, padded) + "), \"" + v.type +
      "\")\n    for a, b, d in T.grid(" + image("5", padded, padded) +
      "):\n        with T.block(\"P\"):\n            " + image("vc", "vh", "vw") +
      " = T.axis.remap(\"SSS\", [a, b, d])\n            P[" + image("vc", "vh", "vw") +
      "] = T.if_then_else(1 <= vh and vh < " + last + " and 1 <= vw and vw < " + last + ", X[" +
      image("vc", "vh - 1", "vw - 1") + "], T." + v.type + "(0))\n    for " + axes + " in T.grid(" +
      extents + "):\n        with T.block(\"Y\"):\n            " + variables +
      " = T.axis.remap(\"SSSRRR\", [" + axes + "])\n" +
      (v.fixed ? "            T.block_attr({\"tilewright.reduction_lanes\": 1})\n" : "") +
      "            with T.init():\n                " + y + " = T." + sum + "(0)\n            " + y +
      " = " + y + " + " + wide("P[" + image("vc", "vp" + step + "vr", "vq" + step + "vs") + "]") +
      " * " + wide("F[" + filter("vr, vs", "vc", "vk") + "]") + "\n");
}

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  static const target::cpu cpu = target::named("haswell");
  return space::default_cpu().sketches(f, space::context{&cpu, threads}, 1);
}

/// The names of all blocks in the order of the program, the root left out.
std::vector<std::string> blocks_of(const schedule& s) {
  std::vector<std::string> out;
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& x) {
    const ir::block_realize_node* n = ir::as_realize(x);
    if (n && n->block->name != ir::root_block(s.function())->name) out.push_back(n->block->name);
  });
  return out;
}

bool skips(const schedule& s) { return traces::mentions(s, "tilewright.skip_zeros"); }

/// Results that are no finite numbers when all weights of the first row of a window are infinite.
int not_finite(const ir::function& f, const shape& v) {
  std::vector<std::vector<float>> memory;
  std::vector<ir::tensor_view> views;
  for (const ir::param& p : f.params) {
    std::int64_t size = 1;
    for (const ir::expr& e : p.buffer->shape) size *= ir::as_int(e);
    memory.emplace_back(static_cast<std::size_t>(size), 1.0f);
  }
  std::vector<float>& weights = memory[1];
  const auto taps = static_cast<std::size_t>(v.size);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t row = v.channels_last ? i / (weights.size() / taps) : i / taps % taps;
    if (row == 0) weights[i] = std::numeric_limits<float>::infinity();
  }
  for (std::vector<float>& data : memory) views.push_back({data.data(), {}});
  ir::interpret(f, std::move(views));
  int out = 0;
  for (const float y : memory[2]) out += std::isfinite(y) ? 0 : 1;
  return out;
}

/// A separable filter of a picture of bytes, 24 rows of 150, whose edges are repeated: along rows into T,
/// then along columns. A and T are padded in blocks of their own, as clamp_outside writes them.
ir::function blur() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((24, 150), "uint8"), B: T.Buffer((24, 150), "uint8")):
    P = T.alloc_buffer((24, 154), "uint8")
    T_ = T.alloc_buffer((24, 150), "uint16")
    Q = T.alloc_buffer((28, 150), "uint16")
    for y, x in T.grid(24, 154):
        with T.block("P"):
            vy, vx = T.axis.remap("SS", [y, x])
            P[vy, vx] = A[vy, T.min(T.max(vx - 2, 0), 149)]
    for y, x in T.grid(24, 150):
        with T.block("T"):
            vy, vx = T.axis.remap("SS", [y, x])
            T_[vy, vx] = T.cast(P[vy, vx], "uint16") + T.cast(P[vy, vx + 1], "uint16") * T.uint16(4) + T.cast(P[vy, vx + 2], "uint16") * T.uint16(6) + T.cast(P[vy, vx + 3], "uint16") * T.uint16(4) + T.cast(P[vy, vx + 4], "uint16")
    for y, x in T.grid(28, 150):
        with T.block("Q"):
            vy, vx = T.axis.remap("SS", [y, x])
            Q[vy, vx] = T_[T.min(T.max(vy - 2, 0), 23), vx]
    for y, x in T.grid(24, 150):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = T.cast(T.floordiv(Q[vy, vx] + Q[vy + 1, vx] * T.uint16(4) + Q[vy + 2, vx] * T.uint16(6) + Q[vy + 3, vx] * T.uint16(4) + Q[vy + 4, vx] + T.uint16(128), T.uint16(256)), "uint8")
)");
}

/// Five taps along rows and then along columns of 24 rows of 50, each with a border of zeros two wide in a
/// block of its own, as zero_outside writes them.
ir::function zero_blur() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((24, 50), "float32"), B: T.Buffer((24, 50), "float32")):
    P = T.alloc_buffer((24, 54), "float32")
    T_ = T.alloc_buffer((24, 50), "float32")
    Q = T.alloc_buffer((28, 50), "float32")
    for y, x in T.grid(24, 54):
        with T.block("P"):
            vy, vx = T.axis.remap("SS", [y, x])
            P[vy, vx] = T.if_then_else(2 <= vx and vx < 52, A[vy, vx - 2], T.float32(0))
    for y, x in T.grid(24, 50):
        with T.block("T"):
            vy, vx = T.axis.remap("SS", [y, x])
            T_[vy, vx] = P[vy, vx] + P[vy, vx + 1] * T.float32(4) + P[vy, vx + 2] * T.float32(6) + P[vy, vx + 3] * T.float32(4) + P[vy, vx + 4]
    for y, x in T.grid(28, 50):
        with T.block("Q"):
            vy, vx = T.axis.remap("SS", [y, x])
            Q[vy, vx] = T.if_then_else(2 <= vy and vy < 26, T_[vy - 2, vx], T.float32(0))
    for y, x in T.grid(24, 50):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = Q[vy, vx] + Q[vy + 1, vx] * T.float32(4) + Q[vy + 2, vx] * T.float32(6) + Q[vy + 3, vx] * T.float32(4) + Q[vy + 4, vx]
)");
}

/// The sum of an element and its six neighbours, zeros outside of 6 x 7 x 40 elements.
ir::function seven_points() {
  return ir::parse(R"(
@T.prim_func
def main(U: T.Buffer((6, 7, 40), "float64"), V: T.Buffer((6, 7, 40), "float64")):
    P = T.alloc_buffer((8, 9, 42), "float64")
    for x, y, z in T.grid(8, 9, 42):
        with T.block("P"):
            vx, vy, vz = T.axis.remap("SSS", [x, y, z])
            P[vx, vy, vz] = T.if_then_else(1 <= vx and vx < 7 and 1 <= vy and vy < 8 and 1 <= vz and vz < 41, U[vx - 1, vy - 1, vz - 1], T.float64(0))
    for x, y, z in T.grid(6, 7, 40):
        with T.block("V"):
            vx, vy, vz = T.axis.remap("SSS", [x, y, z])
            V[vx, vy, vz] = P[vx, vy + 1, vz + 1] + P[vx + 2, vy + 1, vz + 1] + P[vx + 1, vy, vz + 1] + P[vx + 1, vy + 2, vz + 1] + P[vx + 1, vy + 1, vz] + P[vx + 1, vy + 1, vz + 2] + P[vx + 1, vy + 1, vz + 1]
)");
}

}  // namespace

TEST_CASE("stencils behind repeated edges stay apart first of all, the edges are read in place") {
  const std::vector<schedule> sketches = sketches_of(blur());
  const std::vector<std::string> apart{"T", "B"};
  bool inlined = false;
  for (const schedule& s : sketches) {
    const std::vector<std::string> blocks = blocks_of(s);
    CHECK((blocks == apart || blocks == std::vector<std::string>{"B"}));
    inlined = inlined || blocks != apart;
  }
  CHECK(blocks_of(sketches.front()) == apart);
  CHECK(inlined);
}

TEST_CASE("members of a blur with repeated edges compute it") {
  const ir::function f = blur();
  members::demands ask;
  ask.count = 24;
  ask.tolerance = 0;
  const auto promised = [](const schedule&) {};
  for (const int threads : {1, 2})
    CHECK(members::check(f, sketches_of(f, threads), promised, ask) > 5);
}

TEST_CASE("a border of zeros around stencils is decided in place first, or copied") {
  const std::vector<schedule> points = sketches_of(seven_points()),
                              blurs = sketches_of(zero_blur());
  const auto copies = [](const schedule& s) { return support::contains(blocks_of(s), "P"); };
  CHECK(blocks_of(points.front()) == std::vector<std::string>{"V"});
  CHECK(blocks_of(blurs.front()) == std::vector<std::string>{"T", "B"});
  for (const std::vector<schedule>* sketches : {&points, &blurs}) {
    CHECK(support::any(*sketches, copies));
    CHECK_FALSE(support::all(*sketches, copies));
  }
}

TEST_CASE("members of stencils with a border of zeros compute them") {
  members::demands ask;
  ask.count = 24;
  const auto promised = [](const schedule&) {};
  for (const ir::function& f : {seven_points(), zero_blur()})
    for (const int threads : {1, 2})
      CHECK(members::check(f, sketches_of(f, threads), promised, ask) > 5);
}

TEST_CASE("terms of a border of zeros are left out, first of all with channels last") {
  for (const bool channels_last : {true, false}) {
    const std::vector<schedule> sketches = sketches_of(convolution({channels_last, 40}));
    bool skipped = false, copied = false;
    for (const schedule& s : sketches) (skips(s) ? skipped : copied) = true;
    CHECK(skipped);
    CHECK(copied);
    CHECK(skips(sketches.front()) == channels_last);
  }
  CHECK(skips(sketches_of(convolution({false, 7})).front()));  // a third of the elements
}

TEST_CASE("zeros are left out first where other columns than pixels fill the lanes") {
  // a border of 11 % of the elements; 12 channels in lanes of 4, and in lanes of 8
  CHECK(skips(sketches_of(convolution({false, 32, 1, 3, "float64"})).front()));
  CHECK_FALSE(skips(sketches_of(convolution({false, 32, 1, 3, "float32"})).front()));
}

TEST_CASE("no tap is computed outside of the data") {
  for (const bool channels_last : {true, false}) {
    const shape v{channels_last, 7};
    const ir::function f = convolution(v);
    const int rows = 7 * 7 * 12;
    CHECK(not_finite(f, v) == rows);  // 0 * infinity is no number
    const schedule first = sketches_of(f).front();
    REQUIRE(skips(first));
    CHECK(not_finite(first.function(), v) == rows);
    CHECK(not_finite(pass::lower(first.function(), target::named("haswell")), v) ==
          rows - 7 * 12);  // the first row of windows is outside
  }
}

TEST_CASE("a sum whose terms are asked for one after the other keeps them all") {
  shape v;
  v.fixed = true;
  for (const schedule& s : sketches_of(convolution(v))) CHECK_FALSE(skips(s));
}

TEST_CASE("members that leave terms out compute the convolution") {
  members::demands ask;
  ask.count = 12;
  const auto promised = [](const schedule&) {};
  for (const bool channels_last : {true, false})
    for (const int stride : {1, 2})
      for (const char* type : {"float32", "float64", "int8"}) {
        const ir::function f = convolution({channels_last, 9, stride, 3, type});
        for (const int threads : {1, 2}) {
          // both of one type, the others by turns
          if (type != std::string("float32") && threads != stride) continue;
          std::vector<schedule> skipping = sketches_of(f, threads);
          std::erase_if(skipping, [](const schedule& s) { return !skips(s); });
          CHECK(members::check(f, skipping, promised, ask) > 5);
        }
      }
}
