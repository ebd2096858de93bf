#include <tilewright/search/report/schedule_family.hpp>

#include <tilewright/schedule/schedule.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/visit.hpp>

#include "../kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// The sum in a block of its own, and the maximum behind it.
ir::function product_and_relu(std::int64_t m, std::int64_t n, std::int64_t k) {
  return reify(kernels::matmul_relu, {{"M", m}, {"N", n}, {"K", k}});
}

/// The name of the block that sums.
std::string sum_of(const ir::function& f) {
  std::string out;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (r && r->block->init) out = r->block->name;
  });
  return out;
}

}  // namespace

TEST_CASE("a family names the register tile and what happened to blocks and buffers") {
  const ir::function f = product_and_relu(32, 64, 48);
  schedule s(f);
  CHECK(schedule_family(s.trace(), f) == "loops as they are written");
  const block_rv c = s.get_block(sum_of(f));
  const auto [i, j, k] = s.loops<3>(c);
  const auto [i0, i1] = s.split(i, {infer, 8});
  const auto [j0, j1] = s.split(j, {infer, 32});
  const auto [k0, k1] = s.split(k, {infer, 4});
  s.reorder(i0, j0, k0, k1, i1, j1);
  s.unroll(k1);  // no row of the tile
  s.unroll(i1);
  s.vectorize(j1);
  s.parallel(i0);
  const std::string tiles = sum_of(f) + " in register tiles of 8 x 32, parallel";
  CHECK(schedule_family(s.trace(), f) == tiles);
  s.cache_read(c, 1, "global");
  CHECK(schedule_family(s.trace(), f) == tiles + ", B staged");
}

TEST_CASE("schedules of one family differ in numbers alone") {
  const ir::function f = product_and_relu(32, 64, 48);
  const auto tiled = [&](int rows) {
    schedule s(f);
    const block_rv c = s.get_block(sum_of(f));
    const auto [i, j, k] = s.loops<3>(c);
    const auto [i0, i1] = s.split(i, {infer, rows});
    s.reorder(i0, j, k, i1);
    s.unroll(i1);
    s.rfactor(k, 0);
    return schedule_family(s.trace(), f);
  };
  CHECK(tiled(4).find(" holds partial results") != std::string::npos);
  CHECK(tiled(4).substr(tiled(4).find(',')) == tiled(8).substr(tiled(8).find(',')));
  CHECK(tiled(4) != tiled(8));
}

TEST_CASE("inlined blocks are named as they were") {
  const ir::function f = product_and_relu(8, 8, 8);
  schedule s(f);
  s.compute_inline(s.cache_read(s.get_block(sum_of(f)), 0, "global"));
  CHECK(schedule_family(s.trace(), f) == "A staged, A_global inlined");
}
