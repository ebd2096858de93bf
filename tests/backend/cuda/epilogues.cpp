// Results with what is done to each of them: straight from registers to memory, or through shared memory in whole rows;
// and products in parts, whose sums have the epilogue.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/space/root_blocks.hpp>

#include "cases.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

/// D = max(A B + E, 0) of f32, or of f16 with sums of f32.
ir::function dense(const std::string& in, int m, int n, int k) {
  const auto t = [](int x) { return std::to_string(x); };
  const std::string types = "\"float" + in.substr(1) + "\"",
                    result = "(" + t(m) + ", " + t(n) + "), \"float32\")";
  const auto wide = [&](const std::string& e) {
    return in == "f32" ? e : "T.cast(" + e + ", \"float32\")";
  };
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) + "), " + types +
                   "), B: T.Buffer((" + t(k) + ", " + t(n) + "), " + types + "), E: T.Buffer((" +
                   t(n) + ",), \"float32\"), D: T.Buffer(" + result +
                   "):\n    C = T.alloc_buffer(" + result + "\n    for i, j, k in T.grid(" + t(m) +
                   ", " + t(n) + ", " + t(k) +
                   "):\n        with T.block(\"C\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
                   "            C[vi, vj] = C[vi, vj] + " +
                   wide("A[vi, vk]") + " * " + wide("B[vk, vj]") + "\n    for i, j in T.grid(" +
                   t(m) + ", " + t(n) +
                   "):\n        with T.block(\"D\"):\n"
                   "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "            D[vi, vj] = T.max(C[vi, vj] + E[vj], T.float32(0))\n");
}

/// What a sketch does with its results.
struct structure {
  bool tensor_cores, staged, tiled, in_parts;
  explicit structure(const schedule& s)
      : tensor_cores(s.trace().print().find("wmma.accumulator") != std::string::npos),
        tiled(s.trace().print().find("sample_perfect_tile") != std::string::npos),
        in_parts(space::has_block(s, "C_rf")) {
    const std::string text = s.trace().print();
    staged = false;
    for (const char* made : {"sch.cache_write(", "sch.write_at("})
      for (std::size_t at = text.find(made); at != text.npos; at = text.find(made, at + 1))
        staged = staged || text.substr(at, text.find('\n', at) - at).find("\"shared") != text.npos;
  }
};

/// Emulates members of each sketch that is `wanted`. @returns sketches
template <class Wanted>
int check_sketches(const ir::function& f, int each, const Wanted& wanted) {
  const space::design_space list = space::default_gpu();
  const std::vector<harness::argument> expected = cases::interpreted(f);
  int out = 0;
  for (const schedule& sketch : list.sketches(f, gpu_list::machine(), 7)) {
    const structure how(sketch);
    if (!wanted(how)) continue;
    ++out;
    const std::vector<schedule> members = gpu_list::members_of(f, sketch, each, list);
    CHECK(members.size() == static_cast<std::size_t>(each));
    for (const schedule& s : members) {
      INFO(s.trace().print());
      CHECK(trace::parse(s.trace().print()) == s.trace());
      const cases::cu::program p =
          cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
      INFO(p.text);
      // of tiles the epilogue has no kernel of its own
      CHECK(p.kernels.size() == (how.in_parts || !how.tiled ? 2 : 1));
      // partial results are loaded in vectors where results are stored in vectors
      if (how.in_parts && p.text.find("tw_store_vector(D") != std::string::npos) {
        CHECK(p.text.find("(C_rf, ") != std::string::npos);
        CHECK(p.text.find("C_rf[") == std::string::npos);
      }
      const cases::cu::emulator kernels(p);
      for (std::uint64_t seed = 1; seed <= 2; ++seed)
        cases::check_equal(cases::emulated(kernels, f, seed), expected, 1e-5 * (1 + 512 / 64.0));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("epilogues: direct and staged results of threads are choices of the space") {
  if (!cases::have_emulator()) return;
  const ir::function f = dense("f32", 32, 48, 40);
  for (const bool staged : {false, true})
    CHECK(check_sketches(f, 3, [&](const structure& s) { return s.staged == staged; }) >= 1);
}

TEST_CASE("epilogues: direct and staged results of tensor cores are choices of the space") {
  if (!cases::have_emulator()) return;
  const ir::function f = dense("f16", 64, 96, 64);
  for (const bool staged : {false, true})
    CHECK(check_sketches(
              f, 2, [&](const structure& s) { return s.tensor_cores && s.staged == staged; }) >= 2);
}

TEST_CASE("epilogues: products in parts, of threads and of tensor cores") {
  if (!cases::have_emulator()) return;
  for (const bool tensor_cores : {false, true})
    CHECK(check_sketches(dense(tensor_cores ? "f16" : "f32", 32, 16, 512), 2,
                         [&](const structure& s) {
                           return s.in_parts && s.tensor_cores == tensor_cores;
                         }) >= 1);
}

namespace {

/// Whether one of a few members of the sketch compiles within the limits of a device, without spills.
bool compiles(const ir::function& f, const schedule& sketch, const target::gpu& device) {
  const space::design_space list = space::default_gpu();
  const space::context where{&device, 1};
  const trace family = sketch.trace().without_decisions();
  int tried = 0;
  for (std::uint64_t seed = 1; seed < 400 && tried < 8; ++seed) {
    auto member = search::replay(family, f, seed);
    if (!member) continue;
    try {
      list.finish(member->scheduled, where);
      const cases::cu::program p =
          cases::cu::print(pass::lower(member->scheduled.function(), device), device);
      ++tried;
      const cases::cu::compiled c = cases::cu::compile(p, device, std::chrono::seconds(20));
      bool fine = true;
      for (const backend::launch& l : c.artifact.launches)
        fine = fine && cases::cu::why_rejected(l, c.report, device, {0, 0, false}).empty();
      if (fine) return true;
    } catch (const error&) {  // refused, or too slow to compile: the next one
    }
  }
  return false;
}

}  // namespace

TEST_CASE("epilogues: a member of each structure compiles without spills") {
  if (!cases::have_nvrtc()) return;
  struct size {
    const char* in;
    int m, n, k;
    std::size_t structures;
  };
  for (const size& x :
       {size{"f16", 1024, 1024, 1024, 4}, {"f32", 64, 64, 16384, 3}, {"f16", 64, 64, 16384, 7}}) {
    CAPTURE(x.in);
    CAPTURE(x.k);
    const ir::function f = dense(x.in, x.m, x.n, x.k);
    std::set<std::tuple<bool, bool, bool>> met;
    const target::gpu device = target::named_gpu(x.m > 64 ? "sm_80" : "sm_90a");
    for (const schedule& sketch : space::default_gpu().sketches(f, {&device, 1}, 1)) {
      const structure how(sketch);
      if (!met.emplace(how.tensor_cores, how.staged, how.in_parts).second) continue;
      INFO(sketch.trace().print());
      CHECK(compiles(f, sketch, device));
    }
    CHECK(met.size() == x.structures);
  }
}
