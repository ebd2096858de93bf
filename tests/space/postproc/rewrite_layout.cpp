#include <tilewright/space/postproc/rewrite_layout.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::rewrite_layout;

namespace {

/// A product whose second operand is bound.
ir::function bound_product(int m, int n, int k) {
  ir::function f = programs::matmul(m, n, k);
  f.attrs[ir::bound_attribute] = ir::attr::list{1};
  return f;
}

void tiles(schedule& s) {
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  const auto [j0, j1] = s.split(j, {infer, s.sample_categorical({2, 4, 8}, {1, 1, 1})});
  const auto [k0, k1] = s.split(k, {infer, s.sample_categorical({1, 2, 4}, {1, 1, 1})});
  s.reorder(i, j0, k0, k1, j1);
}

}  // namespace

TEST_CASE("a bound weight is copied into the order of the loops that walk it") {
  schedule s(bound_product(4, 32, 8));
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  const auto [j0, j1] = s.split(j, {infer, 16});
  s.reorder(i, j0, k, j1);
  rewrite_layout{}(s, draws::haswell());
  const ir::block_node& copy = *s.get(s.get_block("B_global")).block;
  const ir::buffer packed = copy.writes[0].buffer;
  REQUIRE(packed->shape.size() == 3);
  CHECK(ir::is_int(packed->shape[0], 2));
  CHECK(ir::is_int(packed->shape[1], 8));
  CHECK(ir::is_int(packed->shape[2], 16));
  CHECK(copy.annotations.count("meta_schedule.layout_rewrite_preproc") == 1);
  CHECK(draws::close(draws::run(s.function()), draws::run(bound_product(4, 32, 8))));
  // lowering makes the copy once
  CHECK(pass::lower_prepared(s.function(), target::named("haswell")).packed.size() == 1);
}

TEST_CASE("drawn tiles compute the same with packed weights") {
  const ir::function f = bound_product(5, 16, 8);
  const space::design_space whole =
      space::design_space(tiles).with({rewrite_layout{}, space::rewrite_reduction_block{}});
  CHECK(draws::check(f, whole) > 5);
}

TEST_CASE("an order that is the weight's own needs no copy") {
  schedule s(bound_product(4, 32, 8));
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  s.reorder(i, k, j);
  const std::size_t before = s.trace().size();
  rewrite_layout{}(s, draws::haswell());
  CHECK(s.trace().size() == before);
}

TEST_CASE("operands that come with the call, and tiles that do not divide, stay") {
  schedule free(programs::matmul(4, 32, 8));
  tiles(free);
  const std::size_t steps = free.trace().size();
  rewrite_layout{}(free, draws::haswell());
  CHECK(free.trace().size() == steps);

  schedule ragged(bound_product(4, 30, 8));
  const auto [i, j, k] = ragged.loops<3>(ragged.get_block("C"));
  ragged.reorder(i, ragged.split(j, {infer, 16})[0], k);
  const std::size_t before = ragged.trace().size();
  rewrite_layout{}(ragged, draws::haswell());
  CHECK(ragged.trace().size() == before);
}
