#include <tilewright/space/modules/parallel_vectorize.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// P holds X with channels last, in groups; Y reads it.
ir::function grouped(const std::string& type) {
  const std::string quoted = "\"" + type + "\"";
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((32, 5, 70), " + quoted +
                   "), Y: T.Buffer((2, 5, 70, 16), " + quoted +
                   ")):\n"
                   "    P = T.alloc_buffer((2, 5, 70, 16), " +
                   quoted +
                   ")\n"
                   "    for c, h, w in T.grid(32, 5, 70):\n"
                   "        with T.block(\"P\"):\n"
                   "            vc, vh, vw = T.axis.remap(\"SSS\", [c, h, w])\n"
                   "            P[vc // 16, vh, vw, vc % 16] = X[vc, vh, vw]\n"
                   "    for g, h, w, c in T.grid(2, 5, 70, 16):\n"
                   "        with T.block(\"Y\"):\n"
                   "            vg, vh, vw, vc = T.axis.remap(\"SSSS\", [g, h, w, c])\n"
                   "            Y[vg, vh, vw, vc] = P[vg, vh, vw, vc]\n");
}

/// Extents of the loops around a block, outermost first; 0: no literal.
std::vector<std::int64_t> extents(schedule& s, const std::string& name) {
  std::vector<std::int64_t> out;
  for (const loop_rv l : s.get_loops(s.get_block(name))) {
    const ir::expr& extent = s.get(l).extent;
    out.push_back(ir::is_int(extent) ? extent->integer : 0);
  }
  return out;
}

}  // namespace

TEST_CASE("channels of bytes in groups: the loop along a row stands right around the lanes") {
  const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  for (const auto& [type, order] :
       {std::pair{"int8", std::vector<std::int64_t>{2, 5, 1, 16, 128}},
        std::pair{"float32", std::vector<std::int64_t>{32, 5, 3, 32}}}) {
    CAPTURE(std::string(type));
    const ir::function f = grouped(type);
    schedule s(f);
    space::chooser choices;
    space::vectorize_innermost(s, "P", where, choices);
    CHECK(extents(s, "P") == order);
    check_meaning(s, f);
  }
}

namespace {

/// The channels of each pixel are mixed.
ir::function mixed_channels(int channels, const std::string& type) {
  const std::string n = std::to_string(channels), quoted = "\"" + type + "\"";
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((5, 70, " + n + "), " + quoted +
                   "), Y: T.Buffer((5, 70, " + n + "), " + quoted +
                   ")):\n"
                   "    for h, w, c in T.grid(5, 70, " +
                   n +
                   "):\n"
                   "        with T.block(\"Y\"):\n"
                   "            vh, vw, vc = T.axis.remap(\"SSS\", [h, w, c])\n"
                   "            Y[vh, vw, vc] = T.Select(vc == 0, X[vh, vw, 0] - X[vh, vw, 1], "
                   "X[vh, vw, 1] + X[vh, vw, 0])\n");
}

}  // namespace

TEST_CASE("vectors go along pixels, right below all of their few channels") {
  const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  for (const int channels : {2, 3, 4, 5, 8, 9})
    for (const std::string type : {"uint8", "float32", "float64"}) {
      CAPTURE(channels);
      CAPTURE(type);
      const ir::function f = mixed_channels(channels, type);
      schedule s(f);
      space::chooser choices;
      space::vectorize_innermost(s, "Y", where, choices);
      check_meaning(s, f);
      const std::vector<loop_rv> loops = s.get_loops(s.get_block("Y"));
      const ir::loop_node &around = s.get(loops[loops.size() - 2]), &lanes = s.get(loops.back());
      CHECK(lanes.loop == ir::loop_kind::vectorized);
      CHECK((around.loop == ir::loop_kind::unrolled) == (channels <= 8));  // which it chooses by
      if (channels <= 8) CHECK(ir::is_int(around.extent, channels));
    }
}

TEST_CASE("channels that are computed each in a way of its own are written out up to eight") {
  const auto written_out = [](int channels, const std::string& value) {
    const std::string n = std::to_string(channels);
    const ir::function f =
        ir::parse("@T.prim_func\ndef main(X: T.Buffer((70, 3), \"float32\"), Y: T.Buffer((70, " +
                  n + "), \"float32\")):\n    for i, c in T.grid(70, " + n + R"():
        with T.block("Y"):
            vi, vc = T.axis.remap("SS", [i, c])
            Y[vi, vc] = )" +
                  value + "\n");
    static const target::cpu cpu = target::named("cascadelake");
    const std::vector<schedule> all = space::default_cpu().sketches(f, {&cpu, 1}, 1);
    check_schedule(all[0], f);
    return traces::mentions(all[0], "sch.unroll");
  };
  const std::string chosen =
      "T.Select(vc == 4, X[vi, 0] * X[vi, 1], T.Select(vc < 2, X[vi, 1], X[vi, 2]))";
  CHECK(written_out(6, chosen));
  CHECK(written_out(8, chosen));
  CHECK_FALSE(written_out(9, chosen));
  CHECK_FALSE(written_out(6, "X[vi, 0] * X[vi, 1]"));
}

