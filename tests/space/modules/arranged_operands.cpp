#include <tilewright/space/modules/arranged_operands.hpp>

#include <doctest/doctest.h>

#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/transposed_output.hpp>

#include "../draws.hpp"
#include "../programs.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// Y[c, p, q] sums P[c, stride * p + r, stride * q + s] * F[c, r, s], P being X with a border of
/// zeros.
ir::function depthwise(int channels, int extent, int stride, int border = 1, int size = 3) {
  const auto n = [](int v) { return std::to_string(v); };
  const int padded = (extent - 1) * stride + size, inside = padded - 2 * border;
  const std::string read = border ? "P" : "X";
  std::string text = "@T.prim_func\ndef main(X: T.Buffer((" + n(channels) + ", " + n(inside) +
                     ", " + n(inside) + "), \"float32\"), F: T.Buffer((" + n(channels) + ", " +
                     n(size) + ", " + n(size) + "), \"float32\"), Y: T.Buffer((" + n(channels) +
                     ", " + n(extent) + ", " + n(extent) + "), \"float32\")):\n";
  if (border)
    text += "    P = T.alloc_buffer((" + n(channels) + ", " + n(padded) + ", " + n(padded) +
            "), \"float32\")\n    for c, h, w in T.grid(" + n(channels) + ", " + n(padded) + ", " +
            n(padded) + R"():
        with T.block("P"):
            vc, vh, vw = T.axis.remap("SSS", [c, h, w])
            P[vc, vh, vw] = T.if_then_else(1 <= vh and vh < )" +
            n(inside + 1) + " and 1 <= vw and vw < " + n(inside + 1) +
            ", X[vc, vh - 1, vw - 1], T.float32(0))\n";
  return ir::parse(text + "    for c, p, q, r, s in T.grid(" + n(channels) + ", " + n(extent) +
                   ", " + n(extent) + ", " + n(size) + ", " + n(size) + R"():
        with T.block("Y"):
            vc, vp, vq, vr, vs = T.axis.remap("SSSRR", [c, p, q, r, s])
            with T.init():
                Y[vc, vp, vq] = T.float32(0)
            Y[vc, vp, vq] = Y[vc, vp, vq] + )" +
                   read + "[vc, vp * " + n(stride) + " + vr, vq * " + n(stride) +
                   " + vs] * F[vc, vr, vs]\n");
}

std::vector<std::size_t> axes_of(const ir::function& f) {
  return space::column_axes(schedule(f), "Y", draws::haswell());
}

std::string text_of(const std::vector<schedule>& sketches) {
  std::string out;
  for (const schedule& s : sketches) out += s.trace().print();
  return out;
}

}  // namespace

TEST_CASE("an operand that moves in steps is stored by phases") {
  for (const int extent : {8, 9})
    for (const int stride : {2, 3, 5}) {
      const ir::function f = depthwise(3, extent, stride);
      schedule s(f);
      REQUIRE_FALSE(space::profile(s, "Y")->loads_vectors(2));
      space::chooser first;
      space::arranged_operands(s, "Y", 2, first);
      CHECK(space::profile(s, "Y")->loads_vectors(2));
      CHECK(space::profile(s, "P")->contiguous());  // its loops follow
      CHECK(draws::close(draws::run(s.function()), draws::run(f)));
    }
}

TEST_CASE("an operand is laid out along channels that become the columns") {
  const ir::function f = depthwise(20, 5, 1);
  schedule s(f);
  CHECK(axes_of(f) == std::vector<std::size_t>{2, 0});
  space::transposed_output(s, "Y", 0);
  CHECK_FALSE(space::needs_register_tiling(s, "Y"));
  space::chooser first;
  space::arranged_operands(s, "Y", 0, first);
  CHECK(space::needs_register_tiling(s, "Y"));
  CHECK(draws::close(draws::run(s.function()), draws::run(f)));
}

TEST_CASE("windows that serve one result each keep their columns unless these are few lanes") {
  CHECK(axes_of(depthwise(16, 5, 2)) == std::vector<std::size_t>{2, 0});
  CHECK(axes_of(depthwise(16, 8, 1)) == std::vector<std::size_t>{2, 0});
  CHECK(axes_of(depthwise(16, 2, 1)) == std::vector<std::size_t>{0, 2});
  CHECK(axes_of(depthwise(2, 2, 1)) == std::vector<std::size_t>{2, 0});  // so are the channels
}

TEST_CASE("the first sketch decides borders where a copy would take as long as the windows") {
  const auto decides = [](const ir::function& f) {
    const schedule first = space::default_cpu().sketches(f, draws::haswell(), 1).front();
    CHECK(draws::close(draws::run(first.function()), draws::run(f)));
    return traces::mentions(first, "compute_inline");
  };
  CHECK(decides(depthwise(6, 9, 1)));
  CHECK(decides(depthwise(6, 9, 2)));
  CHECK_FALSE(decides(depthwise(6, 9, 1, 0)));
  CHECK_FALSE(decides(depthwise(6, 9, 1, 1, 5)));
}

TEST_CASE("bytes are stored by phases, but not transposed") {
  std::string text = ir::print(depthwise(20, 9, 2));
  for (std::size_t at; (at = text.find("float32")) != std::string::npos;)
    text.replace(at, 7, "int8");
  const ir::function f = ir::parse(text);
  CHECK(axes_of(f) == std::vector<std::size_t>{2});
  schedule s(f);
  space::chooser first;
  space::arranged_operands(s, "Y", 2, first);
  CHECK(space::profile(s, "Y")->loads_vectors(2));
}

TEST_CASE("nothing is arranged that lies side by side, or that others compute or read") {
  for (const ir::function& f : {depthwise(3, 8, 1), depthwise(3, 8, 1, 0), depthwise(3, 8, 2, 0),
                                programs::matmul(16, 16, 16)}) {
    schedule s(f);
    space::chooser first;
    const std::string block =
        ir::root_block(f)->alloc_buffers.empty() && f.params.back().buffer->name == "C" ? "C" : "Y";
    const std::size_t columns = *space::profile(s, block)->contiguous();
    space::arranged_operands(s, block, columns, first);
    CHECK(s.function().body.get() == f.body.get());
  }
}

TEST_CASE("an argument that moves in steps is copied by phases in some sketches only") {
  const ir::function f = depthwise(4, 9, 2, 0);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  bool copied = false, direct = false;
  for (const schedule& s : sketches) {
    const bool here = traces::mentions(s, "transform_layout");
    copied = copied || here;
    direct = direct || !here;
  }
  CHECK(copied);
  CHECK(direct);
  CHECK(draws::check(f, sketches) > 10);
}

TEST_CASE("members of all families of strided depthwise convolutions compute it") {
  for (const int threads : {1, 4})
    for (const int stride : {1, 2, 3}) {
      const ir::function f = depthwise(18, 7, stride);
      const std::vector<schedule> sketches =
          space::default_cpu().sketches(f, draws::haswell(threads), 1);
      CHECK(text_of(sketches).find("transform_layout") != std::string::npos);
      CHECK(draws::check(f, sketches) > 10);
    }
}
