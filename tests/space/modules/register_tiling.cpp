#include <tilewright/space/modules/register_tiling.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

constexpr auto across = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "N", "K"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(j, k));
    });

constexpr auto heads =
    kernel<"heads">([](in<"A", float, "M", "H", "K"> A, in<"B", float, "N", "H", "K"> B,
                       out<"C", float, "H", "M", "N"> C) {
      using axes::b, axes::i, axes::j, axes::k;
      return C(b, i, j) = sum<k>(A(i, b, k) * B(j, b, k));
    });

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++out;
  return out;
}

}  // namespace

TEST_CASE("the first sketch keeps accumulators in registers, whatever the number of columns") {
  if (!backend::compiler_available()) return;
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  for (const std::int64_t columns : {24, 35, 40, 51, 56, 63, 64, 104, 120}) {
    const ir::function f = reify(product, {{"M", 206}, {"N", columns}, {"K", 220}});
    const schedule first = space::default_cpu().sketches(f, where, 1).at(0);
    const std::string code = backend::inspect(pass::lower_prepared(first.function(), cpu).main, cpu,
                                              backend::stage::assembly);
    CAPTURE(columns);
    CHECK(count(code, "(%rsp), %zmm") < 4);  // at most something that is the same in all steps
    CHECK(count(code, "vfmadd") > 8);
  }
}

TEST_CASE("tiles with a masked last vector leave registers for its operand") {
  if (!backend::compiler_available()) return;
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  const ir::function f = reify(product, {{"M", 286}, {"N", 37}, {"K", 262}});
  const schedule first = space::default_cpu().sketches(f, where, 1).at(0);
  const std::string code =
      backend::inspect(pass::lower(first.function(), cpu), cpu, backend::stage::assembly);
  CHECK(count(code, "(%rsp), %zmm") == 0);
  CHECK(first.show().find("T.unroll(6)") != std::string::npos);
}

TEST_CASE("few rows take tall tiles where all of an operand streams past them") {
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  const auto first = [&](std::int64_t rows, std::int64_t depth) {
    const ir::function f = reify(product, {{"M", rows}, {"N", 313}, {"K", depth}});
    return space::default_cpu().sketches(f, where, 1).at(0).show();
  };
  CHECK(first(16, 398).find("T.unroll(8)") != std::string::npos);
  CHECK(first(16, 8).find("T.unroll(4)") != std::string::npos);  // in the first-level cache
  CHECK(first(48, 398).find("T.unroll(4)") == std::string::npos);
}

TEST_CASE("of an operand that calls transpose, a few columns serve all rows before the next ones") {
  const target::cpu cpu = target::named("znver4");
  const ir::function f = reify(across, {{"M", 206}, {"N", 300}, {"K", 120}});
  // whether the panel of B stands in a loop over columns that is the outermost one
  const auto panels = [&](int threads) {
    space::context where;
    where.cpu = &cpu;
    where.threads = threads;
    schedule first = space::default_cpu().sketches(f, where, 1).at(0);
    const std::vector<loop_rv> loops = first.get_loops(first.get_block("B_global"));
    const std::vector<loop_rv> of_product = first.get_loops(first.get_block("C_update"));
    return first.get(loops[0]).var.same(first.get(of_product[0]).var) &&
           first.get(loops[0]).var->name.rfind("j", 0) == 0;
  };
  CHECK(panels(1));
  CHECK_FALSE(panels(2));
}

