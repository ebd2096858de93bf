// Epilogues below tiles that are split further, where a split does not divide: the guard of the
// producer says what the moved block may read.
#include <tilewright/schedule/primitive/movement/compute_at.hpp>

#include <string>

#include <tilewright/ir/text/parse.hpp>

#include "loop_extents.hpp"
#include "script_schedule.hpp"
#include "stages.hpp"

using namespace tilewright;
using nests::extents;
using nests::sizes;
using stages::indices;
using stages::program;

namespace {

/// A product of `rows` x 3 and 3 x `columns`, and what is done to each result.
ir::function product_relu(int rows, int columns) {
  program p;
  const ir::buffer a = p.input("A", {rows, 3}), b = p.input("B", {3, columns}),
                   c = p.temp("C", {rows, columns}), d = p.output("D", {rows, columns});
  p.sum(c, {{"i", rows}, {"j", columns}, {"k", 3}}, 1, [&](const indices& v) {
    return ir::load(a, {v[0], v[2]}) * ir::load(b, {v[2], v[1]});
  });
  p.map(d, {{"i", rows}, {"j", columns}},
        [&](const indices& v) { return ir::max(ir::load(c, v), stages::f32(0)); });
  return p.finish();
}

/// An epilogue below tiles of `tile` x 16 that are split further.
void check_epilogue(const ir::function& f, std::int64_t tile, std::int64_t outer,
                    std::int64_t middle) {
  CAPTURE(tile);
  CAPTURE(outer);
  CAPTURE(middle);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [i_tiles, i_tile] = s.split(i, {infer, tile});
  const auto [i0, i1, i2] = s.split(i_tiles, {outer, middle, infer});
  const auto [j_tiles, j_tile] = s.split(j, {infer, 16});
  const auto [j0, j1, j2] = s.split(j_tiles, {infer, middle, 2});
  s.reorder(i0, j0, i1, j1, j2, i2, k, i_tile, j_tile);
  const block_rv d = s.block("D");
  s.reverse_compute_at(d, i2, true);
  sizes inner = extents(s, d);
  inner.erase(inner.begin(), inner.begin() + 6);
  CHECK(inner == sizes{tile, 16});
  check_meaning(s, f);
}

}  // namespace

TEST_CASE("epilogue tiles: below tiles that are split further, where neither split divides") {
  const ir::function f = product_relu(53, 70);
  for (const std::int64_t tile : {4, 6, 7})
    for (const std::int64_t outer : {1, 2, 3, 4})
      for (const std::int64_t middle : {1, 2, 4}) check_epilogue(f, tile, outer, middle);
}

TEST_CASE("epilogue tiles: below tiles that divide, of which the outer factors do not") {
  const ir::function f = product_relu(56, 64);
  for (const std::int64_t tile : {4, 7, 8})
    for (const std::int64_t outer : {1, 2, 3, 4, 5})
      for (const std::int64_t middle : {1, 2, 3}) check_epilogue(f, tile, outer, middle);
}

TEST_CASE("epilogue tiles: tiles that divide, and outer loops run at once") {
  const ir::function f = product_relu(56, 64);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [i_tiles, i_tile] = s.split(i, {infer, 7});
  const auto [i0, i1] = s.split(i_tiles, {3, infer});
  const auto [j_tiles, j_tile] = s.split(j, {infer, 16});
  const auto [j0, j1] = s.split(j_tiles, {3, infer});
  s.reorder(i0, j0, i1, j1, k, i_tile, j_tile);
  const loop_rv both = s.fuse(i0, j0);
  s.parallel(both);
  const block_rv d = s.block("D");
  s.reverse_compute_at(d, j1, true);
  CHECK(extents(s, d) == sizes{9, 3, 2, 7, 16});
  check_meaning(s, f);
}

TEST_CASE("epilogue tiles: what a guard of tiles leaves out is not there to read") {
  const auto with = [](const char* read) {
    return ir::parse(std::string(R"(
@T.prim_func
def main(A: T.Buffer((56,), "float32"), C: T.Buffer((56,), "float32")):
    B = T.alloc_buffer((56,))
    for i0, i1, i2 in T.grid(4, 3, 6):
        with T.block("B"):
            v = T.axis.spatial(56, i0 * 18 + i1 * 6 + i2)
            T.where(i0 * 18 + i1 * 6 + i2 < 56 and i0 * 3 + i1 < 9)
            B[v] = A[v]
    for i in range(56):
        with T.block("C"):
            v = T.axis.spatial(56, i)
            T.where(i < )") +
                     read + R"()
            C[v] = B[v]
)");
  };
  schedule more(with("55"));
  const block_rv c = more.block("C");
  const std::vector<loop_rv> loops = more.get_loops(more.block("B"));
  check_refusal(more, "reverse_compute_at", 7, [&] { more.reverse_compute_at(c, loops[1], true); });

  const ir::function f = with("54");
  schedule s(f);
  s.reverse_compute_at(s.block("C"), s.get_loops(s.block("B"))[1], true);
  check_meaning(s, f);
}
