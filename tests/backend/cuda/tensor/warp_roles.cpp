// Warps with roles, one group of which asks for the operands of the others: what of it may not be left out, what the emulator
// says of it, and what it needs of a device.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

#include "../bench/mutants.hpp"
#include "../cases.hpp"
#include "../hopper.hpp"
#include "gpu/cases/group_products.hpp"

using namespace tilewright;
using cases::hopper;

namespace {

/// Steps more than versions of shared memory, which are used again.
gpu_corpus::entry example() {
  return gpu_groups::product({.name = "roles", .k = 448, .boxes = true, .producer = true});
}

/// Each place where the text has the word, without the statement that begins there.
std::vector<mutants::mutant> without(const std::string& word, const cases::cu::program& whole) {
  std::vector<mutants::mutant> out;
  for (std::size_t at = whole.text.find(word); at != std::string::npos;
       at = whole.text.find(word, at + 1)) {
    mutants::mutant m{word, whole};
    m.p.text.replace(at, whole.text.find(';', at) + 1 - at, ";");
    out.push_back(std::move(m));
  }
  return out;
}

}  // namespace

TEST_CASE("warp roles: every wait, arrival, batch and request is missed when it is left out") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e = example();
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program whole = cases::on_hopper(e.scheduled);
  INFO(whole.text);
  int all = 0, caught = 0;
  for (const std::string word :
       {"tw_wait_phase(", "tw_arrive(", "tw_expect_bytes(", "tw_init_arrivals(",
        "tw_fence_arrivals(", "tw_wait_products<1>(", "tw_wait_products<0>(", "tw_commit_products(",
        "tw_fence_products(", "tw_fewer_registers<", "tw_barrier("}) {
    const std::vector<mutants::mutant> some = without(word, whole);
    CHECK_MESSAGE(!some.empty(), word);
    for (const mutants::mutant& m : some) {
      const bool found = !mutants::caught(m, e, expected).empty();
      CHECK_MESSAGE(found, word);
      caught += found ? 1 : 0;
      ++all;
    }
  }
  MESSAGE("mutants: " << caught << " of " << all << " caught");
}

TEST_CASE("warp roles: the emulator says what is wrong") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e = example();
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program whole = cases::on_hopper(e.scheduled);
  INFO(whole.text);
  using change = std::pair<std::string, std::string>;  // everywhere
  const auto says = [&](const std::string& part, const std::vector<change>& changes) {
    mutants::mutant m{part, whole};
    for (const auto& [word, instead] : changes) {
      std::size_t at = m.p.text.find(word);
      REQUIRE_MESSAGE(at != std::string::npos, word);
      for (; at != std::string::npos; at = m.p.text.find(word, at + instead.size()))
        m.p.text.replace(at, word.size(), instead);
    }
    const std::string said = mutants::caught(m, e, expected);
    CHECK_MESSAGE(said.find(part) != std::string::npos, changes[0].second << ": " << said);
  };
  says("copy", {{"tw_wait_phase(full", "if (false) tw_wait_phase(full"}});
  says("for a phase that does not end", {{"+ 1) % 2);", ") % 2);"}});
  // one lane of a group arrives, which knows of its own warp alone
  says("another thread reads without a barrier or an arrival",
       {{"tx % 32 == 0", "tx == 0"}, {", 8);", ", 2);"}});
  says("for a phase that does not end", {{", 8);", ", 9);"}});
  says("for a phase that does not end", {{", 8);", ", 2);"}});
  // the producer reaches no barrier of the block
  says("wait at a barrier", {{"tw_fence_products();", "tw_barrier(); tw_fence_products();"}});
  says("for registers that nobody gives", {{"tw_more_registers<232>", "tw_more_registers<240>"}});
}

TEST_CASE("warp roles: no step has a barrier, and the producer's loop is rolled") {
  const std::string text = cases::on_hopper((example()).scheduled).text;
  const auto count = [&](const std::string& word) {
    std::size_t out = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++out;
    return out;
  };
  INFO(text);
  CHECK(count("tw_barrier();") == 1);
  CHECK(count("tw_barrier_of<") == 0);
  CHECK(count("TW_KERNEL(384, 1)") == 1);
  CHECK(count("tw_wait_phase(") == 2);
  CHECK(count("#pragma unroll 1") >= 2);
}

TEST_CASE("warp roles: rounds of tiles go on with the phases of the round before") {
  for (const int k : {64, 192}) {  // one step, which has one version; three
    const gpu_corpus::entry e = gpu_groups::product({.name = "rounds",
                                                     .m = 256,
                                                     .n = 256,
                                                     .k = k,
                                                     .boxes = true,
                                                     .producer = true,
                                                     .rounds = 2});
    const cases::cu::program p = cases::on_hopper(e.scheduled);
    INFO(p.text);
    CHECK(p.kernels[0].start.grid[0] == 2);
    if (!cases::have_emulator()) continue;
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    const cases::cu::emulator kernels(p);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      cases::check_equal(cases::emulated(kernels, e.written, seed), expected, e.tolerance);
  }
}

TEST_CASE("warp roles: a group more is known before kernels are made") {
  const std::vector<space::kernel_usage> usage = space::gpu_usage(example().scheduled);
  REQUIRE(usage.size() == 1);
  CHECK(usage[0].has_producer);
  CHECK(cases::on_hopper((example()).scheduled).kernels[0].start.block[1] == 3);
}
