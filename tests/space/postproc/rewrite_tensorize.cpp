#include <tilewright/space/postproc/rewrite_tensorize.hpp>

#include <doctest/doctest.h>

#include "../draws.hpp"
#include "../programs.hpp"
#include "../trace_text.hpp"

using namespace tilewright;
using space::rewrite_tensorize;

namespace {

constexpr const char* key = "meta_schedule.auto_tensorize";

/// Register tiles of 6 x 16 in a drawn order of loops, for the library's outer product.
void outer_products(schedule& s) {
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [i0, i1] = s.split(i, {infer, 6});
  const auto [j0, j1] = s.split(j, {infer, 16});
  const auto [k0, k1] = s.split(k, {infer, s.sample_categorical({1, 2, 4, 8}, {1, 1, 1, 1})});
  const auto [i2, i3] = s.split(i0, {infer, s.sample_categorical({1, 2, 4}, {1, 1, 1})});
  s.reorder(i2, j0, k0, i3, k1, i1, j1);
  s.decompose_reduction(c, k0);
  s.annotate(s.blockize(i1), key, "outer_product_6x16_f32");
}

}  // namespace

TEST_CASE("an annotated block becomes its intrinsic, whatever tiles were drawn around it") {
  const ir::function f = programs::matmul(24, 32, 8);
  CHECK(draws::check(f, space::design_space(outer_products).with({rewrite_tensorize{}})) > 8);
  schedule s(f);
  outer_products(s);
  rewrite_tensorize{}(s, draws::haswell());
  CHECK(traces::mentions(s, "sch.tensorize("));
}

TEST_CASE("a block that does not match rejects the candidate") {
  schedule s(programs::matmul(16, 16, 16));
  const block_rv outer = s.blockize(s.loops<3>(s.get_block("C"))[1]);
  s.annotate(outer, key, "no such intrinsic");
  CHECK_THROWS_AS(rewrite_tensorize{}(s, draws::haswell()), schedule_error);
}

TEST_CASE("an empty name asks for vectors") {
  schedule s(programs::matmul(16, 16, 16));
  const block_rv init = s.decompose_reduction(s.get_block("C"), s.loops<3>(s.get_block("C"))[0]);
  s.annotate(init, key, "");
  schedule plain = s;
  rewrite_tensorize{}(plain, draws::haswell());
  CHECK(plain.get(plain.get_loops(init).back()).loop == ir::loop_kind::serial);
  rewrite_tensorize{true}(s, draws::haswell());
  CHECK(s.get(s.get_loops(init).back()).loop == ir::loop_kind::vectorized);
  CHECK(s.get(init).block->annotations.empty());
}
