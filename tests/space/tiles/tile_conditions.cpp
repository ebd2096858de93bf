#include <tilewright/impl/space/tiles/tile_conditions.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

/// Y[p, q, k] of 8 by 8 pixels adds up windows of 4 by 4 in steps of two backwards, as a transposed convolution
/// from 4 by 4 pixels does.
ir::function transposed(int channels, int filters) {
  const auto n = [](int v) { return std::to_string(v); };
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((7, 7, " + n(channels) +
                   "), \"float32\"), F: T.Buffer((4, 4, " + n(channels) + ", " + n(filters) +
                   "), \"float32\"), Y: T.Buffer((8, 8, " + n(filters) +
                   "), \"float32\")):\n    for p, q, k, r, s, c in T.grid(8, 8, " + n(filters) +
                   ", 4, 4, " + n(channels) + R"():
        with T.block("Y"):
            vp, vq, vk, vr, vs, vc = T.axis.remap("SSSRRR", [p, q, k, r, s, c])
            with T.init():
                Y[vp, vq, vk] = T.float32(0)
            Y[vp, vq, vk] = Y[vp, vq, vk] + T.Select((vp + 4 - vr) % 2 == 0 and (vq + 4 - vs) % 2 == 0, X[(vp + 4 - vr) // 2, (vq + 4 - vs) // 2, vc] * F[vr, vs, vc, vk], T.float32(0))
)");
}

/// Rows of the register tile that the first sketch has.
std::int64_t rows_of_tile(const ir::function& f) {
  static const target::cpu cpu = target::named("znver5");
  const schedule s = space::default_cpu(1).sketches(f, space::context{&cpu, 1}, 1).front();
  std::int64_t unrolled = 0;
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& at) {
    const ir::loop_node* l = ir::as_loop(at);
    if (l && l->loop == ir::loop_kind::unrolled && l->body && ir::as_loop(l->body) &&
        ir::as_loop(l->body)->loop == ir::loop_kind::vectorized)
      unrolled = std::max(unrolled, ir::as_int(l->extent));
  });
  return unrolled;
}

}  // namespace

TEST_CASE(
    "rows that take turns share less, and more of them are taken where weights are far away") {
  const space::register_tile few{4, 64, 1}, many{8, 48, 1};
  CHECK(space::detail::sharing_in_period(few, 1, 16) == 1);
  CHECK(space::detail::sharing_in_period(few, 2, 16) <
        space::detail::sharing_in_period(many, 2, 16));
  CHECK(rows_of_tile(transposed(512, 256)) == 8);  // 8 MB of weights
}

TEST_CASE("tiles that leave fewer registers than conditions need are crowded") {
  CHECK(space::detail::crowds_period({6, 64, 1}, 16, 32));
  CHECK_FALSE(space::detail::crowds_period({8, 48, 1}, 16, 32));
  CHECK_FALSE(space::detail::crowds_period({12, 32, 1}, 16, 32));
}
