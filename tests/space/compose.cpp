#include <tilewright/space/compose.hpp>
#include <tilewright/space/steps.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include <tilewright/search/candidate.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/register_tiling.hpp>

#include "draws.hpp"
#include "programs.hpp"
#include "trace_text.hpp"

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;
using traces::mentions;

namespace {

std::vector<schedule> sketches_of(const ir::function& f, const design_space& s,
                                  std::uint64_t seed = 7) {
  return s.sketches(f, draws::haswell(), seed);
}

/// Marks the block.
void mark(schedule& s, block_rv b) { s.annotate(b, "seen", 1); }

/// Has a block write through a cache.
void add_stage(schedule& s, const std::string& block) {
  s.cache_write(s.get_block(block), 0, "global");
}

/// Tiles, inlines and vectorizes as a library of rules does.
design_space rules() {
  return post_order(module(auto_inline{})) >>
         post_order(when(needs_register_tiling, module(register_tiling))) >>
         post_order(module(vectorize_innermost)) >> module(parallelize_outermost);
}

/// Every block drawn one of three fates.
design_space drawn() {
  return post_order(sample(
      weighted(2, attempt(module(vectorize_innermost))) |
      attempt(module([](schedule& s, block_rv b) { s.unroll(s.get_loops(b).back()); })) | skip));
}

}  // namespace

TEST_CASE("blocks are visited consumers first, nested ones before the block around them") {
  schedule s(programs::row_normalization(8, 16));
  CHECK(blocks_in_post_order(s) == std::vector<std::string>{"Y", "S"});
  s.blockize(s.get_loops(s.get_block("Y"))[1]);
  CHECK(blocks_in_post_order(s) == std::vector<std::string>{"Y", "Y_o", "S"});
}

TEST_CASE("a rule meets every block, also those that an earlier rule made") {
  const ir::function f = programs::row_normalization(8, 16);
  const std::vector<schedule> once = sketches_of(f, post_order(module(mark)));
  REQUIRE(once.size() == 1);
  for (const char* name : {"S", "Y"}) {
    schedule s = once[0];
    CHECK(s.get(s.get_block(name)).block->annotations.count("seen") == 1);
  }
  const std::vector<schedule> staged =
      sketches_of(f, post_order(module(add_stage)) >> post_order(module(mark)));
  schedule s = staged.at(0);
  CHECK(s.get(s.get_block("Y_global")).block->annotations.count("seen") == 1);
  CHECK(s.get(s.get_block("S_global")).block->annotations.count("seen") == 1);
}

TEST_CASE("a rule that removes a block does not meet it later") {
  std::vector<std::string> met;
  const auto inline_all = module([&](schedule& s, const std::string& block) {
    met.push_back(block);
    if (block == "C") s.reverse_compute_inline(s.get_block("C"));
  });
  ir::function f = programs::matmul_relu(8, 8, 8);
  CHECK_NOTHROW(sketches_of(f, attempt(post_order(inline_all))));
  CHECK(met.front() == "C");
}

TEST_CASE("modules of the library compose by expression") {
  for (const ir::function& f : {programs::matmul(40, 48, 33), programs::matmul_relu(20, 24, 16)}) {
    const std::vector<schedule> sketches = sketches_of(f, rules());
    CHECK(sketches.size() == space::default_cpu().sketches(f, draws::haswell(), 7).size());
    CHECK(mentions(sketches[0], "sample_categorical"));
    CHECK(draws::check(f, sketches) > 10);
  }
  const ir::function rows = programs::row_normalization(12, 40);
  CHECK(draws::check(rows, sketches_of(rows, rules())) >= 1);
}

TEST_CASE("drawn structure is recorded, fixed, and different from sketch to sketch") {
  const ir::function f = programs::row_normalization(12, 40);
  const std::vector<schedule> sketches = sketches_of(f, drawn());
  CHECK(sketches.size() >= 5);
  std::set<std::string> families;
  for (const schedule& s : sketches) {
    const trace family = s.trace().without_decisions();
    families.insert(family.print());
    CHECK(mentions(s, "assert_(condition=v"));
    // the draws of every block count, whatever they were
    const double p = s.trace().log_probability(schedule(f));
    CHECK(p <= 3 * std::log(0.5) + 1e-9);
    CHECK(std::isfinite(p));
    // a replay keeps the structure
    schedule again(f, 99);
    CHECK_NOTHROW(family.apply_to(again));
    CHECK(again.trace().without_decisions() == family);
  }
  CHECK(families.size() == sketches.size());
  CHECK(draws::check(f, sketches) >= sketches.size() / 2);
}

