#include <tilewright/space_for.hpp>

#include <doctest/doctest.h>

#include <tilewright/expr/reify.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

}  // namespace

TEST_CASE("a checked space is the same space") {
  const auto steps = on<"C">(tile<i, 2> >> unroll<i[1]>) | on<"C_epilogue">(parallel<i[0]>);
  const design_space checked = space_for<product>(steps), plain = steps;
  const ir::function f = reify(product, {{"M", 24}, {"N", 16}, {"K", 8}});
  static const target::cpu cpu = target::named("haswell");
  const context where{&cpu, 1};
  const std::vector<schedule> a = checked.sketches(f, where, 3), b = plain.sketches(f, where, 3);
  REQUIRE(a.size() == 2);
  REQUIRE(b.size() == 2);
  for (std::size_t n = 0; n < 2; ++n) CHECK(a[n].trace().print() == b[n].trace().print());
}

TEST_CASE("blocks that appear later may be named; whether they exist shows when the step runs") {
  const ir::function f = reify(product, {{"M", 24}, {"N", 16}, {"K", 8}});
  static const target::cpu cpu = target::named("haswell");
  const context where{&cpu, 1};
  const auto cached = module([](schedule& s) { s.cache_write(s.get_block("C"), 0, "global"); });
  const auto use = on<"C_sum_global">(module([](schedule& s, block_rv b) { s.get_loops(b); }));
  CHECK_THROWS_AS(space_for<product>(use >> cached).sketches(f, where, 3), schedule_error);
  CHECK(space_for<product>(cached >> use).sketches(f, where, 3).size() == 1);
}
