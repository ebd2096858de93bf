#include <tilewright/pass/vector/vectorize_staged.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/order_dimensions.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& machine() {
  static const target::cpu cpu = target::named("haswell");
  return cpu;
}

/// Channels one after the other, as schedules leave them that compute a tile of one channel at a time.
function channels(const std::string& update) {
  return parse(R"(
@T.prim_func
def main(X: T.Buffer((30, 40, 3), "float32"), F: T.Buffer((3, 3, 3), "float32"), Y: T.Buffer((28, 19, 3), "float32")):
    S = T.alloc_buffer((28, 19, 3), "float32")
    P = T.alloc_buffer((30, 40, 3), "float32")
    for i, c in T.grid(28, 3):
        for a, b in T.grid(3, 40):
            with T.block("P"):
                vi = T.axis.spatial(30, i + a)
                vj, vc = T.axis.remap("SS", [b, c])
                P[vi, vj, vc] = X[vi, vj, vc] * T.float32(2)
        for r, q, j in T.grid(3, 3, 19):
            with T.block("S"):
                vi, vj, vc = T.axis.remap("SSS", [i, j, c])
                vr, vq = T.axis.remap("RR", [r, q])
                with T.init():
                    S[vi, vj, vc] = T.float32(0)
                )" +
               update + R"(
        for j in range(19):
            with T.block("Y"):
                vi, vj, vc = T.axis.remap("SSS", [i, j, c])
                Y[vi, vj, vc] = S[vi, vj, vc] + T.float32(1)
)");
}

function compact(const function& f) {
  return pass::compact_buffers(pass::order_dimensions(pass::simplify_loops(pass::lower_blocks(f))));
}

int vectors(const function& f) {
  const function g = pass::vectorize_staged(f, machine());
  check_same(f, g);
  check_same(f, pass::order_dimensions(g));
  return count_loops(g.body, loop_kind::vectorized);
}

/// Loops over sums, in a function that allocates S.
function loops(const std::string& shape, const std::string& statements) {
  return parse(
      "@T.prim_func\ndef main(X: T.Buffer((40, 90), \"float32\"), Y: T.Buffer((40, 40), "
      "\"float32\")):\n    for i in range(40):\n        S = T.decl_buffer(" +
      shape + ", \"float32\", scope=\"local\")\n" + statements);
}

constexpr const char* reduction = "T.serial(4, annotations={\"tilewright.reduction\": 1})";

}  // namespace

TEST_CASE(
    "vectorize_staged: sums of one channel at a time lie side by side in buffers of one channel") {
  const function f =
      channels("S[vi, vj, vc] = S[vi, vj, vc] + P[vi + vr, vj * 2 + vq, vc] * F[vr, vq, vc]");
  CHECK(vectors(compact(f)) == 1);
  check_same(f, pass::lower(f, machine()), 1e-5);
  // what is read every fifth element is no vector
  CHECK(vectors(compact(channels(
            "S[vi, vj, vc] = S[vi, vj, vc] + X[vi + vr, vj * 2 + vq, vc] * F[vr, vq, vc]"))) == 0);
}

TEST_CASE(
    "vectorize_staged: another dimension of a buffer of the function's own becomes its last") {
  const auto row = [](const std::string& shape, const std::string& element, const std::string& loop,
                      const std::string& value) {
    return loops(shape,
                 "        for j0, c0 in T.grid(8, 2):\n            S[" + element +
                     "] = T.float32(0)\n"
                     "        for k in " +
                     std::string(reduction) +
                     ":\n            for c0 in range(2):\n                for j0 in " + loop +
                     ":\n                    S[" + element + "] = S[" + element + "] + " + value +
                     "\n        for j0, c0 in T.grid(8, 2):\n            Y[i, j0 * 2 + c0] = S[" +
                     element + "]\n");
  };
  const std::string product = "X[i, j0 + k] * X[k, c0]";
  const function f = row("(8, 2)", "j0, c0", "range(8)", product);
  CHECK(vectors(f) == 1);
  check_same(f, pass::lower(f, machine()), 1e-5);
  CHECK(vectors(row("(2, 8)", "c0, j0", "range(8)", product)) == 1);
  CHECK(vectors(row("(9, 2)", "j0 + c0, 0", "range(8)", product)) == 1);
  // lanes that step by two, loops that are written out, and lanes that are read apart
  CHECK(vectors(row("(16, 2)", "j0 * 2, c0", "range(8)", product)) == 0);
  CHECK(vectors(row("(8, 2)", "j0, c0", "T.unroll(8)", product)) == 0);
  CHECK(vectors(row("(8, 2)", "j0, c0", "range(8)", "X[j0, k]")) == 0);
  CHECK(vectors(row("(8, 2)", "j0, c0", "range(8)", "S[j0, 0]")) == 0);
  CHECK(vectors(row("(8, 2)", "j0, c0", "range(3)", product)) == 0);
}

