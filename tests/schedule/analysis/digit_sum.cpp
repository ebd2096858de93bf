// Sums of digits, found without the analyzer, are those that it finds (impl/dependence/binding/digit_sum.hpp).
#include <tilewright/impl/dependence/binding/digit_sum.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/arith/interval.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/random.hpp>

using namespace tilewright;
namespace d = tilewright::dependence;

namespace {

/// A block without variables below loops from 0 on, of 1 to 24 iterations.
struct nest {
  std::vector<ir::stmt> loops;
  ir::stmt realize;
  d::child_block child;

  nest(support::random& draw, std::size_t depth) {
    ir::block_node block;
    block.name = "B";
    block.body = ir::make_evaluate(ir::integer(dtype::i32, 0));
    realize = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(block)));
    for (std::size_t l = 0; l < depth; ++l)
      loops.push_back(ir::make_loop(
          ir::make_var("l" + std::to_string(l), dtype::i32),
          ir::integer(dtype::i32, draw.below(8) == 0 ? 2 : 0),
          ir::integer(dtype::i32, 1 + static_cast<std::int64_t>(draw.below(24))), realize));
    child.realize = ir::as_realize(realize);
    for (const ir::stmt& l : loops) child.loops.push_back(ir::as_loop(l));
  }
};

ir::expr number(std::uint64_t n) { return ir::integer(dtype::i32, static_cast<std::int64_t>(n)); }

/// A loop, a variable of a block around, or quotients and remainders of one of them.
ir::expr draw_term(const nest& n, const ir::var& outside, support::random& draw) {
  const std::size_t at = draw.below(n.loops.size() + 1);
  ir::expr out = at < n.loops.size() ? n.child.loops[at]->var : outside;
  for (std::size_t i = draw.below(4); i > 0; --i) {
    const ir::expr by = number(1 + draw.below(9));
    out = draw.below(2) == 0 ? ir::floordiv(out, by) : ir::floormod(out, by);
  }
  return out;
}

/// Of terms with factors from -3 to 5, none of them 0.
arith::linear draw_sum(const nest& n, const ir::var& outside, support::random& draw) {
  arith::linear out = d::footprints::constant(static_cast<std::int64_t>(draw.below(5)), dtype::i32);
  for (std::size_t i = 1 + draw.below(4); i > 0; --i) {
    const auto factor = static_cast<std::int64_t>(draw.below(8)) - 3;
    d::accumulate(out, arith::to_linear(draw_term(n, outside, draw)),
                  factor < 0 ? factor : factor + 1);
  }
  return out;
}

void check_same(const arith::linear& a, const arith::linear& b) {
  CHECK(a.constant == b.constant);
  CHECK(a.type == b.type);
  REQUIRE(a.terms.size() == b.terms.size());
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    CHECK(arith::same_value(a.terms[i].first, b.terms[i].first));
    CHECK(a.terms[i].second == b.terms[i].second);
  }
}

}  // namespace

TEST_CASE("digit sums: bounds, what the analyzer writes, and what is left while loops run") {
  support::random draw(7);
  int sums_of_digits = 0;
  for (int round = 0; round < 4000; ++round) {
    const nest n(draw, 1 + draw.below(5));
    const ir::var outside = ir::make_var("v", dtype::i32);
    const arith::linear sum = draw_sum(n, outside, draw);
    const std::string written = ir::print(arith::from_linear(sum));
    CAPTURE(round);
    CAPTURE(written);
    const d::loop_nest& loops = n.child.loops;
    const arith::analyzer known = d::knowing(loops);
    for (const auto& [term, factor] : sum.terms)
      CHECK(d::footprints::term_ranges(loops).of(term) == known.const_bounds(term));
    const arith::linear simple = d::footprints::simplified(sum, loops);
    INFO("as the analyzer writes it");
    check_same(simple, arith::to_linear(known.simplify(arith::from_linear(sum))));
    if (!d::footprints::digit_terms(simple, loops)) continue;
    ++sums_of_digits;
    // plain loops are eliminated by themselves, so that the rest is what needs the analyzer
    arith::linear rest = d::footprints::constant(simple.constant, simple.type);
    for (const auto& [term, factor] : simple.terms)
      if (!ir::is_var(term)) rest.terms.emplace_back(term, factor);
    INFO("while loops run");
    const d::standing_loops standing{draw.below(loops.size() + 1), {}};
    const d::linear_range found = d::relax(rest, n.child, standing);
    const arith::interval wanted =
        arith::bound_over(arith::from_linear(rest), d::domains(loops, standing.fixed), known);
    REQUIRE((found.lo && found.hi && wanted.lo && wanted.hi));
    check_same(*found.lo, arith::to_linear(wanted.lo));
    check_same(*found.hi, arith::to_linear(wanted.hi));
  }
  CHECK(sums_of_digits > 500);
}