TEST_CASE("an operand is transposed by the threads that use it, where each panel has one") {
  const target::cpu cpu = target::named("znver4");
  const auto first = [&](const ir::function& f, int threads) {
    space::context where;
    where.cpu = &cpu;
    where.threads = threads;
    return space::default_cpu().sketches(f, where, 1).at(0);
  };
  // whether the panel of B stands in a loop on threads together with the product
  const auto in_tasks = [&](const ir::function& f, int threads) {
    schedule s = first(f, threads);
    const ir::loop_node& of_panel = s.get(s.get_loops(s.get_block("B_global")).front());
    const ir::loop_node& of_sums = s.get(s.get_loops(s.get_block("C_update")).front());
    return of_panel.var.same(of_sums.var) && of_panel.loop == ir::loop_kind::parallel;
  };
  const ir::function twelve = reify(heads, {{"M", 128}, {"N", 128}, {"K", 64}, {"H", 12}});
  CHECK(in_tasks(twelve, 2));
  CHECK_FALSE(in_tasks(twelve, 12));  // 24 panels are too few
  CHECK_FALSE(in_tasks(reify(across, {{"M", 206}, {"N", 300}, {"K", 120}}), 2));
  CHECK(in_tasks(reify(across, {{"M", 206}, {"N", 1000}, {"K", 120}}), 2));
  const ir::function small = reify(heads, {{"M", 19}, {"N", 33}, {"K", 21}, {"H", 9}});
  check_meaning(first(small, 2), small);
}

TEST_CASE("panels of a few columns keep the meaning, whatever divides") {
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  for (const std::int64_t n : {7, 33, 64}) {
    const ir::function f = reify(across, {{"M", 19}, {"N", n}, {"K", 21}});
    for (const schedule& s : space::default_cpu().sketches(f, where, 1)) check_meaning(s, f);
  }
}

TEST_CASE("coordinates of points are shuffled out of whole vectors first of all") {
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  const ir::function f = ir::parse(R"(@T.prim_func
def main(R: T.Buffer((3, 3), "float32"), P: T.Buffer((50, 3), "float32"), Q: T.Buffer((50, 3), "float32")):
    for n, i, j in T.grid(50, 3, 3):
        with T.block("Q"):
            vn, vi, vj = T.axis.remap("SSR", [n, i, j])
            with T.init():
                Q[vn, vi] = T.float32(0)
            Q[vn, vi] = Q[vn, vi] + R[vi, vj] * P[vn, vj]
)");
  const std::vector<schedule> all = space::default_cpu().sketches(f, where, 1);
  CHECK_FALSE(traces::mentions(all.at(0), "P_global"));
  for (const schedule& s : all) check_meaning(s, f);
}

namespace {

/// The trace of the first sketch for 3 x 3 windows of each channel, channels last, that are `dilated`; tiles have
/// results of the 128 rows, and steps along the columns of the image follow each other.
std::string windows(int steps, int dilated) {
  const std::string n = std::to_string(steps), padded = std::to_string(steps + 2 * dilated),
                    by = std::to_string(dilated);
  const ir::function f =
      ir::parse("@T.prim_func\ndef main(X: T.Buffer((136, " + padded +
                ", 32), \"float32\"), F: T.Buffer((3, 3, 32), \"float32\"), Y: T.Buffer((128, " +
                n + ", 32), \"float32\")):\n    for p, q, c, r, s in T.grid(128, " + n +
                ", 32, 3, 3):\n        with T.block(\"Y\"):\n"
                "            vp, vq, vc, vr, vs = T.axis.remap(\"SSSRR\", [p, q, c, r, s])\n"
                "            with T.init():\n                Y[vp, vq, vc] = T.float32(0)\n"
                "            Y[vp, vq, vc] = Y[vp, vq, vc] + X[vp + vr * " +
                by + ", vq + vs * " + by + ", vc] * F[vr, vs, vc]\n");
  const target::cpu cpu = target::named("znver4");
  space::context where;
  where.cpu = &cpu;
  return space::default_cpu().sketches(f, where, 1).at(0).trace().print();
}

}  // namespace

TEST_CASE("windows that have rows in common follow each other first of all") {
  CHECK(windows(56, 1).find("decision=[7, 8]") != std::string::npos);
  CHECK(windows(14, 1).find("decision=[2, 7]") != std::string::npos);
  CHECK(windows(74, 1).find("decision=[37, 2]") != std::string::npos);
  CHECK(windows(74, 2).find("decision=[74, 1]") != std::string::npos);  // two steps have none
  CHECK(windows(56, 2).find("decision=[7, 8]") != std::string::npos);
  CHECK(windows(53, 1).find("decision=[53, 1]") != std::string::npos);
}