TEST_CASE("equal seeds draw equal spaces") {
  const ir::function f = programs::row_normalization(12, 40);
  const auto texts = [&](std::uint64_t seed) {
    std::vector<std::string> out;
    for (const schedule& s : sketches_of(f, drawn(), seed)) out.push_back(s.trace().print());
    return out;
  };
  CHECK(texts(3) == texts(3));
  CHECK(texts(3).front() == texts(4).front());
}

TEST_CASE("mutation leaves drawn structure alone") {
  const ir::function f = programs::row_normalization(12, 40);
  support::random random(5);
  for (const schedule& s : sketches_of(f, drawn())) {
    for (int n = 0; n < 20; ++n) {
      const auto changed = search::mutate_by(search::mutators(), s.trace(), f, random);
      if (!changed) continue;
      CHECK(changed->without_decisions() == s.trace().without_decisions());
      CHECK(search::replay(*changed, f, 1));
    }
  }
}

TEST_CASE("sometimes is a draw of two") {
  const ir::function f = programs::matmul(8, 8, 8);
  const std::vector<schedule> both = sketches_of(f, sometimes(0.25, on<"C">(unroll<k[0]>)));
  REQUIRE(both.size() == 2);
  CHECK_FALSE(mentions(both[0], "unroll"));  // the likeliest first
  CHECK(mentions(both[1], "unroll"));
  CHECK(both[1].trace().log_probability(schedule(f)) == doctest::Approx(std::log(0.25)));
  CHECK(draws::check(f, both) == 2);
  CHECK_THROWS_AS(sometimes(1.5, skip), argument_error);
}

TEST_CASE("draws and enumerated choices go together") {
  const ir::function f = programs::matmul(8, 8, 8);
  const std::vector<schedule> sketches =
      sketches_of(f, sample(on<"C">(unroll<k[0]>) | skip) >>
                         (on<"C">(vectorize<j[0]>) | on<"C">(parallel<i[0]>)));
  CHECK(sketches.size() == 4);
  CHECK(draws::check(f, sketches) == 4);
}

TEST_CASE("an attempt that is refused leaves program and trace alone") {
  const ir::function f = programs::matmul(8, 8, 8);
  const std::vector<schedule> sketches =
      sketches_of(f, attempt(on<"C">(unroll<i[0]> >> parallel<k[0]>)) >> on<"C">(unroll<k[0]>));
  REQUIRE(sketches.size() == 1);
  CHECK_FALSE(mentions(sketches[0], "parallel"));
  CHECK(sketches[0].trace().size() == 3);
}

TEST_CASE("a step may be for some targets only") {
  const ir::function f = programs::matmul(8, 8, 8);
  const auto unrolls = [&](const char* target) {
    return mentions(sketches_of(f, for_target(target, on<"C">(unroll<k[0]>))).at(0), "unroll");
  };
  CHECK(unrolls("haswell"));
  CHECK(unrolls("avx2"));
  CHECK_FALSE(unrolls("avx512f"));
}

TEST_CASE("the union of two spaces has the sketches of both") {
  const ir::function f = programs::matmul(8, 8, 8);
  const design_space first = on<"C">(unroll<k[0]>);
  const design_space second = [](schedule& s) { s.parallel(s.get_loops(s.get_block("C"))[0]); };
  const std::vector<schedule> both = sketches_of(f, first | second);
  REQUIRE(both.size() == 2);
  CHECK(mentions(both[0], "unroll"));
  CHECK(mentions(both[1], "parallel"));
  CHECK(draws::check(f, both) == 2);
  // one that does not fit the program is left out; when none fits, the refusal is heard
  const design_space wrong = on<"Z">(unroll<k[0]>);
  CHECK(sketches_of(f, wrong | second).size() == 1);
  CHECK_THROWS_AS(sketches_of(f, wrong | wrong), schedule_error);
}
