#include <tilewright/pass/gpu/unroll_registers.hpp>

#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// A thread keeps `rows` sums in registers and goes over `depth` steps; `note` is an annotation of the grid.
ir::function sums(int rows, int depth, const std::string& note = "") {
  const auto text = [](int n) { return std::to_string(n); };
  return ir::parse(
      "@T.prim_func\ndef main(A: T.Buffer((" + text(32 * rows) + ", " + text(depth) +
      "), \"float32\"), B: T.Buffer((" + text(32 * rows) + ",), \"float32\")):\n" +
      "    C = T.alloc_buffer((" + text(32 * rows) + ",), \"float32\", scope=\"local\")\n" +
      "    for t in T.thread_binding(32, thread=\"threadIdx.x\"" + note + "):\n" +
      "        for k, i in T.grid(" + text(depth) + ", " + text(rows) + "):\n" +
      "            with T.block(\"C\"):\n" + "                vi = T.axis.spatial(" +
      text(32 * rows) + ", t * " + text(rows) + " + i)\n" + "                vk = T.axis.reduce(" +
      text(depth) + ", k)\n" + "                with T.init():\n" +
      "                    C[vi] = T.float32(0)\n" + "                C[vi] = C[vi] + A[vi, vk]\n" +
      "        for i in range(" + text(rows) + "):\n" + "            with T.block(\"B\"):\n" +
      "                vi = T.axis.spatial(" + text(32 * rows) + ", t * " + text(rows) + " + i)\n" +
      "                B[vi] = C[vi]\n");
}

ir::function lowered(const ir::function& f) { return pass::lower(f, target::named_gpu("sm_80")); }

}  // namespace

TEST_CASE("unroll_registers: loops over a thread's registers are written out, others stay") {
  const ir::function f = sums(4, 16), g = lowered(f);
  threads::check_same(f, g);
  CHECK(threads::count(g, "T.unroll(4)") == 3);
  CHECK(threads::count(g, "T.serial(16") == 1);
  CHECK(threads::count(g, "tilewright.rolled") == 0);
}

TEST_CASE("unroll_registers: an annotation of the grid asks for the loops inside") {
  const std::string asks = ", annotations={\"pragma_auto_unroll_max_step\": 64}";
  const ir::function f = sums(4, 16, asks), g = lowered(f);
  threads::check_same(f, g);
  CHECK(threads::count(g, "T.unroll(16") == 1);  // 4 * 16 statements
  const ir::function h = lowered(sums(4, 17, asks));
  CHECK(threads::count(h, "T.serial(17") == 1);
}

TEST_CASE("unroll_registers: nothing is written out beyond the limit") {
  const ir::function f = lowered(sums(4, 16));
  pass::register_limits few;
  few.max_statements = 3;
  const ir::function g = pass::unroll_registers(f, few);
  threads::check_same(f, g);
  CHECK(threads::count(g, "T.unroll(") == 0);
  CHECK(threads::count(g, "tilewright.rolled") > 0);
}
