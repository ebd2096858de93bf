// Products of warp groups: emulated against the interpreter, through the compile gate, and with each fence, wait and
// barrier left out once.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

#include "../cases.hpp"
#include "../hopper.hpp"
#include "gpu/cases/group_products.hpp"
#include "gpu/conformance.hpp"
#include "gpu/tensor_workloads.hpp"
#include "gpu/written.hpp"
#include "mutants.hpp"

using namespace tilewright;
using cases::hopper;

TEST_CASE("warp groups: products compute what the interpreter computes, operands lying every way") {
  if (!cases::have_emulator()) return;
  for (const gpu_corpus::entry& e : gpu_groups::small()) {
    CAPTURE(e.name);
    const cases::cu::program p = cases::on_hopper(e.scheduled);
    INFO(p.text);
    CHECK(p.text.find("tw_multiply_group<") != p.text.npos);
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    const cases::cu::emulator kernels(p);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      cases::check_equal(cases::emulated(kernels, e.written, seed), expected, e.tolerance);
  }
}

TEST_CASE("warp groups: products compile for sm_90a without spills or advisories") {
  if (!cases::have_nvrtc()) return;
  for (const auto& entries : {gpu_groups::small(), gpu_groups::large()})
    for (const gpu_corpus::entry& e : entries) {
      CAPTURE(e.name);
      const cases::cu::program p = cases::on_hopper(e.scheduled);
      INFO(p.text);
      const cases::cu::compiled c = cases::cu::compile(p, hopper());
      INFO(c.log);
      CHECK(c.log.find("C75") == c.log.npos);
      for (const backend::launch& l : c.artifact.launches) {
        CHECK(cases::cu::why_rejected(l, c.report, hopper(), {0, 0, false}) == "");
        CHECK(l.registers <= e.registers);
        MESSAGE(e.name << ": " << l.registers << " registers, " << l.shared_bytes
                       << " bytes of shared memory");
      }
    }
}

TEST_CASE(
    "warp groups: every fence, batch, wait, barrier and swizzle is missed when it is left out") {
  if (!cases::have_emulator()) return;
  // five steps, so that memory of each version is used again
  for (const bool b_rows : {true, false}) {
    const gpu_corpus::entry e =
        gpu_groups::product({.name = "group_matmul", .k = 320, .b_rows = b_rows});
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    const std::vector<mutants::mutant> all = mutants::all(cases::on_hopper(e.scheduled));
    int found = 0;
    for (const mutants::mutant& m : all) {
      const std::string why = m.redundant ? "guards registers" : mutants::caught(m, e, expected);
      found += why.empty() ? 0 : 1;
      CHECK_MESSAGE(!why.empty(), "the same without " << m.what << "\n" << m.p.text);
    }
    MESSAGE("mutants: " << found << " of " << all.size() << " caught");
    for (const char* name : {"tw_fence_async();", "tw_fence_products();", "tw_commit_products();",
                             "tw_wait_products<0>();", "tw_wait_products<1>();"})
      CHECK(cases::on_hopper(e.scheduled).text.find(name) != std::string::npos);
  }
}

TEST_CASE("warp groups: the emulator says what is missing") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e = gpu_groups::product({.name = "group_matmul", .k = 320});
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program whole = cases::on_hopper(e.scheduled);
  const auto said = [&](const std::string& word, const std::string& instead) {
    mutants::mutant m{word, whole};
    const std::size_t at = m.p.text.find(word);
    REQUIRE(at != std::string::npos);
    m.p.text.replace(at, word.size(), instead);
    return mutants::caught(m, e, expected);
  };
  const auto has = [](const std::string& text, const char* part) {
    CHECK_MESSAGE(text.find(part) != text.npos, text);
  };
  has(said("tw_fence_async();", ""), "writes without a fence for tensor cores behind it");
  has(said("tw_fence_products();", ""), "sums that were stored to since the last fence");
  has(said("tw_wait_products<1>();", ""), "which a product reads that nobody has waited for");
  has(said("tw_wait_products<0>();", ""), "which a product is adding to");
  has(said("tw_commit_products();", ""), "which a product is adding to");
  has(said("ty * 4096 + ", "ty * 4096 + 64 + "), "at no multiple of eight rows of 128 bytes");
  has(said("k_0 % 4 * 8192 + ty * 4096", "k_0 % 4 * 8192 + tx / 64 * 4096"),
      "threads of a warp group multiply different tiles");
}

TEST_CASE(
    "warp groups: boxes of the copy engine are waited for, and not overwritten while they are "
    "multiplied") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e =
      gpu_groups::product({.name = "group_matmul_boxes", .k = 384, .boxes = true});
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program whole = cases::on_hopper(e.scheduled);
  for (const std::string word :
       {"tw_wait_phase(", "tw_wait_products<1>();", "tw_wait_products<0>();",
        "tw_commit_products();", "tw_expect_bytes(", "tw_barrier();"}) {
    std::size_t found = 0, missed = 0;
    for (std::size_t at = whole.text.find(word); at != std::string::npos;
         at = whole.text.find(word, at + 1), ++found) {
      mutants::mutant m{word, whole};
      const std::size_t end = whole.text.find(';', at) + 1;
      m.p.text.replace(at, end - at, ";");
      missed += mutants::caught(m, e, expected).empty() ? 1 : 0;
    }
    CAPTURE(word);
    MESSAGE(word << ": " << found - missed << " of " << found << " caught");
    CHECK(found > 0);
    CHECK(missed == 0);
  }
  // the counters alone are stored to by threads
  const std::size_t fence = whole.text.find("tw_fence_async();");
  CHECK(whole.text.find("tw_fence_async();", fence + 1) == std::string::npos);
}

