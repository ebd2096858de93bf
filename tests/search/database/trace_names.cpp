#include <tilewright/search/database/trace_names.hpp>

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// The program of a script with words in the place of `$1`, `$2`, ...
ir::function program(std::string script, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string mark = "$" + std::to_string(i + 1);
    for (std::size_t at; (at = script.find(mark)) != std::string::npos;)
      script.replace(at, mark.size(), words[i]);
  }
  return ir::parse(script);
}

/// $1 and $2: inputs; $3: what is between; $4: the output; $5 and $6: axes.
const std::vector<std::string> scripts{
    R"(@T.prim_func
def main($1: T.Buffer((48, 40), "float32"), $2: T.Buffer((40, 64), "float32"), $4: T.Buffer((48, 64), "float32")):
    $3 = T.alloc_buffer((48, 64))
    for $5, $6, k in T.grid(48, 64, 40):
        with T.block("$3"):
            v$5, v$6, vk = T.axis.remap("SSR", [$5, $6, k])
            with T.init():
                $3[v$5, v$6] = T.float32(0)
            $3[v$5, v$6] = $3[v$5, v$6] + $1[v$5, vk] * $2[vk, v$6]
    for $5, $6 in T.grid(48, 64):
        with T.block("$4"):
            v$5, v$6 = T.axis.remap("SS", [$5, $6])
            $4[v$5, v$6] = T.max($3[v$5, v$6], T.float32(0))
)",
    R"(@T.prim_func
def main($1: T.Buffer((32, 96), "float32"), $2: T.Buffer((96,), "float32"), $4: T.Buffer((32, 96), "float32")):
    $3 = T.alloc_buffer((32,))
    for $5, $6 in T.grid(32, 96):
        with T.block("$3"):
            v$5, v$6 = T.axis.remap("SR", [$5, $6])
            with T.init():
                $3[v$5] = T.float32(0)
            $3[v$5] = $3[v$5] + $1[v$5, v$6] * $1[v$5, v$6]
    for $5, $6 in T.grid(32, 96):
        with T.block("$4"):
            v$5, v$6 = T.axis.remap("SS", [$5, $6])
            $4[v$5, v$6] = $1[v$5, v$6] * $2[v$6] / T.sqrt($3[v$5])
)",
    R"(@T.prim_func
def main($1: T.Buffer((4096,), "float32"), $2: T.Buffer((1,), "float32"), $4: T.Buffer((1,), "float32")):
    $3 = T.alloc_buffer((1,))
    for $5, $6 in T.grid(1, 4096):
        with T.block("$3"):
            v$5, v$6 = T.axis.remap("SR", [$5, $6])
            with T.init():
                $3[v$5] = T.float32(0)
            $3[v$5] = $3[v$5] + $1[v$6]
    for $5 in range(1):
        with T.block("$4"):
            v$5 = T.axis.spatial(1, $5)
            $4[v$5] = $3[v$5] * $2[v$5]
)"};
const std::vector<std::string> some{"A", "B", "C", "D", "i", "j"},
    others{"left", "right", "D", "C_local", "row", "column"};

/// Candidates of a program, drawn from a default space.
std::vector<schedule> candidates(const ir::function& f, const space::design_space& space,
                                 const target::machine& where) {
  std::vector<schedule> out;
  for (const schedule& sketch : space.sketches(f, {where, 2}, 1))
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      if (auto c = replay(sketch.trace().without_decisions(), f, seed))
        out.push_back(std::move(c->scheduled));
  return out;
}

/// The schedules of `f` do the same to `renamed` when they are kept by position.
void check_renamed(const ir::function& f, const ir::function& renamed,
                   const space::design_space& space, const target::machine& where) {
  const std::vector<schedule> all = candidates(f, space, where);
  REQUIRE_FALSE(all.empty());
  for (const schedule& s : all) {
    const trace kept = by_position(s.trace(), f);
    CAPTURE(s.trace().print());
    CAPTURE(kept.print());
    CHECK(trace::parse(kept.print()) == kept);
    schedule again(f), other(renamed);
    kept.apply_to(again);
    REQUIRE_NOTHROW(kept.apply_to(other));
    CHECK(ir::equal(again.function(), s.function()));
    CHECK(ir::equal(other.function(), s.function()));
    CHECK(by_name(kept, f) == s.trace());
    CHECK(by_position(by_name(kept, renamed), renamed) == kept);
    schedule named(renamed);
    by_name(kept, renamed).apply_to(named);
    CHECK(ir::equal(named.function(), s.function()));
  }
}

}  // namespace

TEST_CASE("schedules kept by position do the same whatever blocks and buffers are called") {
  static const target::cpu cpu = target::named("haswell");
  for (const std::string& script : scripts)
    check_renamed(program(script, some), program(script, others), space::default_cpu(), &cpu);
}

TEST_CASE("so do schedules for GPUs") {
  static const target::gpu gpu = target::named_gpu("sm_80");
  for (const std::string& script : scripts)
    check_renamed(program(script, some), program(script, others),
                  space::default_space(target::machine(gpu)), gpu);
}

TEST_CASE("buffers that a schedule names are kept by their place") {
  const ir::function f = program(scripts[0], some);
  schedule s(f);
  s.transform_layout(s.block("C"), "B", "lambda i, j: (j, i)");
  s.transform_layout(s.block("D"), "C", "lambda i, j: (j, i)");
  const trace kept = by_position(s.trace(), f);
  const std::string text = kept.print();
  CHECK(text.find("\"B\"") == std::string::npos);
  CHECK(text.find("\"C\"") == std::string::npos);
  schedule other(program(scripts[0], others));
  kept.apply_to(other);
  CHECK(ir::equal(other.function(), s.function()));
}

TEST_CASE("what does not replay, and what is no trace, stays as it is") {
  const ir::function f = program(scripts[0], some);
  schedule s(f);
  s.unroll(s.get_loops(s.block("C"))[2]);
  const ir::function other = program(scripts[1], others);
  CHECK(by_position(s.trace(), other) == s.trace());
  CHECK(by_name(s.trace(), other) == s.trace());
  CHECK(trace_by_position("no trace", f) == "no trace");
  CHECK(trace_by_name("", f) == "");
  CHECK(trace_by_name("pass", f) == "pass\n");
  const std::string nowhere = "b0 = sch.get_block(name=\"#9\", func_name=\"main\")\n";
  CHECK(trace_by_name(nowhere, f) == nowhere);
}

TEST_CASE("a block whose name looks like a place is found by its place all the same") {
  const std::vector<std::string> odd{"A", "B", "C", "D", "i", "j"};
  std::string script = scripts[0];
  const auto call = [&](const char* block, const char* name) {
    const std::string old = std::string("T.block(\"") + block + "\")";
    script.replace(script.find(old), old.size(), std::string("T.block(\"") + name + "\")");
  };
  call("$3", "#2");
  call("$4", "#1");
  const ir::function f = program(script, odd);
  schedule s(f);
  s.unroll(s.get_loops(s.block("#2"))[2]);  // the first block of the text
  schedule again(f);
  by_position(s.trace(), f).apply_to(again);
  CHECK(ir::equal(again.function(), s.function()));
}
