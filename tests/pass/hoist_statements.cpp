#include <tilewright/pass/hoist_statements.hpp>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

constexpr const char* head = R"(@T.prim_func
def main(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6, 8), "float32")):
    T_ = T.alloc_buffer((6,))
    U = T.alloc_buffer((6,))
)";

/// A function over X and Y, with room for two rows of numbers, T_ and U.
function program(const std::string& body) { return parse(head + body); }

/// How often blocks of that name run.
std::int64_t runs(const stmt& s, const std::string& name, std::int64_t times = 1) {
  if (const loop_node* l = as_loop(s)) return runs(l->body, name, times * as_int(l->extent));
  if (const if_node* n = as_if(s)) return runs(n->then_body, name, times);
  if (const block_realize_node* r = as_realize(s))
    return r->block->name == name ? times : runs(r->block->body, name, times);
  std::int64_t out = 0;
  if (const seq_node* all = as_seq(s))
    for (const stmt& each : all->stmts) out += runs(each, name, times);
  return out;
}

/// How often blocks T run after the pass, which keeps what the function computes.
std::int64_t sums(const function& f) {
  const function g = pass::hoist_statements(f);
  check_same(f, g);
  check_same(f, pass::lower(f, target::named("haswell")), 1e-6);
  CHECK(equal(pass::hoist_statements(g), g));
  return runs(g.body, "T");
}

/// T_[i] = the sum of row i of X, at the depth of loops that the indent says.
std::string row_sum(const std::string& indent, const std::string& row = "i") {
  return indent + "for k in range(8):\n" + indent + "    with T.block(\"T\"):\n" + indent +
         "        vi = T.axis.spatial(6, " + row + ")\n" + indent +
         "        vk = T.axis.reduce(8, k)\n" + indent + "        with T.init():\n" + indent +
         "            T_[vi] = T.float32(0)\n" + indent + "        T_[vi] = T_[vi] + X[vi, vk]\n";
}

/// Y[i, j] = value.
std::string result(const std::string& indent, const std::string& value) {
  return indent + "with T.block(\"Y\"):\n" + indent +
         "    vi, vj = T.axis.remap(\"SS\", [i, j])\n" + indent + "    Y[vi, vj] = " + value + "\n";
}

}  // namespace

TEST_CASE("a sum of a row that each element of the row takes again is taken once") {
  const std::string inside = row_sum("            ") + result("            ", "X[vi, vj] - T_[vi]");
  for (const char* kind : {"range", "T.unroll"})
    CHECK(sums(program("    for i in range(6):\n        for j in " + std::string(kind) + "(8):\n" +
                       inside)) == 6 * 8);
  CHECK(sums(program("    for i in T.parallel(6):\n        for j in range(8):\n" + inside)) ==
        6 * 8);
}

TEST_CASE("an initialization apart from its sum leaves with it, and what reads these leaves too") {
  const function f = program(R"(
    for i in range(6):
        for j in range(8):
            with T.block("T_init"):
                vi = T.axis.spatial(6, i)
                T_[vi] = T.float32(0)
            for k in range(8):
                with T.block("T"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    T_[vi] = T_[vi] + X[vi, vk]
            with T.block("U"):
                vi = T.axis.spatial(6, i)
                U[vi] = T_[vi] * T.float32(0.125)
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] - U[vi]
)");
  CHECK(sums(f) == 6 * 8);
  const function g = pass::hoist_statements(f);
  CHECK(runs(g.body, "T_init") == 6);
  CHECK(runs(g.body, "U") == 6);
  CHECK(runs(g.body, "Y") == 6 * 8);
}

TEST_CASE("statements leave several loops, and loops of one iteration") {
  CHECK(sums(program("    for i in range(6):\n        for j0, u, j1 in T.grid(4, 1, 2):\n" +
                     row_sum("            ", "i + u") + R"(
            with T.block("Y"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(8, j0 * 2 + j1)
                Y[vi, vj] = X[vi, vj] - T_[vi]
)")) == 6 * 8);
  CHECK(sums(program("    for r in range(5):\n        for i, j in T.grid(6, 8):\n" +
                     row_sum("            ") + result("            ", "X[vi, vj] - T_[vi]"))) ==
        5 * 6 * 8);
}

TEST_CASE("what changes from iteration to iteration stays") {
  const std::string rows = "    for i in range(6):\n        for j in range(8):\n",
                    in = "            ";
  const auto with = [&](const std::string& body) { return sums(program(rows + body)); };
  const std::string use = result(in, "X[vi, vj] - T_[vi]");
  // the sum is of what the loop stores to
  const std::string change = R"(
            with T.block("T"):
                vi, vj = T.axis.remap("SS", [i, j])
                T_[vi] = Y[vi, 0] + X[vi, 0]
)";
  CHECK(with(change + use) == 6 * 8);
  // what follows changes it
  const std::string more = R"(
            with T.block("more"):
                vi, vj = T.axis.remap("SS", [i, j])
                T_[vi] = T_[vi] + X[vi, vj]
)";
  CHECK(with(row_sum(in) + more + use) == 6 * 8 * 8);
  // it goes on from what the iteration before has left
  const std::string count = R"(
            with T.block("T"):
                vi = T.axis.spatial(6, i)
                T_[vi] = T_[vi] + X[vi, 0]
)";
  const std::string start = R"(
    for i in range(6):
        with T.block("start"):
            vi = T.axis.spatial(6, i)
            T_[vi] = T.float32(0)
)";
  CHECK(sums(program(start + rows + count + use)) == 6 * 8);
  // the value of before is read first
  CHECK(sums(program(start + rows + use + row_sum(in))) == 6 * 8 * 8);
}

TEST_CASE("nothing leaves loops that run beside each other, nor what a caller sees") {
  const std::string inside = row_sum("            ") + result("            ", "X[vi, vj] - T_[vi]");
  CHECK(runs(pass::hoist_statements(
                 program("    for i in range(6):\n        for j in T.parallel(8):\n" + inside))
                 .body,
             "T") == 6 * 8 * 8);
  const function f = parse(R"(@T.prim_func
def main(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6, 8), "float32"), Z: T.Buffer((6,), "float32")):
    for i, j in T.grid(6, 8):
        with T.block("T"):
            vi = T.axis.spatial(6, i)
            Z[vi] = X[vi, 0]
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] - Z[vi]
)");
  CHECK(equal(pass::hoist_statements(f), f));
}

TEST_CASE("loops that may have no iterations keep what is in them") {
  const function f = parse(R"(@T.prim_func
def main(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6, 8), "float32")):
    T_ = T.alloc_buffer((6,))
    for i in range(6):
        for j in range(i):
            with T.block("T"):
                vi = T.axis.spatial(6, i)
                T_[vi] = X[vi, 7]
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] - T_[vi]
)");
  CHECK(equal(pass::hoist_statements(f), f));
}

TEST_CASE("what other names of a buffer may change stays") {
  const function f = parse(R"(@T.prim_func
def main(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6, 8), "float32")):
    T_ = T.alloc_buffer((6,))
    for i, j in T.grid(6, 8):
        with T.block("T"):
            vi = T.axis.spatial(6, i)
            T_[vi] = X[vi, 0]
        with T.block("more"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(T_[vi], X[vi, vj])
            T.writes(T_[vi])
            part = T.match_buffer(T_[vi:vi + 1], (1,), "float32", offset_factor=1)
            part[0] = part[0] + X[vi, vj]
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T_[vi]
)");
  const function g = pass::hoist_statements(f);
  check_same(f, g);
  CHECK(equal(g, f));
}
