// Candidates for GPUs, built as sessions build them.
#include <tilewright/search/measurement/builder.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/search/gate.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/error.hpp>

#include "cases.hpp"
#include "gpu/workloads.hpp"
#include "gpu_list.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

const target::gpu& hopper() {
  static const target::gpu out = target::named_gpu("sm_90a");
  return out;
}

gpu_workloads::workload product() {
  for (gpu_workloads::workload& w : gpu_workloads::small())
    if (w.name == "GMM") return w;
  throw internal_error("there is no GMM");
}

/// Both operands whole in the shared memory of a block: 128 KB.
ir::function too_much_shared_memory() {
  schedule s(gpu_workloads::full()[5].function);
  const block_rv c = s.get_block("C");
  const std::vector<loop_rv> loops = s.get_loops(c);
  s.bind(loops[0], "blockIdx.x");
  for (const int operand : {0, 1}) s.compute_at(s.cache_read(c, operand, "shared"), loops[0], true);
  return s.function();
}

/// A thread with 16 x 16 results: more than it has registers for.
ir::function too_many_registers() {
  schedule s(gpu_workloads::full()[5].function);
  const block_rv c = s.get_block("C");
  const std::vector<loop_rv> loops = s.get_loops(c);
  const auto [i0, i1] = s.split(loops[1], {infer, 16});
  const auto [j0, j1] = s.split(loops[2], {infer, 16});
  s.reorder(i0, j0, loops[3], i1, j1);
  s.bind(s.fuse(loops[0], i0), "blockIdx.x");
  s.bind(j0, "threadIdx.x");
  s.reverse_compute_at(s.cache_write(c, 0, "local"), j0, true);
  s.unroll(i1);
  s.unroll(j1);
  return s.function();
}

}  // namespace

TEST_CASE("build: a cubin with its launches for a GPU") {
  if (!cases::have_nvrtc()) return;
  const schedule s = default_schedule(product().function, space::default_gpu(), {&hopper(), 1}, 1);
  const built b = build(s.function(), hopper(), 60);
  REQUIRE_MESSAGE(b, b.error);
  CHECK_FALSE(b.code);
  CHECK(b.artifact.isa == target::machine(hopper()).isa_key());
  CHECK(b.artifact.launches.size() >= 1);
  CHECK(made_on(hopper()).llvm.find("NVRTC ") == 0);
}

TEST_CASE("build: what does not fit, spills, or takes too long is an error of its kind") {
  if (!cases::have_nvrtc()) return;
  const target::gpu small = target::named_gpu("sm_86");
  const built none = build(too_much_shared_memory(), small);
  CHECK_FALSE(none);
  CHECK_FALSE(none.error.empty());
  CHECK_FALSE(none.rejected);
  const built spilling = build(too_many_registers(), hopper());
  CHECK_FALSE(spilling);
  CHECK_MESSAGE(spilling.rejected, spilling.error);
  const schedule s = default_schedule(product().function, space::default_gpu(), {&hopper(), 1}, 1);
  const built late = build(s.function(), hopper(), 1e-3);
  CHECK_FALSE(late);
  CHECK_MESSAGE(late.late, late.error);
}

TEST_CASE("build: small kernels are compiled together, and are what they are alone") {
  if (!cases::have_nvrtc()) return;
  std::vector<gpu_workloads::workload> all = gpu_workloads::small();
  const auto chain =
      std::find_if(all.begin(), all.end(), [](const auto& w) { return w.name == "CHAIN"; });
  REQUIRE(chain != all.end());
  std::vector<ir::function> programs;
  for (const schedule& s : gpu_list::members(chain->function, 6, space::default_gpu()))
    programs.push_back(s.function());
  REQUIRE(programs.size() == 6);
  programs.insert(programs.begin() + 2, too_many_registers());  // rejected, and large
  programs.push_back(chain->function);                          // has no kernels: not lowered
  build_queue queue(programs, hopper(), {1, 0}, {}, 60);
  std::set<std::vector<std::byte>> images;
  std::set<std::string> symbols;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const built b = queue.take(i), alone = build(programs[i], hopper(), 60);
    CHECK(static_cast<bool>(b) == static_cast<bool>(alone));
    CHECK(b.rejected == alone.rejected);
    if (!b.rejected) CHECK(b.error == alone.error);  // else it has the kernel's name
    if (!b) continue;
    images.insert(b.artifact.object);
    REQUIRE(b.artifact.launches.size() == alone.artifact.launches.size());
    for (std::size_t l = 0; l < b.artifact.launches.size(); ++l) {
      const backend::launch &mine = b.artifact.launches[l], &other = alone.artifact.launches[l];
      CHECK(mine.registers == other.registers);
      CHECK(mine.grid == other.grid);
      CHECK(mine.block == other.block);
      CHECK(mine.symbol.find(other.symbol + "_of_") == 0);
      symbols.insert(mine.symbol);
    }
  }
  CHECK(images.size() == 2);
  CHECK(symbols.size() >= 3);
}

TEST_CASE("build: kernels that are no small ones are compiled one by one") {
  if (!cases::have_nvrtc()) return;
  std::vector<ir::function> programs;
  const space::design_space list = space::default_gpu();
  for (const schedule& sketch : list.sketches(product().function, gpu_list::machine(), 7))
    if (programs.size() < 2 &&
        sketch.trace().print().find("sample_perfect_tile") != std::string::npos)
      for (const schedule& s : gpu_list::members_of(product().function, sketch, 1, list))
        programs.push_back(s.function());
  REQUIRE(programs.size() == 2);
  build_queue queue(programs, hopper(), {1, 0}, {}, 60);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const built b = queue.take(i);
    for (const backend::launch& l : b.artifact.launches)
      CHECK(l.symbol.find("_of_") == std::string::npos);
  }
}

TEST_CASE("gate: candidates are built, none is run") {
  if (!cases::have_nvrtc()) return;
  workload w;
  w.function = product().function;
  w.machine = &hopper();
  w.exec = &backend::serial_executor();
  w.space = space::default_gpu();
  session_options o;
  o.seconds = 60;
  o.trials = 6;
  o.batch = 3;
  int rounds = 0;
  const gate_result r = gate(w, o, [&](const gate_result&) { ++rounds; });
  CHECK(r.built >= 2);
  CHECK(rounds >= 2);
  int tried = r.built - 1;
  for (const auto& [kind, count] : r.failures)
    if (kind != failure::schedule) tried += count;
  CHECK(tried == 6);
  CHECK(r.trace.find("threadIdx.x") != std::string::npos);
}

TEST_CASE("candidates for GPUs are built with passes of one's own") {
  if (!cases::have_nvrtc()) return;
  int ran = 0;
  pass::pipeline mine = pass::pipeline::standard_gpu();
  mine.insert_after("unify_threads", {"count", [&](const ir::function& f, const target::machine&) {
                                        ++ran;
                                        return f;
                                      }});
  const space::context where{&hopper(), 1};
  const ir::function f =
      default_schedule(product().function, space::default_gpu(), where, 1).function();
  const built made = pass_builder(mine, 60)(f, hopper());
  CHECK(made.error == "");
  CHECK(made);
  CHECK(ran == 1);
  const built wrong = pass_builder(pass::pipeline::standard())(f, hopper());
  CHECK(!wrong);
  CHECK(wrong.error.find("take pipeline::standard_gpu()") != std::string::npos);
}
