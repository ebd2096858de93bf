#include <tilewright/space/steps.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

namespace {

constexpr variable<"dense"> dense;
constexpr variable<"rows"> rows;
constexpr variable<"columns"> columns;
constexpr variable<"tiles"> tiles;
constexpr variable<"where"> where;
constexpr variable<"copy"> copy;

/// The only sketch that the space makes of a product of matrices.
schedule sketch_of(const design_space& s) {
  static const target::cpu cpu = target::named("haswell");
  std::vector<schedule> all = s.sketches(programs::matmul(48, 64, 32), {&cpu, 1}, 7);
  REQUIRE(all.size() == 1);
  ir::verify(all[0].function());
  return all[0];
}

/// The expression does what the function does: their traces are the same but for what was drawn, since
/// an expression has a stream of its own.
void check_same(const design_space& expression, const std::function<void(schedule&)>& function) {
  const trace a = sketch_of(expression).trace().without_decisions(),
              b = sketch_of(function).trace().without_decisions();
  CHECK(a == b);
  CHECK(a.print() == b.print());
}

}  // namespace

TEST_CASE("steps: every primitive has one, called after it") {
  std::vector<std::string_view> names;
#define NAME_OF(NAME, ...) names.push_back(space::NAME<>.primitive);
  TILEWRIGHT_INSTRUCTIONS(NAME_OF)
#undef NAME_OF
  REQUIRE(names.size() == instruction_kinds().size());
  for (std::size_t n = 0; n < names.size(); ++n) CHECK(names[n] == instruction_kinds()[n].name);
}

TEST_CASE("steps: names stand for what steps make") {
  check_same(steps(let<dense> = get_block<"C">, let<"a", "b", "c"> = get_loops<dense>,
                   let<tiles> = sample_perfect_tile<variable<"a">{}, 2>,
                   let<rows> = split<variable<"a">{}, tiles>, unroll<rows[1]>,
                   let<where> = sample_compute_location<dense>),
             [](schedule& s) {
               const block_rv c = s.get_block("C");
               const std::vector<loop_rv> l = s.get_loops(c);
               const auto t = s.sample_perfect_tile(l[0], 2);
               s.unroll(s.split(l[0], t)[1]);
               s.sample_compute_location(c);
             });
}

TEST_CASE("steps: loops of axes, the block at hand, numbers, texts and defaults") {
  check_same(on<"C">(steps(split<i, infer, 8>, reorder<i[0], k, i[1]>, parallel<i[0]>,
                           let<copy> = cache_write<here, 0, "local">,
                           reverse_compute_at<copy, i[0]>, annotate<here, "note", 4>,
                           annotate<i[0], "text", "value">, bind<j, "threadIdx.x">)),
             [](schedule& s) {
               const std::vector<loop_rv> l = s.get_loops(s.get_block("C"));
               const auto [i0, i1] = s.split(l[0], {infer, 8});
               const std::vector<loop_rv> n = s.get_loops(s.get_block("C"));
               s.reorder({i0, n[3], i1});
               s.parallel(i0);
               const block_rv c = s.get_block("C");
               s.reverse_compute_at(s.cache_write(c, 0, "local"), i0);
               s.annotate(c, "note", 4);
               s.annotate(i0, "text", "value");
               s.bind(s.get_loops(s.get_block("C"))[2], "threadIdx.x");
             });
}

TEST_CASE("steps: arithmetic on random variables, weights, index maps and buffers") {
  const auto expression =
      steps(let<dense> = get_block<"C">, let<"l"> = get_loops<dense>,
            let<tiles> = sample_categorical<2, 4>({0.75, 0.25}), assert_<>(tiles * 4 <= 16),
            split<variable<"l">{}[0]>(infer, tiles * 4), annotate<dense, "twice">(tiles * 2),
            let<copy> = reindex<dense>(read_buffer(0)),
            transform_layout<dense, "A_reindex">("lambda i, j: (i // tiles, j, i % tiles)"));
  check_same(expression, [](schedule& s) {
    const block_rv c = s.get_block("C");
    const std::vector<loop_rv> l = s.get_loops(c);
    const expr_rv t = s.sample_categorical({2, 4}, {0.75, 0.25});
    s.require(le(t * 4, 16));
    s.split(l[0], {infer, t * 4});
    s.annotate(c, "twice", t * 2);
    s.reindex(c, read_buffer(0));
    s.transform_layout(c, "A_reindex", {"lambda i, j: (i // t, j, i % t)", {{"t", t}}});
  });
}

TEST_CASE("steps: variables go through choices, blocks and attempts") {
  const design_space two =
      (steps(let<tiles> = sample_categorical<2, 4>) | steps(let<tiles> = sample_categorical<8>)) >>
      on<"C">(steps(let<columns> = split<j>(infer, tiles))) >> vectorize<columns[1]>;
  static const target::cpu cpu = target::named("haswell");
  CHECK(two.sketches(programs::matmul(48, 64, 32), {&cpu, 1}, 7).size() == 2);
  const schedule s = sketch_of(let<tiles> = sample_categorical<4>);
  CHECK(s.trace().size() == 1);
  sketch_of(attempt(on<"C">(steps(let<rows> = fuse<i, k>, unroll<rows>))) >> skip);
}

