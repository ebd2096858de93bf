#include <tilewright/impl/space/tiles/tile_promise.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../draws.hpp"
#include "../programs.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// A core with 512 bits, 48 KB and 1 MB.
target::cpu wide() {
  target::cpu out = target::named("znver4");
  out.vector_bits = 512;
  out.l1_bytes = 48 << 10;
  out.l2_bytes = 1 << 20;
  return out;
}

schedule first_sketch(const ir::function& f, const target::cpu& cpu, int threads = 1) {
  return space::default_cpu().sketches(f, space::context{&cpu, threads}, 1).at(0);
}

bool decides(const schedule& s, const std::string& what) { return traces::mentions(s, what); }

std::string number(std::int64_t n) { return std::to_string(n); }

/// Y[p, q, k] of p by q pixels: a product of each pixel's channels with weights.
ir::function pixels(std::int64_t p, std::int64_t q, std::int64_t channels, std::int64_t outputs) {
  const std::string image = number(p) + ", " + number(q) + ", ";
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + image + number(channels) +
                   "), \"float32\"), F: T.Buffer((" + number(channels) + ", " + number(outputs) +
                   "), \"float32\"), Y: T.Buffer((" + image + number(outputs) +
                   "), \"float32\")):\n    for p, q, k, c in T.grid(" + image + number(outputs) +
                   ", " + number(channels) + R"():
        with T.block("Y"):
            vp, vq, vk, vc = T.axis.remap("SSSR", [p, q, k, c])
            with T.init():
                Y[vp, vq, vk] = T.float32(0)
            Y[vp, vq, vk] = Y[vp, vq, vk] + X[vp, vq, vc] * F[vc, vk]
)");
}

/// Three taps of 1024 channels of each of 64 pixels, by filters whose channels lie side by side.
ir::function filters() {
  return ir::parse(R"(@T.prim_func
def main(X: T.Buffer((66, 1024), "float32"), F: T.Buffer((128, 3, 1024), "float32"), Y: T.Buffer((64, 128), "float32")):
    for q, k, s, c in T.grid(64, 128, 3, 1024):
        with T.block("Y"):
            vq, vk, vs, vc = T.axis.remap("SSRR", [q, k, s, c])
            with T.init():
                Y[vq, vk] = T.float32(0)
            Y[vq, vk] = Y[vq, vk] + X[vq + vs, vc] * F[vk, vs, vc]
)");
}

/// Windows of `taps` by `taps` of each of 32 channels, which lie side by side.
ir::function windows(std::int64_t steps, std::int64_t taps) {
  const std::string n = number(steps), x = number(steps + taps - 1), t = number(taps);
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + x + ", " + x +
                   ", 32), \"float32\"), F: T.Buffer((" + t + ", " + t +
                   ", 32), \"float32\"), Y: T.Buffer((" + n + ", " + n +
                   ", 32), \"float32\")):\n    for p, q, c, r, s in T.grid(" + n + ", " + n +
                   ", 32, " + t + ", " + t + R"():
        with T.block("Y"):
            vp, vq, vc, vr, vs = T.axis.remap("SSSRR", [p, q, c, r, s])
            with T.init():
                Y[vp, vq, vc] = T.float32(0)
            Y[vp, vq, vc] = Y[vp, vq, vc] + X[vp + vr, vq + vs, vc] * F[vr, vs, vc]
)");
}

/// Windows of 9 rows of a matrix of `columns` columns.
ir::function blur(std::int64_t columns) {
  const std::string n = number(columns);
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((40, " + n +
                   "), \"float32\"), W: T.Buffer((9,), \"float32\"), Y: T.Buffer((32, " + n +
                   "), \"float32\")):\n    for i, j, k in T.grid(32, " + n + R"(, 9):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + W[vk] * X[vi + vk, vj]
)");
}

/// The extents of a loop that is written out right around vectors, and of these.
std::pair<std::int64_t, std::int64_t> tile_of(const schedule& s) {
  std::pair<std::int64_t, std::int64_t> out;
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& at) {
    const ir::loop_node* l = ir::as_loop(at);
    if (l && l->loop == ir::loop_kind::unrolled && l->body && ir::as_loop(l->body) &&
        ir::as_loop(l->body)->loop == ir::loop_kind::vectorized)
      out = std::max(out, {ir::as_int(l->extent), ir::as_int(ir::as_loop(l->body)->extent)});
  });
  return out;
}
std::int64_t rows_of_tile(const schedule& s) { return tile_of(s).first; }
std::int64_t columns_of_tile(const schedule& s) { return tile_of(s).second; }

}  // namespace

TEST_CASE("rows that later tiles read again come in parts that stay in the second-level cache") {
  const target::cpu cpu = wide();
  // 1024 rows of 4 KB share so few sets that 256 stay; tiles have no more than 8 of the 16 rows of results
  CHECK(decides(first_sketch(programs::matmul(16, 1024, 1024), cpu), "decision=[4, 256]"));
  target::cpu small = cpu;
  small.l2_bytes = 512 << 10;
  CHECK(decides(first_sketch(programs::matmul(16, 1024, 1024), small), "decision=[8, 128]"));
  // rows of 4000 bytes spread over all sets
  CHECK_FALSE(decides(first_sketch(programs::matmul(16, 1000, 1024), cpu), "sample_tile"));
  // one tile has all rows of results
  CHECK_FALSE(decides(first_sketch(programs::matmul(4, 1024, 1024), cpu), "sample_tile"));
}