TEST_CASE("vectorize_staged: many terms pay for results that lie apart") {
  const auto column = [](int terms, const std::string& sum, int results = 24) {
    return loops("(40, 3)",
                 "        for j, c in T.grid(40, 3):\n            S[j, c] = X[i, j + c]\n"
                 "        for j in range(" +
                     std::to_string(results) + "):\n            for k in T.serial(" +
                     std::to_string(terms) +
                     ", annotations={\"tilewright.reduction\": 1}):\n"
                     "                Y[j, i] = " +
                     sum + "\n");
  };
  const function f = column(16, "Y[j, i] + X[k, i] * S[j + k, 1]");
  CHECK(vectors(f) == 1);
  check_same(f, pass::lower(f, machine()), 1e-5);
  CHECK(vectors(column(8, "Y[j, i] + X[k, i] * S[j + k, 1]")) == 0);
  target::cpu small = machine();
  small.vector_registers = 4;
  CHECK(count_loops(pass::vectorize_staged(f, small).body, loop_kind::vectorized) == 0);
  // by as many elements as vectors are still loaded whole
  CHECK(vectors(column(16, "Y[j, i] + S[j * 4 + k, 1]", 6)) == 1);
  CHECK(vectors(column(16, "Y[j, i] + S[j * 5 + k, 1]", 5)) == 0);
}

TEST_CASE("vectorize_staged: lanes add to elements of their own") {
  CHECK(vectors(loops("(10,)",
                      "        for j in range(10):\n            S[j] = T.float32(0)\n"
                      "        for k in " +
                          std::string(reduction) +
                          ":\n            for j in range(8):\n"
                          "                for c in range(3):\n"
                          "                    S[j + c] = S[j + c] + X[i, j + k]\n"
                          "        for j in range(10):\n"
                          "            Y[i, j] = S[j]\n")) == 0);
}

TEST_CASE("vectorize_staged: terms that fill vectors of their own are left to the sums") {
  const auto dot = [](int terms, const std::string& other) {
    return loops("(8,)",
                 "        for j in range(8):\n            S[j] = T.float32(0)\n"
                 "        for j in range(8):\n            for k in T.serial(" +
                     std::to_string(terms) +
                     ", annotations={\"tilewright.reduction\": 1}):\n"
                     "                S[j] = S[j] + " +
                     other + "\n        for j in range(8):\n            Y[i, j] = S[j]\n");
  };
  CHECK(vectors(dot(8, "X[i, j + k]")) == 1);
  CHECK(vectors(dot(32, "X[i, j + k]")) == 0);
  CHECK(vectors(dot(32, "X[i, j * 2 + k * 2]")) == 1);
  CHECK(vectors(dot(32, "X[j, k * 2]")) == 0);
}

TEST_CASE("vectorize_staged: conditions that load nothing become masks") {
  const auto guarded = [](const std::string& condition) {
    return loops("(16,)",
                 "        for j in range(16):\n            S[j] = T.float32(0)\n"
                 "        for j in range(16):\n            for k in " +
                     std::string(reduction) + ":\n                if " + condition +
                     ":\n                    S[j] = S[j] + X[i, j * 2 + k]\n"
                     "        for j in range(16):\n            Y[i, j] = S[j]\n");
  };
  const function f = guarded("j + k < 15");
  CHECK(vectors(f) == 1);
  check_same(f, pass::lower(f, machine()), 1e-5);
  CHECK(vectors(guarded("X[i, j] < T.float32(0)")) == 0);
}