TEST_CASE("steps: mistakes that only a run can see name the step") {
  const auto refusal = [](const design_space& s) {
    try {
      sketch_of(s);
    } catch (const schedule_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(
      refusal(on<"C">(vectorize<here>)) ==
      "space: step vectorize: argument \"loop\" needs one loop; here is a block. Block at hand is "
      "C; its loops are i, j, k (requirement 3)");
  CHECK(
      refusal(on<"C">(steps(let<tiles> = sample_perfect_tile<i, 2>, unroll<tiles>))) ==
      "space: step unroll: argument \"loop\" needs one loop; \"tiles\" is 2 numbers. Block at hand "
      "is C; its loops are i, j, k (requirement 3)");
  CHECK(
      refusal(on<"C">(bind<i>)) ==
      "space: step bind: argument \"thread_axis\" is missing. Block at hand is C; its loops are i, "
      "j, k (requirement 3)");
  CHECK(
      refusal(on<"C">(unroll<i, 4>)) ==
      "space: step unroll: it takes 1 arguments, and number 2 is one too many. Block at hand is C; "
      "its loops are i, j, k (requirement 3)");
  CHECK(refusal(on<"C">(steps(let<rows> = split<i, infer, 4>, unroll<rows[2]>))) ==
        "space: step unroll: variable \"rows\" has 2 values; number 2 does not exist. "
        "Block at hand is C; its loops are i_0, i_1, j, k (requirement 3)");
  CHECK(refusal(on<"C">(steps(let<"a", "b"> = split<i, infer, 2, 2>))) ==
        "space: step split: let gives 2 names, \"a\" the first, to 3 values (requirement 4)");
  CHECK(refusal(on<"C">(split<i, infer, 4>(with_decision(3)))) ==
        "space: step split: with_decision is for samplings, and this step draws nothing "
        "(requirement 5)");
  CHECK(refusal(on<"C">(sample_perfect_tile<i, 2>(with_decision(3)))) ==
        "space: step sample_perfect_tile: the decision has 1 factors; n is 2; block at hand C "
        "(requirement 5)");
  CHECK(refusal(get_block<"Z">).find("no block is called \"Z\"") != std::string::npos);
  CHECK(refusal(on<"Z">(unroll<here>)) ==
        "space: step unroll: argument \"loop\" needs one loop; here is a block. No block is called "
        "Z; there are C (requirement 3)");
  CHECK(refusal(on<"C">(unroll<axes::z>)) ==
        "space: block C has no loop of axis z; its loops are i, j, k (requirement 1)");
}

TEST_CASE("steps: what caches and rfactor make can be named by later steps") {
  check_same(on<"C">(steps(let<copy> = cache_read<here, 1, "local">, compute_at<copy, i>)),
             [](schedule& s) {
               const block_rv copied = s.cache_read(s.get_block("C"), 1, "local");
               s.compute_at(copied, s.get_loops(s.get_block("C"))[0]);
             });
  check_same(on<"C">(steps(let<tiles> = split<k, infer, 4>, let<"partial"> = rfactor<tiles[1], 0>,
                           let<rows> = get_loops<variable<"partial">{}>, vectorize<rows[1]>)),
             [](schedule& s) {
               const auto tiled = s.split(s.get_loops(s.get_block("C"))[2], {infer, 4});
               s.vectorize(s.get_loops(s.rfactor(tiled[1], 0))[1]);
             });
}

TEST_CASE("steps: a sampling may be given its decision, which a replay without decisions draws") {
  const design_space decided = on<"C">(steps(
      let<tiles> = sample_perfect_tile<i, 2>(with_decision(12, 4)), split<i, tiles>,
      sample_categorical<2, 4, 8>(with_decision(2)), sample_tile<j, 2, 4, 8>(with_decision(8, 8)),
      let<where> = sample_compute_location<here>(with_decision(-1))));
  const schedule s = sketch_of(decided);
  std::vector<decision> made;
  for (const trace::step& each : s.trace().steps())
    if (each.what->kind->choice != decision_shape::none) made.push_back(each.choice);
  CHECK(made == std::vector<decision>{{12, 4}, {2}, {8, 8}, {-1}});
  check_same(decided, [](schedule& f) {
    const std::vector<loop_rv> l = f.get_loops(f.get_block("C"));
    f.split(l[0], f.sample_perfect_tile(l[0], 2, 16, std::vector<std::int64_t>{12, 4}));
    f.sample_categorical({2, 4, 8}, {1, 1, 1}, 2);
    const std::vector<loop_rv> after = f.get_loops(f.get_block("C"));
    f.sample_tile(after[2], 2, {4, 8}, std::vector<std::int64_t>{8, 8});
    f.sample_compute_location(f.get_block("C"), -1);
  });
}
