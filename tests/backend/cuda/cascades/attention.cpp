// Attention in one kernel: the families of the default space that go over parts of the keys, by warps on tensor cores and
// by threads, emulated against the interpreter, and what they need on two architectures.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ops/attention.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/session.hpp>

#include "../cases.hpp"
#include "../gpu_list.hpp"
#include "gpu/attention_workloads.hpp"

using namespace tilewright;

namespace {

using gpu_workloads::attention_case;
using gpu_workloads::attention_function;

bool is_running(const schedule& s) {
  return s.trace().print().find(".running") != std::string::npos;
}

/// The families that go over parts of the keys in one kernel, those of warps first.
std::vector<schedule> families(const ir::function& f) {
  std::vector<schedule> out;
  for (schedule& s : space::default_gpu().sketches(f, gpu_list::machine(), 7))
    if (is_running(s)) out.push_back(std::move(s));
  return out;
}

cases::cu::program text_of(const schedule& s, const target::gpu& device) {
  return cases::cu::print(pass::lower(s.function(), device), device);
}

bool on_tensor_cores(const schedule& s) {
  return s.trace().print().find("wmma") != std::string::npos;
}

/// What families on tensor cores, or in threads, have unmeasured, and `draws` members of each, emulated.
void check_families(const attention_case& what, bool tensor_cores, double tolerance, int draws,
                    const harness::options& values = {}) {
  const ir::function f = attention_function(what);
  const std::vector<harness::argument> expected = cases::interpreted(f, values);
  const space::design_space list = space::default_gpu();
  std::vector<schedule> all = families(f);
  std::erase_if(all, [&](const schedule& s) { return on_tensor_cores(s) != tensor_cores; });
  REQUIRE(!all.empty());
  for (const schedule& family : all)
    for (std::uint64_t seed = 0; seed <= static_cast<std::uint64_t>(draws); ++seed) {
      trace t = family.trace();
      if (seed > 0) t = t.without_decisions();
      auto member = search::replay(t, f, seed);
      if (!member) continue;
      list.finish(member->scheduled, gpu_list::machine());
      INFO(member->scheduled.trace().print());
      const cases::cu::program p = text_of(member->scheduled, cases::device());
      INFO(p.text);
      CHECK(p.kernels.size() == 1);
      const cases::cu::emulator kernels(p);
      cases::check_equal(cases::emulated(kernels, f, seed + 1, values), expected, tolerance);
    }
}

}  // namespace

TEST_CASE("attention in one kernel on tensor cores computes what the interpreter computes") {
  if (!cases::have_emulator()) return;
  SUBCASE("f16, heads of 64") {
    check_families({.batch = 2, .queries = 128, .keys = 128}, true, 2e-3, 1);
  }
  SUBCASE("bf16, other keys than queries") {
    check_families({.type = "bfloat16", .queries = 64, .keys = 256, .depth = 32}, true, 1e-2, 0);
  }
  SUBCASE("causal") {
    check_families({.queries = 64, .keys = 128, .depth = 32, .causal = true}, true, 2e-3, 0);
  }
}

TEST_CASE("attention in threads computes what the interpreter computes") {
  if (!cases::have_emulator()) return;
  check_families({.type = "float32", .batch = 2, .queries = 128, .keys = 64, .depth = 32}, false,
                 1e-5, 1);
}

TEST_CASE("lengths that no tile and no part divides") {
  if (!cases::have_emulator()) return;
  SUBCASE("77, two heads") {
    check_families({.batch = 2, .queries = 77, .keys = 77, .depth = 32}, true, 2e-3, 0);
  }
  SUBCASE("197 queries, 100 keys, bf16") {
    check_families({.type = "bfloat16", .queries = 197, .keys = 100, .depth = 32}, true, 1e-2, 0);
  }
  SUBCASE("causal") {
    check_families({.queries = 40, .keys = 77, .depth = 32, .causal = true}, true, 2e-3, 0);
  }
  SUBCASE("one query") { check_families({.queries = 1, .keys = 90, .depth = 32}, true, 2e-3, 0); }
  SUBCASE("fewer keys than an instruction has") {
    check_families({.queries = 5, .keys = 3, .depth = 32}, true, 2e-3, 0);
  }
  SUBCASE("in threads") {
    check_families({.type = "float32", .queries = 77, .keys = 29, .depth = 8, .causal = false},
                   false, 1e-5, 1);
    check_families({.type = "float32", .queries = 40, .keys = 77, .depth = 8, .causal = true},
                   false, 1e-5, 0);
  }
}

