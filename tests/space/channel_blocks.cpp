#include <tilewright/impl/space/tiles/channel_blocks.hpp>

#include <string>
#include <vector>

#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "members.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

/// A convolution with channels first: `step`, `taps`, channels of the image and whether it has a border.
ir::function convolution(int channels, int step, int taps, bool border, int groups = 1) {
  const auto n = [](int v) { return std::to_string(v); };
  const int rows = 5, columns = 19, pad = border ? taps / 2 : 0;
  const int height = (rows - 1) * step + taps, width = (columns - 1) * step + taps;
  const std::string image = border ? "P" : "X",
                    channel = groups > 1 ? "vk // 4 * " + n(channels) + " + vc" : "vc";
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((" + n(channels * groups) + ", " + n(height - 2 * pad) +
      ", " + n(width - 2 * pad) + "), \"int8\"), F: T.Buffer((" + n(4 * groups) + ", " +
      n(channels) + ", " + n(taps) + ", " + n(taps) + "), \"int8\"), Y: T.Buffer((" +
      n(4 * groups) + ", " + n(rows) + ", " + n(columns) + "), \"int32\")):\n" +
      (border ? "    P = T.alloc_buffer((" + n(channels * groups) + ", " + n(height) + ", " +
                    n(width) + "), \"int8\")\n    for c, y, x in T.grid(" + n(channels * groups) +
                    ", " + n(height) + ", " + n(width) +
                    "):\n        with T.block(\"P\"):\n"
                    "            vc, vy, vx = T.axis.remap(\"SSS\", [c, y, x])\n"
                    "            P[vc, vy, vx] = T.if_then_else(" +
                    n(pad) + " <= vy and vy < " + n(height - pad) + " and " + n(pad) +
                    " <= vx and vx < " + n(width - pad) + ", X[vc, vy - " + n(pad) + ", vx - " +
                    n(pad) + "], T.int8(0))\n"
              : "") +
      "    for k, p, q, c, r, s in T.grid(" + n(4 * groups) + ", " + n(rows) + ", " + n(columns) +
      ", " + n(channels) + ", " + n(taps) + ", " + n(taps) +
      "):\n        with T.block(\"Y\"):\n"
      "            vk, vp, vq, vc, vr, vs = T.axis.remap(\"SSSRRR\", [k, p, q, c, r, s])\n"
      "            with T.init():\n                Y[vk, vp, vq] = 0\n"
      "            Y[vk, vp, vq] = Y[vk, vp, vq] + T.cast(" +
      image + "[" + channel + ", vp * " + n(step) + " + vr, vq * " + n(step) +
      " + vs], \"int32\") * T.cast(F[vk, vc, vr, vs], \"int32\")\n");
}

/// The plain schedules of a function whose reduction has its channels in blocks compute what it says.
void check_blocked(const ir::function& f, const char* machine) {
  const target::cpu cpu = target::named(machine);
  schedule s(f);
  REQUIRE_FALSE(space::detail::block_channels(s, "Y").empty());
  const std::vector<schedule> plain = space::default_cpu(4, false).sketches(f, {&cpu, 1}, 3);
  REQUIRE_FALSE(plain.empty());
  members::check(f, plain, [](schedule&) {}, {.count = 4, .tolerance = 0});
}

}  // namespace

TEST_CASE("channel_blocks: images with channels first are interleaved, four rows at a time") {
  for (const char* machine : {"icelake-server", "haswell"}) {
    check_blocked(convolution(8, 1, 3, true), machine);
    check_blocked(convolution(8, 2, 3, true), machine);
    check_blocked(convolution(8, 2, 3, false), machine);
  }
}

TEST_CASE("channel_blocks: channels are padded to whole blocks") {
  check_blocked(convolution(6, 1, 3, true), "icelake-server");
  check_blocked(convolution(6, 3, 1, false), "icelake-server");  // pixels that are read alone
  check_blocked(convolution(3, 2, 3, false), "haswell");
}

TEST_CASE("channel_blocks: groups of whole blocks") {
  ir::function f = convolution(8, 2, 3, true, 2);
  const target::cpu cpu = target::named("icelake-server");
  const std::vector<schedule> plain = space::default_cpu(4, false).sketches(f, {&cpu, 1}, 3);
  members::check(f, plain, [](schedule&) {}, {.count = 4, .tolerance = 0});
}

TEST_CASE("channel_blocks: taps that indices divide are written out") {
  const target::cpu cpu = target::named("icelake-server");
  const auto taps_written_out = [&](int step) {
    const ir::function f = convolution(8, step, 3, true);
    int out = 0;
    for (const schedule& first : space::default_cpu(1, false).sketches(f, {&cpu, 1}, 1)) {
      REQUIRE(traces::mentions(first, "i1 // 4"));
      ir::for_each_stmt(first.function().body, [&](const ir::stmt& s) {
        const ir::loop_node* loop = ir::as_loop(s);
        out += loop && loop->loop == ir::loop_kind::unrolled && ir::is_int(loop->extent, 3);
      });
    }
    return out;
  };
  CHECK(taps_written_out(2) > taps_written_out(1));
}

TEST_CASE("channel_blocks: indices divide a tap where they divide nothing beside it") {
  const auto divides = [](const std::string& index) {
    const ir::function f = ir::parse(
        "@T.prim_func\ndef main(X: T.Buffer((64,), \"float32\"), Y: T.Buffer((8,), \"float32\")):\n"
        "    for i, r in T.grid(8, 3):\n        with T.block(\"Y\"):\n"
        "            vi, vr = T.axis.remap(\"SR\", [i, r])\n"
        "            with T.init():\n                Y[vi] = T.float32(0)\n"
        "            Y[vi] = Y[vi] + X[" +
        index + "]\n");
    return space::detail::divides_tap(*space::named_block(schedule(f), "Y").block, 1);
  };
  CHECK(divides("vr % 2 * 32 + vi + vr // 2"));
  CHECK_FALSE(divides("vi + vr"));
  CHECK_FALSE(divides("(vi + 2 - vr) // 2"));
  CHECK_FALSE(divides("vi // 2 * 4 + vr"));
}

TEST_CASE("channel_blocks: not for few channels, other types, and images with channels last") {
  const auto none = [](const ir::function& f) {
    schedule s(f);
    return space::detail::block_channels(s, "Y").empty();
  };
  CHECK(none(convolution(2, 1, 3, true)));
  CHECK(none(convolution(5, 1, 3, true)));  // three of eight would be padding
  const auto product = [](const std::string& shape, const std::string& at) {
    return ir::parse(
        "@T.prim_func\ndef main(X: T.Buffer((16, 8), \"int8\"), F: T.Buffer((" + shape +
        "), \"int8\"), Y: T.Buffer((16, 32), \"int32\")):\n"
        "    for i, j, k in T.grid(16, 32, 8):\n"
        "        with T.block(\"Y\"):\n"
        "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
        "            with T.init():\n"
        "                Y[vi, vj] = 0\n"
        "            Y[vi, vj] = Y[vi, vj] + T.cast(X[vi, vk], \"int32\") * T.cast(F[" +
        at + "], \"int32\")\n");
  };
  CHECK(none(product("32, 8", "vj, vk")));
  check_blocked(product("8, 32", "vk, vj"), "haswell");  // rows of a matrix are interleaved, too
}
