#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::rewrite_parallel_vectorize_unroll;

namespace {

struct asked {
  int parallel = 0, vectorize = 0, unroll = 0;
};

schedule rewritten(const ir::function& f, asked a) {
  schedule s(f);
  const block_rv root = s.get_block("root");
  if (a.parallel) s.annotate(root, "meta_schedule.parallel", a.parallel);
  if (a.vectorize) s.annotate(root, "meta_schedule.vectorize", a.vectorize);
  if (a.unroll) s.annotate(root, "meta_schedule.unroll_explicit", a.unroll);
  rewrite_parallel_vectorize_unroll{}(s, draws::haswell());
  CHECK(s.get(root).block->annotations.empty());
  return s;
}

/// "p512 v64" for the loops around the block: kinds by letter, extents.
std::string loops_of(schedule s, const char* block) {
  std::string out;
  for (const loop_rv rv : s.get_loops(s.get_block(block))) {
    const ir::loop_node& l = s.get(rv);
    out += (out.empty() ? "" : " ") + std::string(1, "spvut"[static_cast<int>(l.loop)]) +
           std::to_string(l.extent->integer);
  }
  return out;
}

ir::function add_one(const char* index, int m = 512, int n = 64) {
  const std::string text =
      "@T.prim_func\ndef main(A: T.Buffer((M, N), \"float32\"), "
      "B: T.Buffer((M, N), \"float32\")):\n"
      "    for i, j in T.grid(M, N):\n"
      "        with T.block(\"B\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            B[vi, vj] = A[INDEX] + T.float32(1)\n";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 5, "INDEX") == 0) {
      out += index;
      i += 4;
    } else if (text[i] == 'M' && text[i + 1] != '_') {
      out += std::to_string(m);
    } else if (text[i] == 'N') {
      out += std::to_string(n);
    } else {
      out += text[i];
    }
  }
  return ir::parse(out);
}

}  // namespace

TEST_CASE("outer loops become parallel, as many as pass the number") {
  CHECK(loops_of(rewritten(add_one("vi, vj"), {.parallel = 100}), "B") == "p512 s64");
  CHECK(loops_of(rewritten(add_one("vi, vj"), {.parallel = 600}), "B") == "p32768");
}

TEST_CASE("inner loops that walk memory as one become vectors") {
  CHECK(loops_of(rewritten(add_one("vi, vj"), {.vectorize = 64}), "B") == "s512 v64");
  CHECK(loops_of(rewritten(add_one("vi, vj", 4, 8), {.vectorize = 64}), "B") == "v32");
  // a transposed operand: the innermost loop may have any step, the next one does not follow on
  CHECK(loops_of(rewritten(add_one("vj, vi", 8, 8), {.vectorize = 64}), "B") == "s8 v8");
}

TEST_CASE("both: the whole nest is fused and split") {
  CHECK(loops_of(rewritten(add_one("vi, vj"), {.parallel = 16, .vectorize = 32}), "B") ==
        "p1024 v32");
  CHECK(loops_of(rewritten(add_one("vj, vi", 64, 64), {.parallel = 16, .vectorize = 64}), "B") ==
        "p64 v64");
}

TEST_CASE("reductions are asked to be unrolled, spatial blocks are not") {
  schedule s = rewritten(programs::matmul_relu(8, 8, 8), {.unroll = 16});
  const auto note = [&](const char* block) {
    return s.get(s.get_loops(s.get_block(block))[0])
        .annotations.count("pragma_auto_unroll_max_step");
  };
  CHECK(note("P") == 1);
  CHECK(note("C") == 0);
}

TEST_CASE("reduction loops are neither parallel nor vectorized") {
  schedule s = rewritten(programs::matmul(8, 16, 4), {.parallel = 1000, .vectorize = 64});
  CHECK(loops_of(s, "C") == "p128 s4");
}

TEST_CASE("what nothing is asked of stays") {
  const ir::function f = programs::matmul(8, 16, 4);
  CHECK(rewritten(f, {}).trace().size() == 1);  // the block that the test asked for
}

TEST_CASE("drawn annotations compute the same") {
  const space::design_space drawn = [](schedule& s) {
    const block_rv root = s.get_block("root");
    s.annotate(root, "meta_schedule.parallel", s.sample_categorical({2, 16, 64}, {1, 1, 1}));
    s.annotate(root, "meta_schedule.vectorize", s.sample_categorical({4, 16, 64}, {1, 1, 1}));
    s.annotate(root, "meta_schedule.unroll_explicit",
               s.sample_categorical({0, 16, 64, 512}, {1, 1, 1, 1}));
  };
  const space::design_space whole =
      drawn.with({rewrite_parallel_vectorize_unroll{}, space::rewrite_reduction_block{}});
  CHECK(draws::check(programs::matmul_relu(6, 20, 5), whole) > 3);
  CHECK(draws::check(programs::row_normalization(6, 20), whole) > 3);
}