TEST_CASE("warp groups: schedules that stage hopper times compile, and multiply in groups") {
  if (!cases::have_nvrtc()) return;
  int all = 0;
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    for (const gpu_written::entry& e : gpu_written::all()) {
      if (!e.in_groups || e.workload != w.what.name) continue;
      CAPTURE(gpu_written::code_name(e));
      const schedule s = e.make(w.what.function, {&hopper(), 1});
      const cases::cu::program p = cases::cu::print(pass::lower(s.function(), hopper()), hopper());
      CHECK(p.text.find("tw_multiply_group<") != p.text.npos);
      const auto does = [&](const char* word, const char* call) {
        const bool asked = gpu_written::code_name(e).find(word) != std::string::npos;
        CHECK((p.text.find(call) != p.text.npos) == asked);
      };
      does("boxes", "tw_copy_tensor(");
      does("roles", "tw_more_registers<");
      does("stores", "tw_store_tensor(");
      CHECK(p.kernels.size() == 1);
      ++all;
      if (e.workload != "F16_4096") continue;
      const cases::cu::compiled c = cases::cu::compile(p, hopper());
      CHECK(c.log.find("C75") == c.log.npos);
      CHECK(cases::cu::why_rejected(c.artifact.launches[0], c.report, hopper(), {0, 0, false}) ==
            "");
    }
  CHECK(all == 44);
}

TEST_CASE("warp groups: the host's models multiply as arithmetic says, and compile") {
  std::vector<gpu_conformance::entry> all = gpu_conformance::of_groups();
  CHECK(all.size() == 12);
  if (cases::have_nvrtc()) {
    cases::cu::program together;
    for (const gpu_conformance::entry& e : all) {
      together.text += e.program.text;
      for (const cases::cu::kernel& k : e.program.kernels) together.kernels.push_back(k);
    }
    const cases::cu::compiled c = cases::cu::compile(together, hopper());
    CHECK(c.report.kernels.size() == together.kernels.size());
    CHECK(c.log.find("C75") == c.log.npos);
  }
  if (!cases::have_emulator()) return;
  for (const gpu_conformance::entry& e : all) {
    CAPTURE(e.name);
    CHECK(gpu_conformance::on_host(e).size() == e.output_bytes);
  }
}

TEST_CASE("warp groups: other devices refuse them, and say what to choose") {
  const gpu_corpus::entry e = gpu_groups::product({.name = "group_matmul"});
  for (const char* name : {"sm_80", "sm_90"}) {
    std::string said;
    try {
      pass::lower(e.scheduled, target::named_gpu(name));
    } catch (const build_error& refusal) {
      said = refusal.what();
    }
    CHECK(said.find("choose wmma instead of wgmma") != said.npos);
  }
}

TEST_CASE("warp groups: a step more is counted in shared memory than is copied ahead") {
  for (const int ahead : {1, 2}) {
    const gpu_corpus::entry e =
        gpu_groups::product({.name = "f", .k = 640, .columns = 128, .ahead = ahead});
    const std::vector<space::kernel_usage> usage = space::gpu_usage(e.scheduled);
    REQUIRE(usage.size() == 1);
    CHECK(usage[0].shared_bytes == (ahead + 2) * 32768);
    CHECK(cases::on_hopper(e.scheduled).kernels[0].start.shared_bytes == usage[0].shared_bytes);
  }
}

TEST_CASE("warp groups: the default space of sm_90a draws them behind what runs unmeasured") {
  if (!cases::have_emulator()) return;
  const ir::function f = gpu_groups::product({.name = "f", .m = 256, .n = 128, .k = 128}).written;
  const auto in_groups = [](const schedule& s) {
    return ir::warps_of_thread(*ir::root_block(s.function())) == ir::warps_of_group;
  };
  const target::gpu other = target::named_gpu("sm_80");
  const space::design_space list = space::default_gpu();
  for (const schedule& s : list.sketches(f, {&other, 1}, 1)) CHECK(!in_groups(s));
  const std::vector<schedule> sketches = list.sketches(f, {&hopper(), 1}, 1);
  CHECK(!in_groups(search::default_schedule(f, list, {&hopper(), 1}, 1)));
  const std::vector<harness::argument> expected = cases::interpreted(f);
  int drawn = 0;
  for (const schedule& sketch : sketches) {
    if (!in_groups(sketch)) continue;
    const trace family = sketch.trace().without_decisions();
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const auto c = search::replay(family, f, seed, nullptr, [&](schedule& s) {
        list.finish(s, {&hopper(), 1});
      });
      if (!c) continue;
      INFO(c->scheduled.trace().print());
      const cases::cu::program p =
          cases::cu::print(pass::lower(c->scheduled.function(), hopper()), hopper());
      INFO(p.text);
      CHECK(p.text.find("tw_multiply_group<") != p.text.npos);
      cases::check_equal(cases::emulated(cases::cu::emulator(p), f, seed), expected, 1e-5);
      ++drawn;
    }
  }
  CHECK(drawn >= 3);
}
