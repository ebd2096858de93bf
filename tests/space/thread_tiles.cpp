#include <tilewright/impl/space/tiles/thread_tiles.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/root_blocks.hpp>

using namespace tilewright;

namespace {

using space::detail::thread_tiles;

constexpr std::int64_t shared_bytes = 75 << 10;

/// Tiles of the block "C" of a program on a device of 132 multiprocessors.
thread_tiles tiles_of(const std::string& parameters, const std::string& extents,
                      const std::string& kinds, const std::string& value) {
  const std::string text = "@T.prim_func\ndef main(" + parameters +
                           "):\n    for i, j, p, q, k in " + "T.grid(" + extents +
                           "):\n        with T.block(\"C\"):\n" +
                           "            vi, vj, vp, vq, vk = T.axis.remap(\"" + kinds +
                           "\", [i, j, p, q, k])\n            with T.init():\n" +
                           "                C[vi, vj] = T.float32(0)\n" +
                           "            C[vi, vj] = C[vi, vj] + " + value + "\n";
  const schedule s(ir::parse(text));
  space::detail::tile_limits limits;
  limits.multiprocessors = 132;
  limits.staged_bytes = shared_bytes;
  return space::detail::tile_estimate(*space::named_block(s, "C").block, limits).best();
}

thread_tiles product(int m, int n, int k) {
  const auto buffer = [](const char* name, int rows, int columns) {
    return std::string(name) + ": T.Buffer((" + std::to_string(rows) + ", " +
           std::to_string(columns) + "), \"float32\")";
  };
  return tiles_of(buffer("A", m, k) + ", " + buffer("B", k, n) + ", " + buffer("C", m, n),
                  std::to_string(m) + ", " + std::to_string(n) + ", 1, 1, " + std::to_string(k),
                  "SSRRR", "A[vi, vk] * B[vk, vj]");
}

std::int64_t threads(const thread_tiles& t) { return t.spatial[0].threads * t.spatial[1].threads; }

}  // namespace

TEST_CASE(
    "thread_tiles: a large product has 8 x 8 results a thread, vectors of four side by side") {
  const thread_tiles t = product(4096, 4096, 4096);
  CHECK(t.spatial[0].results == 8);
  CHECK(t.spatial[0].vthreads == 1);
  CHECK(t.spatial[1].results == 4);
  CHECK(t.spatial[1].vthreads == 2);
  CHECK(threads(t) == 256);
  CHECK(t.steps[4] == 32);
}

TEST_CASE("thread_tiles: smaller products occupy the device") {
  for (const int n : {1024, 512, 128}) {
    CAPTURE(n);
    const thread_tiles t = product(n, n, n);
    const std::int64_t blocks = (n / t.spatial[0].all()) * (n / t.spatial[1].all());
    CHECK(blocks >= 64);
    CHECK(threads(t) >= 32);
    CHECK(n % t.spatial[0].all() == 0);
    CHECK(n % t.spatial[1].all() == 0);
  }
}

TEST_CASE("thread_tiles: rows of what all rows of a block read are as long as a warp's reads") {
  const thread_tiles t = product(1024, 1024, 1024);
  CHECK(t.spatial[1].all() == 128);
  CHECK(t.spatial[0].all() == 32);
  CHECK(threads(t) == 128);
}

TEST_CASE("thread_tiles: a warp is not alone on its multiprocessor where others have results") {
  const thread_tiles t = product(128, 128, 128);
  CHECK(threads(t) == 64);
}

TEST_CASE("thread_tiles: what fits of a reduction is staged at once") {
  // a short one whole; of a long one 32 steps, or 64 where tiles are small
  CHECK(product(128, 128, 64).steps[4] == 64);
  CHECK(product(1024, 1024, 2048).steps[4] == 32);
  CHECK(product(128, 128, 2048).steps[4] == 64);
  // windows: all of the last axes, and no more than fits
  const thread_tiles window = tiles_of(
      "A: T.Buffer((230, 32, 64), \"float32\"), B: T.Buffer((7, 32, 64, 64), \"float32\"), "
      "C: T.Buffer((224, 64), \"float32\")",
      "224, 64, 7, 32, 64", "SSRRR", "A[vi + vp, vq, vk] * B[vp, vq, vk, vj]");
  CHECK(window.steps[4] == 16);
  CHECK(window.steps[3] > 1);
  CHECK(window.steps[2] < 7);
}

TEST_CASE("thread_tiles: remainders of a stride stay with one thread") {
  const thread_tiles t = tiles_of(
      "A: T.Buffer((40, 512), \"float32\"), B: T.Buffer((4, 512, 64), \"float32\"), "
      "C: T.Buffer((64, 64), \"float32\")",
      "64, 64, 4, 1, 512", "SSRRR",
      "T.if_then_else((vi + vp) % 2 == 0, A[(vi + vp) // 2, vk], T.float32(0)) * B[vp, vk, vj]");
  CHECK(t.spatial[0].results % 2 == 0);
  CHECK(t.steps[2] == 4);
}

TEST_CASE("thread_tiles: prime extents have a thread for each, or one result") {
  const thread_tiles t = product(109, 64, 32);
  CHECK(109 % t.spatial[0].all() == 0);
  CHECK(threads(t) >= 32);
  CHECK(threads(t) <= 256);
}
