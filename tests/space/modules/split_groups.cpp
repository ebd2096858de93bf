#include <tilewright/space/modules/split_groups.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/root_blocks.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;

namespace {

/// 24 filters in three groups over the 12 channels of an image; `divisor` makes the groups.
ir::function grouped(const std::string& divisor) {
  return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((12, 7, 16), "float32"), F: T.Buffer((24, 4, 3), "float32"), Y: T.Buffer((24, 7, 14), "float32")):
    for k, p, q, c, s in T.grid(24, 7, 14, 4, 3):
        with T.block("Y"):
            vk, vp, vq, vc, vs = T.axis.remap("SSSRR", [k, p, q, c, s])
            with T.init():
                Y[vk, vp, vq] = T.float32(0)
            Y[vk, vp, vq] = Y[vk, vp, vq] + X[vk // )" +
                   divisor + R"( * 4 + vc, vp, vq + vs] * F[vk, vc, vs]
)");
}

}  // namespace

TEST_CASE("the group becomes a variable of its own, and every access a sum of variables") {
  const ir::function f = grouped("8");
  schedule s(f);
  space::split_groups(s, "Y");
  const auto p = space::profile(s, "Y");
  REQUIRE(p);
  CHECK(p->extent == std::vector<std::int64_t>{3, 8, 7, 14, 4, 3});
  for (const space::access_profile& read : p->reads)
    for (const std::int64_t step : read.stride) CHECK(step < 4096);
  CHECK(draws::close(draws::run(s.function()), draws::run(f)));
}

TEST_CASE("a divisor that does not divide, or reaches the extent, splits nothing") {
  for (const char* divisor : {"10", "24", "64"}) {
    const ir::function f = grouped(divisor);
    schedule s(f);
    space::split_groups(s, "Y");
    CHECK(s.function().body.get() == f.body.get());
  }
}

TEST_CASE("a quotient that is always zero is no obstacle to a profile") {
  const auto p = space::profile(schedule(grouped("64")), "Y");
  REQUIRE(p);
  CHECK(p->reads[0].stride[0] == 0);
}

TEST_CASE("members of a grouped convolution's space compute it") {
  const ir::function f = grouped("8");
  CHECK(draws::check(f, space::default_cpu().sketches(f, draws::haswell(), 1)) > 10);
}
