// Results that the device's copy engine stores: what of it may not be left out, and what is refused.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "../bench/mutants.hpp"
#include "../cases.hpp"
#include "../hopper.hpp"
#include "gpu/cases/group_products.hpp"

using namespace tilewright;
using cases::hopper;

namespace {

/// B = A + A on tiles of 16 x 32, whose results lie in shared memory before they leave; `reads`: and are read again.
schedule through_tiles(bool reads) {
  const std::string again = R"(
    for i, j in T.grid(64, 64):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj]
)";
  schedule s(ir::parse(std::string(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), D: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj]
)") + (reads ? again : R"(
    for i, j in T.grid(64, 64):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj]
)")));
  const auto tiled = [&](const char* name) {
    const block_rv b = s.get_block(name);
    const auto loops = s.get_loops(b);
    const auto [i0, i1] = s.split(loops[0], {infer, 16});
    const auto [j0, j1] = s.split(loops[1], {infer, 32});
    s.reorder(i0, j0, i1, j1);
    s.bind(s.fuse(i0, j0), "blockIdx.x");
    return std::pair(i1, j1);
  };
  const auto [row, column] = tiled("B");
  const block_rv b = s.get_block("B");
  const loop_rv blocks = s.get_loops(b)[0];
  s.bind(row, "threadIdx.y");
  s.bind(column, "threadIdx.x");
  const block_rv out = s.write_at(blocks, b, 0, "shared");
  s.annotate(out, ir::tensor_copy_note, 1);
  const auto [other_row, other_column] = tiled("D");
  s.bind(other_row, "threadIdx.y");
  s.bind(other_column, "threadIdx.x");
  return s;
}

}  // namespace

TEST_CASE("tensor stores: tiles of results leave shared memory as they were computed") {
  const schedule s = through_tiles(false);
  const cases::cu::program p = cases::on_hopper(s.function());
  INFO(p.text);
  CHECK(p.text.find("tw_store_tensor(") != p.text.npos);
  if (!cases::have_emulator()) return;
  const ir::function f = s.function();
  const std::vector<harness::argument> expected = cases::interpreted(f);
  const cases::cu::emulator kernels(p);
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    cases::check_equal(cases::emulated(kernels, f, seed), expected, 0);
}

TEST_CASE("tensor stores: another kernel may read what was stored") {
  const std::string text = cases::on_hopper(through_tiles(true).function()).text;
  CHECK(text.find("tw_store_tensor(") != text.npos);
}

TEST_CASE("tensor stores: each fence, barrier, store and wait is missed when it is left out") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e =
      gpu_groups::product({.name = "stores", .k = 64, .boxes = true, .stores = true});
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program whole = cases::on_hopper(e.scheduled);
  INFO(whole.text);
  const std::size_t stores = whole.text.find("tw_store_tensor("),
                    fence = whole.text.rfind("tw_fence_async();", stores);
  REQUIRE(stores != std::string::npos);
  int all = 0;
  for (const std::string word : {"tw_fence_async();", "tw_barrier();", "tw_store_tensor(",
                                 "tw_commit_stores();", "tw_wait_stores<0>();"})
    for (std::size_t at = whole.text.find(word, fence); at != std::string::npos;
         at = whole.text.find(word, at + 1), ++all) {
      mutants::mutant m{word, whole};
      m.p.text.replace(at, whole.text.find(';', at) + 1 - at, ";");
      CHECK_MESSAGE(!mutants::caught(m, e, expected).empty(), word);
    }
  MESSAGE("mutants: " << all);
  CHECK(all >= 8);
}

TEST_CASE("tensor stores: those who multiply meet before one of them has results stored") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e = gpu_groups::product({.name = "rounds",
                                                   .m = 256,
                                                   .k = 320,
                                                   .boxes = true,
                                                   .producer = true,
                                                   .stores = true,
                                                   .rounds = 2});
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  mutants::mutant m{"tw_barrier_of", cases::on_hopper(e.scheduled)};
  INFO(m.p.text);
  const std::string word = "tw_barrier_of<1, 256>();";
  const std::size_t first = m.p.text.find(word);
  REQUIRE(first != std::string::npos);
  CHECK(m.p.text.find(word, first + 1) != std::string::npos);  // at the end of a round
  m.p.text.replace(first, word.size(), "");
  const std::string said = mutants::caught(m, e, expected);
  CHECK_MESSAGE(said.find("stores a box from C_shared_dyn") != std::string::npos, said);
}
