#include <tilewright/space/modules/fuse_elements.hpp>

#include <tilewright/ir/equal.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../schedule/primitive/iterations/sparse_program.hpp"
#include "../trace_text.hpp"

using namespace tilewright;
using sparse_program::product, sparse_program::sampled;

namespace {

/// The program at a depth that fills vectors: A is 3 x 4 and has five elements.
const std::string deep =
    "# from tvm.script import tir as T\n\n@T.prim_func\n"
    "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), "
    "\"float32\"), x: T.Buffer((3, 32), \"float32\"), y: T.Buffer((4, 32), \"float32\"), "
    "s: T.Buffer((5,), \"float32\")):\n"
    "    I = T.dense_fixed(3)\n"
    "    J = T.sparse_variable(I, (4, 5), (p, q))\n"
    "    K = T.dense_fixed(32)\n"
    "    a_1 = T.match_sparse_buffer(a, (I, J))\n"
    "    s_1 = T.match_sparse_buffer(s, (I, J))\n"
    "    t_1 = T.alloc_sparse_buffer((I, J), \"float32\")\n"
    "    with T.sp_iter([I, J, K], \"SSR\", \"t\") as [i, j, k]:\n"
    "        with T.init():\n"
    "            t_1[i, j] = T.float32(0.0)\n"
    "        t_1[i, j] = t_1[i, j] + x[i, k] * y[j, k]\n"
    "    with T.sp_iter([I, J], \"SS\", \"s\") as [i, j]:\n"
    "        s_1[i, j] = a_1[i, j] * t_1[i, j]\n";

target::cpu machine() { return target::named("haswell"); }

std::vector<float> results(const ir::function& f) {
  std::vector<std::int32_t> p{0, 2, 2, 5}, q{1, 3, 0, 2, 3};
  std::vector<float> a{1, 2, 3, 4, 5}, x(96), y(128), s(5, 99);
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>(at % 7) - 3;
  for (std::size_t at = 0; at < y.size(); ++at) y[at] = static_cast<float>(at % 5) - 2;
  ir::interpret(f, {{p.data(), {}},
                    {q.data(), {}},
                    {a.data(), {}},
                    {x.data(), {}},
                    {y.data(), {}},
                    {s.data(), {}}});
  return s;
}

}  // namespace

TEST_CASE("fuse_elements: the product of a sampled one and its scaling are loops over elements") {
  const target::cpu cpu = machine();
  const ir::function f = sparse::with_iterations(ir::parse_sparse(deep));
  const std::vector<float> expected = results(f);
  for (const int threads : {1, 2}) {
    schedule s(f, 1);
    REQUIRE(space::has_results_of_elements(s));
    space::chooser choices;
    REQUIRE(space::fuse_elements(s, {&cpu, threads}, choices));
    const std::string shown = s.show(), trace = s.trace().print();
    CAPTURE(shown);
    CHECK(trace.find("sch.sparse_fuse(") != std::string::npos);
    CHECK(shown.find("J_parent") != std::string::npos);
    CHECK(shown.find("\"tilewright.sums_together\": ") != std::string::npos);
    CHECK((shown.find("T.parallel(") != std::string::npos) == (threads > 1));
    CHECK(results(s.function()) == expected);
    schedule again(f, 1);
    s.trace().apply_to(again);
    CHECK(ir::equal(again.function(), s.function()));
  }
}

TEST_CASE("fuse_elements: sums over rows, functions without iterations, and changed ones stay") {
  const target::cpu cpu = machine();
  space::chooser choices;
  const auto stays = [&](schedule s) {
    const std::string before = s.show();
    CHECK_FALSE(space::has_results_of_elements(s));
    CHECK_FALSE(space::fuse_elements(s, {&cpu, 1}, choices));
    CHECK(s.show() == before);
  };
  stays(schedule(sparse_program::function(product)));
  stays(schedule(sparse_program::function(sampled + product)));
  stays(schedule(sparse::lower(ir::parse_sparse(deep))));
  schedule changed(sparse_program::function(sampled));
  changed.parallel(changed.get_loops(changed.get_block("s_o"))[0]);
  stays(changed);
  CHECK(space::has_results_of_elements(schedule(sparse_program::function(sampled))));
}

TEST_CASE(
    "fuse_elements: the default space draws it, and compiles and computes the same either way") {
  const ir::function f = sparse::with_iterations(ir::parse_sparse(deep));
  const std::vector<float> expected = results(f);
  const target::cpu cpu = machine();
  for (const int threads : {1, 2}) {
    const space::context where{&cpu, threads};
    int fused = 0, rows = 0;
    for (const schedule& s : space::default_cpu().sketches(f, where, 1)) {
      const bool one_loop = traces::mentions(s, "sch.sparse_fuse(");
      (one_loop ? fused : rows) += 1;
      CAPTURE(s.trace().print());
      CHECK(results(s.function()) == expected);
    }
    CHECK(fused > 0);
    CHECK(rows > 0);
  }
}
