#include <tilewright/space/modules/walk_rows.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "../draws.hpp"
#include "../programs.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

TEST_CASE("rows that lie pages apart are summed row by row, or in registers") {
  const auto mix = [](int voices, int samples) {
    const std::string v = std::to_string(voices), n = std::to_string(samples);
    return ir::parse("@T.prim_func\ndef main(S: T.Buffer((" + v + ", " + n +
                     "), \"float32\"), G: T.Buffer((" + v + ",), \"float32\"), O: T.Buffer((" + n +
                     ",), \"float32\")):\n    for i, v in T.grid(" + n + ", " + v + R"():
        with T.block("O"):
            vi, vv = T.axis.remap("SR", [i, v])
            with T.init():
                O[vi] = T.float32(0)
            O[vi] = O[vi] + S[vv, vi] * G[vv]
)");
  };
  const auto sketches = [](const ir::function& f, int threads) {
    return space::default_cpu().sketches(f, draws::haswell(threads), 1);
  };
  for (const int threads : {1, 4})
    for (const int samples : {1024, 1303}) {
      const ir::function f = mix(9, samples);
      const std::vector<schedule> both = sketches(f, threads);
      CHECK(both.size() >= 2);
      const bool whole = samples == 1024;
      CHECK(traces::mentions(both[0], "sch.unroll") == whole);
      CHECK(draws::check(f, both, 20) > 5);
    }
  CHECK_FALSE(traces::mentions(sketches(mix(9, 512), 1)[0], "sch.unroll"));
  // of rows in memory more are read at once
  const auto rows_at_once = [&](int voices, const char* decided) {
    return traces::mentions(sketches(mix(voices, 4096), 1)[0], decided);
  };
  CHECK(rows_at_once(9, "probs=[1.0, 3.0, 2.0, 1.0], decision=1"));
  CHECK(rows_at_once(60000, "probs=[1.0, 1.0, 2.0, 3.0], decision=3"));
  // results of a thread that would fill all registers stay in the first-level cache, as longer ones do, but for a vector
  target::cpu wide = target::named("znver4");
  wide.vector_bits = 512;
  REQUIRE(wide.vector_registers == 32);
  const ir::function short_rows = mix(9, 1024);
  const std::vector<schedule> shared =
      space::default_cpu().sketches(short_rows, space::context{&wide, 2}, 1);
  REQUIRE(traces::mentions(shared[0], "candidates=[32, 64]"));
  const std::string lowered = ir::print(pass::lower(shared[0].function(), wide));
  CHECK(lowered.find("T.parallel(2)") != std::string::npos);
  CHECK(lowered.find("_acc = T.decl_buffer((16,)") != std::string::npos);
}

namespace {

schedule first_sketch(const ir::function& f, const target::cpu& cpu) {
  return space::default_cpu().sketches(f, space::context{&cpu, 1}, 1).at(0);
}

target::cpu wide() {
  target::cpu out = target::named("znver4");
  out.vector_bits = 512;
  out.l2_bytes = 1 << 20;
  out.l3_bytes = 32 << 20;
  return out;
}

}  // namespace

TEST_CASE("as many rows at once as leave half of the registers for sums and rows") {
  const auto rows = [](int results, const target::cpu& cpu, const char* weights) {
    const std::string trace =
        first_sketch(programs::matmul(results, 1024, 1024), cpu).trace().print();
    return trace.find(std::string("candidates=[1, 2, 4, 8], probs=") + weights) !=
           std::string::npos;
  };
  CHECK(rows(4, wide(), "[1.0, 2.0, 3.0, 1.0], decision=2"));
  CHECK(rows(2, wide(), "[1.0, 1.0, 2.0, 3.0], decision=3"));
  CHECK(rows(4, target::named("haswell"), "[1.0, 3.0, 2.0, 1.0], decision=1"));
  CHECK(rows(2, target::named("haswell"), "[1.0, 2.0, 3.0, 1.0], decision=2"));
}

TEST_CASE("rows that serve several results are tiled first") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((24, 1024), "float32"), W: T.Buffer((9,), "float32"), Y: T.Buffer((16, 1024), "float32")):
    for i, j, k in T.grid(16, 1024, 9):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + W[vk] * X[vi + vk, vj]
)");
  const std::string first = first_sketch(f, wide()).trace().print();
  CHECK(first.find("candidates=[1, 2, 4, 8], probs=[1.0, 3.0, 2.0, 1.0]") == std::string::npos);
  CHECK(first.find("candidates=[1, 2, 4, 8, 16]") != std::string::npos);
  CHECK(draws::check(f, space::default_cpu().sketches(f, draws::haswell(), 1), 10) > 3);
}

TEST_CASE("what divides sums of rows by their number stands below the tile that walks them") {
  const auto mean = [](int columns) {
    const std::string n = std::to_string(columns);
    return ir::parse("@T.prim_func\ndef mean(X: T.Buffer((2, 9, " + n +
                     "), \"float32\"), Y: T.Buffer((2, " + n +
                     "), \"float32\")):\n    S = T.alloc_buffer((2, " + n +
                     "), \"float32\")\n    for b, c, t in T.grid(2, " + n + R"(, 9):
        with T.block("S"):
            vb, vc, vt = T.axis.remap("SSR", [b, c, t])
            with T.init():
                S[vb, vc] = T.float32(0)
            S[vb, vc] = S[vb, vc] + X[vb, vt, vc]
    for b, c in T.grid(2, )" +
                     n + R"():
        with T.block("Y"):
            vb, vc = T.axis.remap("SS", [b, c])
            Y[vb, vc] = S[vb, vc] / T.float32(9)
)");
  };
  const auto walks = [](const schedule& s) {
    const std::string trace = s.trace().print();
    return trace.find("sch.reverse_compute_at") != std::string::npos &&
           trace.find("sch.decompose_reduction") != std::string::npos;
  };
  for (const int threads : {1, 4}) {
    const ir::function f = mean(1024);
    const std::vector<schedule> all = space::default_cpu().sketches(f, draws::haswell(threads), 1);
    REQUIRE(all.size() >= 2);
    CHECK(walks(all[0]));
    CHECK_FALSE(walks(all.back()));
    CHECK(draws::check(f, all, 20) > 5);
  }
  // rows that lie within a page are not walked
  CHECK_FALSE(walks(space::default_cpu().sketches(mean(256), draws::haswell(), 1)[0]));
}