TEST_CASE(
    "parts that a causal mask hides are not copied, and only those on the diagonal are masked") {
  const ir::function f =
      attention_function({.queries = 512, .keys = 512, .depth = 64, .causal = true});
  const schedule s = search::default_schedule(f, space::default_gpu(), gpu_list::machine(), 1);
  REQUIRE(is_running(s));
  const std::string text = text_of(s, cases::device()).text;
  INFO(text);
  // the loop over parts ends where the block's last query does
  const std::size_t loop = text.find("for (int j_part");
  REQUIRE(loop != text.npos);
  CHECK(text.substr(loop, text.find('\n', loop) - loop).find("bx") != std::string::npos);
  CHECK(text.find("tw_copy_async") != text.npos);
  if (!cases::have_emulator()) return;
  check_families({.queries = 192, .keys = 256, .depth = 32, .causal = true}, true, 2e-3, 1);
}

TEST_CASE("scores that are large, and rows of which all are, lose nothing") {
  if (!cases::have_emulator()) return;
  const attention_case what{.queries = 64, .keys = 128, .depth = 32, .scale = 4};
  harness::options values;
  for (const double size : {30.0, -200.0}) {
    std::vector<double> q(64 * 32);
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i] = i / 32 % 3 == 0 ? size : static_cast<double>(i % 7) - 3;
    values.values["Q"] = q;
    check_families(what, true, 2e-3, 0, values);
  }
}

TEST_CASE("attention in one kernel compiles without spills") {
  if (!cases::have_nvrtc()) return;
  struct kind {
    int depth, length;
    bool causal;
  };
  for (const auto& [depth, length, causal] :
       {kind{64, 1024, false}, kind{128, 1024, false}, kind{64, 1000, false},
        kind{128, 1500, false}, kind{64, 1024, true}, kind{128, 1000, true}})
    for (const char* name : {"sm_80", "sm_90a"}) {
      CAPTURE(depth);
      CAPTURE(length);
      CAPTURE(causal);
      CAPTURE(name);
      const target::gpu device = target::named_gpu(name);
      const ir::function f = attention_function(
          {.batch = 2, .queries = length, .keys = length, .depth = depth, .causal = causal});
      const schedule s = search::default_schedule(f, space::default_gpu(), {&device, 1}, 1);
      REQUIRE(is_running(s));
      const cases::cu::program p = text_of(s, device);
      const cases::cu::compiled c = cases::cu::compile(p, device);
      REQUIRE(c.artifact.launches.size() == 1);
      const backend::launch& l = c.artifact.launches[0];
      CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
      CHECK(l.shared_bytes <= 96 * 1024);
      MESSAGE(device.name << ", heads of " << depth << ", " << length
                          << std::string(causal ? " causal: " : ": ") << l.registers
                          << " registers, " << l.shared_bytes << " bytes of shared memory");
    }
}

TEST_CASE("attention whose weights may not be rounded stays off tensor cores' second product") {
  attention_case what{.queries = 64, .keys = 64};
  ir::function f = attention_function(what);
  std::string text = ir::print(f);
  const std::string rounded = "T.Cast(\"float32\", T.Cast(\"float16\", share[vb, vi, vj]))";
  const std::size_t at = text.find(rounded);
  REQUIRE(at != text.npos);
  text.replace(at, rounded.size(), "share[vb, vi, vj]");
  for (const schedule& s : families(ir::parse(text))) CHECK_FALSE(on_tensor_cores(s));
}

TEST_CASE("ops::attention is one kernel where its weights are rounded") {
  constexpr ops::attention_options rounded{.causal = false, .rounded_weights = true},
      causal{.causal = true, .rounded_weights = true};
  const dim_values sizes{{"B", 2}, {"M", 64}, {"N", 128}, {"D", 32}, {"E", 64}};
  constexpr ops::attention_options grouped{.causal = true, .rounded_weights = true, .group = 2};
  const dim_values ragged{{"B", 4}, {"H", 2}, {"M", 37}, {"N", 50}, {"D", 32}, {"E", 32}};
  const ir::function all[] = {reify(ops::attention<float16, float, rounded>, sizes),
                              reify(ops::attention<float16, float, causal>, sizes),
                              reify(ops::attention<float16, float, grouped>, ragged)};
  for (const ir::function& f : all) {
    const schedule s = search::default_schedule(f, space::default_gpu(), gpu_list::machine(), 1);
    INFO(ir::print(f));
    REQUIRE(is_running(s));
    CHECK(on_tensor_cores(s));
    const cases::cu::program p = text_of(s, cases::device());
    CHECK(p.kernels.size() == 1);
    if (!cases::have_emulator()) continue;
    harness::options values;
    values.values["scale"] = {0.5};
    cases::check_equal(cases::emulated(cases::cu::emulator(p), f, 1, values),
                       cases::interpreted(f, values), 2e-3);
  }
}
