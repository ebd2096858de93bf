#include <tilewright/impl/space/tiles/broadcast_producer.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// The nest of sums over `rows` of J times E, one for each column.
std::string weighted_sums(const std::string& columns, const std::string& rows) {
  return "    for i, n in T.grid(" + columns + ", " + rows +
         "):\n"
         R"(        with T.block("G"):
            vi, vn = T.axis.remap("SR", [i, n])
            with T.init():
                G[vi] = T.float32(0)
            G[vi] = G[vi] + J[vn, vi] * E[vn]
)";
}

/// Gradients: `columns` sums of 60 elements of J times an element of E, which is `residual` of P and Q.
ir::function gradient(int columns, const std::string& residual) {
  const std::string c = std::to_string(columns);
  return ir::parse("@T.prim_func\ndef main(P: T.Buffer((60, 2), \"float32\"), J: T.Buffer((60, " +
                   c + "), \"float32\"), G: T.Buffer((" + c + R"(,), "float32")):
    E = T.alloc_buffer((60,), "float32")
    for n in range(60):
        with T.block("E"):
            vn = T.axis.spatial(60, n)
            E[vn] = )" +
                   residual + "\n" + weighted_sums(c, "60"));
}

/// @param fewest its members that differ are more than these
bool inlines(const ir::function& f, std::size_t fewest = 3) {
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(1), 1);
  CHECK(draws::check(f, sketches, 10) > fewest);
  return traces::mentions(sketches[0], "compute_inline");
}

}  // namespace

TEST_CASE("what few columns share is computed beside them, many at a time") {
  const std::string residual = "P[vn, 0] * P[vn, 1] - P[vn, 1]";
  CHECK_FALSE(inlines(gradient(6, residual)));
  CHECK(inlines(gradient(6, "P[vn, 0] - P[vn, 1]")));  // one operation
  CHECK(inlines(gradient(24, residual)));              // three vectors share it
}

TEST_CASE(
    "what a product with itself reads is computed once, whoever else reads it and however it "
    "lies") {
  const auto of = [](const std::string& indices) {
    return ir::parse(R"(@T.prim_func
def main(P: T.Buffer((50, 3), "float32"), E: T.Buffer((50,), "float32"), H: T.Buffer((6, 6), "float32"), G: T.Buffer((6,), "float32")):
    J = T.alloc_buffer((50, 6), "float32")
    for n, i in T.grid(50, 6):
        with T.block("J"):
            vn, vi = T.axis.remap("SS", [n, i])
            J[vn, vi] = T.Select(vi < 3, P[vn, vi % 3] * P[vn, 0], T.Select(vi == 4, P[vn, 1], P[vn, 2]))
    for i, j, n in T.grid(6, 6, 50):
        with T.block("H"):
            vi, vj, vn = T.axis.remap("SSR", [i, j, n])
            with T.init():
                H[vi, vj] = T.float32(0)
            H[vi, vj] = H[vi, vj] + J[vn, vi] * )" +
                     indices + "\n" + weighted_sums("6", "50"));
  };
  CHECK_FALSE(inlines(of("J[vn, vj]"), 5));
  CHECK(inlines(of("P[vn, vj % 3]"), 5));
}