TEST_CASE(
    "all rows of an image use a panel of weights before the next one, where that moves less") {
  const target::cpu cpu = wide();
  CHECK(decides(first_sketch(pixels(14, 14, 256, 1024), cpu), "decision=[1, 14]"));
  CHECK(decides(first_sketch(pixels(14, 14, 256, 1024), cpu, 2), "decision=[1, 14]"));
  // 8 panels would read 800 KB of pixels each, where 56 rows read 64 KB of weights
  CHECK(decides(first_sketch(pixels(56, 56, 64, 256), cpu), "decision=[56, 1]"));
  // 512 rows of 4 KB do not stay there, whatever part of each
  CHECK(decides(first_sketch(pixels(14, 14, 512, 1024), cpu), "decision=[14, 1]"));
  // a panel of 1024 channels is larger than the first-level cache
  CHECK(decides(first_sketch(pixels(14, 14, 1024, 256), cpu), "decision=[14, 1]"));
  // panels would read the pixels more often than rows of the image read weights
  CHECK(decides(first_sketch(pixels(4, 100, 256, 1056), cpu), "decision=[4, 1]"));
  // two panels are not enough for several threads
  CHECK(decides(first_sketch(pixels(14, 14, 256, 64), cpu, 4), "decision=[14, 1]"));
}

TEST_CASE("a panel whose rows do not stay where they are is copied for all rows of an image") {
  const auto has_panel = [](const schedule& s) { return decides(s, "cache_read"); };
  const target::cpu narrow = target::named("haswell");
  // 256 rows of 4 KB share so few sets of 256 KB that 64 stay
  for (const int threads : {1, 2}) {
    const schedule first = first_sketch(pixels(14, 14, 256, 1024), narrow, threads);
    CHECK(decides(first, "decision=[1, 14]"));
    CHECK(has_panel(first));
    CHECK_FALSE(decides(first, "sample_tile"));  // all terms at once
  }
  // the same of rows of 2 KB in 32 KB
  target::cpu small = narrow;
  small.l1_bytes = 4 << 10;
  small.l2_bytes = 32 << 10;
  const ir::function f = pixels(8, 8, 32, 512);
  CHECK(decides(first_sketch(f, small), "decision=[1, 8]"));
  CHECK(has_panel(first_sketch(f, small)));
  CHECK(draws::check(f, space::default_cpu().sketches(f, space::context{&small, 1}, 1), 2) == 2);
  CHECK_FALSE(has_panel(first_sketch(pixels(14, 14, 256, 1024), wide())));
  // 8 rows of 4 pixels are too few for what a copy costs
  const schedule few = first_sketch(pixels(8, 4, 256, 1024), narrow);
  CHECK(decides(few, "decision=[4, 1]"));
  CHECK_FALSE(has_panel(few));
}

TEST_CASE("taps find what they read again in the first-level cache") {
  target::cpu cpu = wide();
  CHECK(decides(first_sketch(filters(), cpu), "decision=[16, 64]"));
  cpu.l1_bytes = 128 << 10;
  CHECK(decides(first_sketch(filters(), cpu), "decision=[6, 192]"));
}

TEST_CASE("tiles of windows leave registers for what their rows have in common") {
  const target::cpu cpu = wide();
  CHECK(rows_of_tile(first_sketch(windows(112, 3), cpu)) == 4);  // 7 x 32 need 34 of 32 registers
  CHECK(rows_of_tile(first_sketch(windows(112, 5), cpu)) == 4);
  // of 16 registers 2 x 32 need 20, and 3 x 16 need all
  const target::cpu narrow = target::named("haswell");
  REQUIRE(narrow.vector_registers == 16);
  const schedule few = first_sketch(windows(112, 3), narrow);
  CHECK(rows_of_tile(few) == 3);
  CHECK(columns_of_tile(few) == 16);
}

TEST_CASE("rows of windows that leave the first-level cache are used again at once") {
  const target::cpu cpu = wide();
  const schedule far = first_sketch(blur(2048), cpu), near = first_sketch(blur(256), cpu);
  CHECK(decides(far, "candidates=[1, 2, 4, 8, 16], probs=[2.0, 2.0, 6.0, 1.0, 1.0], decision=2"));
  CHECK(decides(near, "candidates=[1, 2, 4, 8, 16], probs=[6.0, 2.0, 1.0, 1.0, 1.0], decision=0"));
}

TEST_CASE("tiles chosen by caches compute what the program does") {
  const target::cpu cpu = wide();
  // a core whose caches are so small that these rules hold for what the interpreter can run
  target::cpu tiny = cpu;
  tiny.l1_bytes = 2 << 10;
  tiny.l2_bytes = 16 << 10;
  for (const int threads : {1, 2}) {
    const space::context where{&tiny, threads};
    for (const ir::function& f :
         {programs::matmul(17, 64, 160), pixels(5, 6, 9, 80), windows(9, 3), pixels(4, 3, 8, 130)})
      CHECK(draws::check(f, space::default_cpu().sketches(f, where, 1), 12) > 3);
  }
}
