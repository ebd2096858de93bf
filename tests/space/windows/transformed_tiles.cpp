#include <doctest/doctest.h>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/winograd.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/windows/transformed_tiles.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using ops::conv_options;

namespace {

/// The algorithms of a convolution other than the convolution itself: tiles of 2, 4 and 6.
template <conv_options O>
std::vector<ir::function> in_tiles(std::int64_t h, std::int64_t w, std::int64_t c, std::int64_t k,
                                   std::int64_t n = 1) {
  const std::int64_t p = h + 2 * O.padding[0] - 2, q = w + 2 * O.padding[1] - 2;
  const ir::function f = reify(
      ops::winograd(ops::conv2d_bias<float, float, O, ops::activation::relu>, 1),
      {{"N", n}, {"H", h}, {"W", w}, {"C", c}, {"R", 3}, {"S", 3}, {"K", k}, {"P", p}, {"Q", q}});
  std::vector<ir::function> out = ir::alternatives(f);
  out.erase(out.begin());
  return out;
}

template <conv_options O>
void check_sketches(std::int64_t h, std::int64_t w, std::int64_t c, std::int64_t k,
                    std::int64_t n = 1, int threads = 1) {
  for (const ir::function& f : in_tiles<O>(h, w, c, k, n)) {
    INFO(f.name);
    const space::context& where = draws::haswell(threads);
    const std::vector<schedule> sketches = space::default_cpu().sketches(f, where, 1);
    draws::check(f, sketches, 12);
  }
}

constexpr conv_options padded{.padding = 1}, bare{},
    first{.padding = 1, .order = ops::layout::channels_first};

}  // namespace

TEST_CASE("transformed_tiles: sketches compute the convolution, whatever divides") {
  check_sketches<padded>(13, 9, 8, 16);
  check_sketches<bare>(10, 10, 5, 11);
  check_sketches<first>(7, 13, 9, 10);
  check_sketches<padded>(6, 7, 8, 8, 2);
  check_sketches<padded>(13, 9, 8, 16, 2, 4);
}

TEST_CASE("transformed_tiles: everything is computed for a part of the rows at a time") {
  const ir::function f = in_tiles<padded>(28, 28, 16, 32).at(1);
  const schedule s = space::default_cpu().sketches(f, draws::haswell(), 1).at(0);
  const std::vector<ir::stmt> nests = [&] {
    const ir::seq_node* seq = ir::as_seq(ir::root_block(s.function())->body);
    return seq ? seq->stmts : std::vector<ir::stmt>{ir::root_block(s.function())->body};
  }();
  CHECK(nests.size() == 2);  // one of the filter, one of all the rest
}

TEST_CASE("transformed_tiles: the first tile leaves LLVM registers for its sums") {
  target::cpu wide = target::named("znver4");
  wide.vector_bits = 512;
  // tiles of four: 14 across
  const ir::function f = in_tiles<padded>(56, 56, 64, 64).at(1);
  const schedule s = space::default_cpu().sketches(f, space::context{&wide, 1}, 1).at(0);
  const auto extents = [&](ir::loop_kind kind, std::int64_t extent) {
    bool found = false;
    ir::for_each_stmt(s.function().body, [&](const ir::stmt& at) {
      const ir::loop_node* l = ir::as_loop(at);
      found = found || (l && l->loop == kind && ir::is_int(l->extent, extent));
    });
    return found;
  };
  CHECK(extents(ir::loop_kind::unrolled, 7));
  CHECK(extents(ir::loop_kind::vectorized, 32));
}

TEST_CASE("transformed_tiles: not around other products") {
  schedule s(programs::matmul(8, 8, 8));
  CHECK_FALSE(space::transformed_products(s));
  space::chooser none;
  try {
    space::transformed_tiles(s, "C", draws::haswell(), none);
    FAIL("not refused");
  } catch (const schedule_error& e) {
    CHECK(e.requirement() == 1);
  }
}