TEST_CASE("sums that share an operand, or whose windows overlap, are computed several at a time") {
  const auto filter = [](const std::string& step, const std::string& last) {
    return ir::parse(
        "@T.prim_func\ndef main(X: T.Buffer((" + last +
        ",), \"float32\"), H: T.Buffer((40,), \"float32\"), Y: T.Buffer((50,), \"float32\")):\n"
        "    for n, k in T.grid(50, 40):\n"
        "        with T.block(\"Y\"):\n"
        "            vn, vk = T.axis.remap(\"SR\", [n, k])\n"
        "            with T.init():\n"
        "                Y[vn] = T.float32(0)\n"
        "            Y[vn] = Y[vn] + H[vk] * X[vn * " +
        step + " + vk]\n");
  };
  const auto notes = [](const ir::function& f, int threads) {
    static const target::cpu cpu = target::named("cascadelake");
    const space::context where{&cpu, threads};
    std::size_t out = 0;
    for (const schedule& s : space::default_cpu().sketches(f, where, 1)) {
      check_schedule(s, f);
      out += traces::mentions(s, ir::sums_together_note);
    }
    return out;
  };
  CHECK(notes(filter("8", "433"), 1) > 0);
  CHECK(notes(filter("8", "433"), 4) > 0);
  CHECK(notes(filter("64", "3177"), 1) > 0);  // windows apart, which share the filter
}

TEST_CASE("truth values that are found of floats have lanes of these") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(P: T.Buffer((6, 2), "float32"), X: T.Buffer((200, 2), "float32"), A: T.Buffer((200,), "bool")):
    for n, p in T.grid(200, 6):
        with T.block("A"):
            vn, vp = T.axis.remap("SR", [n, p])
            with T.init():
                A[vn] = T.bool(True)
            A[vn] = A[vn] and P[vp, 0] * X[vn, 0] + P[vp, 1] >= X[vn, 1]
)");
  const target::cpu cpu = target::named("cascadelake");
  schedule s(f);
  space::chooser choices;
  space::vectorize_innermost(s, "A", {&cpu, 1}, choices);
  check_meaning(s, f);
  CHECK(traces::mentions(s, "candidates=[16, 32, 64]"));
}

TEST_CASE("short rows that read results of others are fused with those beside them") {
  const auto scaled = [](const std::string& rows, const std::string& columns) {
    return ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + rows + ", " + columns +
                     "), \"float32\"), Y: T.Buffer((" + rows + ", " + columns +
                     "), \"float32\")):\n    L = T.alloc_buffer((" + rows +
                     ",), \"float32\")\n    for n, c in T.grid(" + rows + ", " + columns + R"():
        with T.block("L"):
            vn, vc = T.axis.remap("SR", [n, c])
            with T.init():
                L[vn] = T.float32(0)
            L[vn] = L[vn] + X[vn, vc] * X[vn, vc]
    for n, c in T.grid()" +
                     rows + ", " + columns + R"():
        with T.block("Y"):
            vn, vc = T.axis.remap("SS", [n, c])
            Y[vn, vc] = X[vn, vc] / (L[vn] + T.float32(1))
)");
  };
  static const target::cpu cpu = target::named("cascadelake");
  for (const std::string columns : {"2", "3", "5", "8", "9"}) {
    CAPTURE(columns);
    const ir::function f = scaled("70", columns);
    schedule s(f);
    space::chooser choices;
    space::vectorize_innermost(s, "Y", {&cpu, 1}, choices);
    check_meaning(s, f);
    CHECK(traces::mentions(s, "sch.fuse(") == (columns != "9"));
    for (const schedule& sketch : space::default_cpu().sketches(f, {&cpu, 1}, 1))
      check_schedule(sketch, f);
  }
}

TEST_CASE("as many short axes are fused as fill whole vectors") {
  const target::cpu cpu = target::named("cascadelake");
  const auto fused = [&](const std::string& shape) {
    const ir::function f = ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + shape +
                                     "), \"float32\"), Y: T.Buffer((" + shape +
                                     "), \"float32\")):\n    for n, i, j in T.grid(" + shape + R"():
        with T.block("Y"):
            vn, vi, vj = T.axis.remap("SSS", [n, i, j])
            Y[vn, vi, vj] = X[vn, vi, vj] * X[vn, vi, 0]
)");
    schedule s(f);
    space::chooser choices;
    space::vectorize_innermost(s, "Y", {&cpu, 1}, choices);
    check_meaning(s, f);
    return s.get_loops(s.get_block("Y")).size();
  };
  CHECK(fused("20, 3, 3") == 2);  // nine vectors of 16 are sixteen of these matrices
  CHECK(fused("20, 4, 8") == 3);  // two vectors are one
  CHECK(fused("20, 7, 7") == 3);  // 49 vectors were too many
}
