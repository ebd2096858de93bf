#include <tilewright/pass/pipeline.hpp>

#include <algorithm>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

/// A product in tiles of registers that do not divide.
function scheduled() {
  return parse(R"(@T.prim_func
def main(A: T.Buffer((13, 9), "float32"), B: T.Buffer((9, 21), "float32"), C: T.Buffer((13, 21), "float32")):
    for i_0, j_0 in T.grid(4, 3):
        for i_1 in T.unroll(4):
            for j_1 in T.vectorized(8):
                with T.block("C_init"):
                    vi = T.axis.spatial(13, i_0 * 4 + i_1)
                    vj = T.axis.spatial(21, j_0 * 8 + j_1)
                    T.where(i_0 * 4 + i_1 < 13 and j_0 * 8 + j_1 < 21)
                    C[vi, vj] = T.float32(0)
        for k in range(9):
            for i_1 in T.unroll(4):
                for j_1 in T.vectorized(8):
                    with T.block("C_update"):
                        vi = T.axis.spatial(13, i_0 * 4 + i_1)
                        vj = T.axis.spatial(21, j_0 * 8 + j_1)
                        vk = T.axis.reduce(9, k)
                        T.where(i_0 * 4 + i_1 < 13 and j_0 * 8 + j_1 < 21)
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

}  // namespace

TEST_CASE("pipeline: the standard one is what lower does, and leaves well-formed functions") {
  const function f = scheduled();
  const target::cpu cpu = target::named("haswell");
  pass::pipeline p = pass::pipeline::standard();
  CHECK(equal(p.run(f, cpu), pass::lower(f, cpu)));
  p.verify();
  function lowered;
  REQUIRE_NOTHROW(lowered = p.run(f, cpu));
  check_same(f, lowered);
  const std::vector<std::string> names = p.names();
  CHECK(names.front() == "scalar_function");
  CHECK(std::count(names.begin(), names.end(), "promote_accumulators") == 1);
}

TEST_CASE("pipeline: a pass of one's own runs where it was put; others are replaced or dropped") {
  const function f = scheduled();
  const target::cpu cpu = target::named("haswell");
  std::vector<std::string> ran;
  const auto noting = [&](const std::string& name) {
    return pass::named_pass{name, [&ran, name](const function& x, const target::machine&) {
                              ran.push_back(name);
                              return x;
                            }};
  };
  pass::pipeline p = pass::pipeline::standard();
  p.insert_before("lower_blocks", noting("first"))
      .insert_after("plan_workspace", noting("last"))
      .insert_after("lower_blocks", noting("second"))
      .replace("prefetch_gathers", noting("instead"))
      .drop("hoist_invariants")
      .verify();
  const function lowered = p.run(f, cpu);
  CHECK(ran == std::vector<std::string>{"first", "second", "instead", "last"});
  check_same(f, lowered);
  const std::vector<std::string> names = p.names();
  for (const char* gone : {"hoist_invariants", "prefetch_gathers"})
    CHECK(std::count(names.begin(), names.end(), gone) == 0);
}

TEST_CASE("pipeline: a pass that breaks a function is named") {
  pass::pipeline p = pass::pipeline::standard();
  p.insert_after("trim_loops", {"break", [](const function& f, const target::machine&) {
                                  function out = f;
                                  out.body = make_store(make_buffer("lost", dtype::f32, {4}), {0},
                                                        real(dtype::f32, 1));
                                  return out;
                                }});
  p.verify();
  CHECK_THROWS_WITH_AS(p.run(scheduled(), target::named("haswell")),
                       doctest::Contains("pass \"break\" leaves function \"main\" not well formed"),
                       build_error);
}

TEST_CASE("pipeline: names that are not there, stand twice, or must stay") {
  pass::pipeline p = pass::pipeline::standard();
  const pass::named_pass same{"same", [](const function& f, const target::machine&) { return f; }};
  CHECK_THROWS_WITH_AS(p.drop("fly"), doctest::Contains("there is no pass \"fly\"; there are scal"),
                       argument_error);
  CHECK_THROWS_AS(p.insert_after("fly", same), argument_error);
  CHECK_THROWS_WITH_AS(p.drop("prepare_weights"), doctest::Contains("stays"), argument_error);
  CHECK_THROWS_AS(p.insert_before("trim_loops", {"empty", nullptr}), argument_error);
  p.insert_before("trim_loops", same);
  CHECK_THROWS_WITH_AS(p.insert_before("trim_loops", same), doctest::Contains("already"),
                       argument_error);
  CHECK(equal(p.run(scheduled(), target::named("haswell")),
              pass::lower(scheduled(), target::named("haswell"))));
}

TEST_CASE("pipeline: passes for GPUs are a value, too") {
  const function f = parse(R"(@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, thread="threadIdx.x"):
        with T.block("B"):
            v = T.axis.spatial(64, t)
            B[v] = A[v] + T.float32(1)
)");
  const target::gpu gpu = target::named_gpu("sm_80");
  pass::pipeline p = pass::pipeline::standard_gpu();
  CHECK(equal(p.run(f, gpu), pass::lower(f, gpu)));
  int kernels = 0;
  p.insert_after("unify_threads", {"count",
                                   [&](const function& x, const target::machine& where) {
                                     CHECK(where.gpu->name == "sm_80");
                                     ++kernels;
                                     return x;
                                   }})
      .drop("swizzle_shared")
      .replace("pipeline_loops",
               {"none", [](const function& x, const target::machine&) { return x; }})
      .verify();
  CHECK(equal(p.run(f, gpu), pass::lower(f, gpu)));
  CHECK(equal(p.run_prepared(f, gpu).main, pass::lower(f, gpu)));
  CHECK(kernels == 2);
  CHECK_THROWS_WITH_AS(
      p.drop("peel_tails"),
      doctest::Contains(
          "place_barriers, order_products, specialize_warps, simplify_loops.6, unroll_registers"),
      argument_error);
}

TEST_CASE("pipeline: passes for one machine refuse the other") {
  const target::gpu gpu = target::named_gpu("sm_80");
  CHECK_THROWS_WITH_AS(pass::pipeline::standard().run(scheduled(), gpu),
                       doctest::Contains("take pipeline::standard_gpu()"), argument_error);
  CHECK_THROWS_WITH_AS(pass::pipeline::standard_gpu().run(scheduled(), target::named("haswell")),
                       doctest::Contains("take pipeline::standard()"), argument_error);
}
