#include <tilewright/schedule/primitive/loops/merge.hpp>

#include <string>
#include <utility>

#include <tilewright/ir/text/parse.hpp>

#include "../../check_schedule.hpp"

using namespace tilewright;

namespace {

/// Two nests over 16 x 8; the second block stores `value`.
ir::function two_nests(const std::string& value, const std::string& second = "C[vi, vj]") {
  return ir::parse(
      "@T.prim_func\n"
      "def main(A: T.Buffer((16, 8), \"int32\"), B: T.Buffer((16, 8), \"int32\"), C: T.Buffer((16, "
      "8), \"int32\")):\n"
      "    for i, j in T.grid(16, 8):\n"
      "        with T.block(\"B\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            B[vi, vj] = A[vi, vj] * 2\n"
      "    for i, j in T.grid(16, 8):\n"
      "        with T.block(\"C\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            " +
      second + " = " + value + "\n");
}

}  // namespace

TEST_CASE("merge: the body of one loop after that of the other") {
  const ir::function f = two_nests("B[vi, vj] + 1");
  for (const std::size_t depth : {0u, 1u}) {
    schedule s(f);
    const loop_rv b = s.get_loops(s.block("B"))[depth], c = s.get_loops(s.block("C"))[depth];
    const loop_rv merged = s.merge({b, c});
    CHECK(s.get(merged).var->name == (depth == 0 ? "i_m" : "j_m"));
    CHECK(s.get_child_blocks(merged).size() == 2);
    CHECK(s.get_loops(s.block("C")).size() == 2);
    check_meaning(s, f);
  }
}

TEST_CASE("merge: reads inside the row are fine while only the row stands still") {
  const ir::function f = two_nests("B[vi, 7 - vj] + 1");
  schedule s(f);
  const std::vector<loop_rv> b = s.get_loops(s.block("B")), c = s.get_loops(s.block("C"));
  check_refusal(s, "merge", 6, [&] { s.merge({b[1], c[1]}); });
  s.merge({b[0], c[0]});
  check_meaning(s, f);
}

TEST_CASE("merge: blocks that write the halves of rows, as far apart as the loop is long") {
  const auto halves = [](int apart) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 32), "int32"), B: T.Buffer((3, 32), "int32")):
    for i, j in T.grid(3, 16):
        with T.block("low"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj * 2]
    for i, j in T.grid(3, 16):
        with T.block("high"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj + )" +
                     std::to_string(apart) +
                     R"(] = A[vi, vj * 2 + 1]
)");
  };
  const auto outer_loops = [](schedule& s) {
    const auto low = s.split(s.get_loops(s.block("low"))[1], {infer, 4});
    const auto high = s.split(s.get_loops(s.block("high"))[1], {infer, 4});
    return std::pair{low[0], high[0]};
  };
  schedule s(halves(16));
  const std::pair<loop_rv, loop_rv> apart = outer_loops(s);
  s.merge({apart.first, apart.second});
  check_meaning(s, halves(16));
  schedule over(halves(15));
  const std::pair<loop_rv, loop_rv> met = outer_loops(over);
  check_refusal(over, "merge", 6, [&] { over.merge({met.first, met.second}); });
}

TEST_CASE("merge: readers of what other iterations write are refused") {
  for (const char* value : {"B[vi // 2, vj] + 1", "B[T.min(vi + 1, 15), vj] + 1"}) {
    CAPTURE(value);
    schedule s(two_nests(value));
    const std::vector<loop_rv> b = s.get_loops(s.block("B")), c = s.get_loops(s.block("C"));
    check_refusal(s, "merge", 6, [&] { s.merge({b[0], c[0]}); });
  }
}

TEST_CASE("merge: the list decides the order of the bodies, if dependences let it") {
  const ir::function independent = two_nests("A[vi, vj] + 1");
  schedule s(independent);
  s.merge({s.get_loops(s.block("C"))[1], s.get_loops(s.block("B"))[1]});
  CHECK(s.show().find("\"C\"") < s.show().find("\"B\""));
  check_meaning(s, independent);

  schedule t(two_nests("B[vi, vj] + 1"));
  const loop_rv b = t.get_loops(t.block("B"))[1], c = t.get_loops(t.block("C"))[1];
  check_refusal(t, "merge", 6, [&] { t.merge({c, b}); });
  schedule u(two_nests("C[vi, vj] + 1", "A[vi, vj]"));  // what the first block has read
  const loop_rv d = u.get_loops(u.block("B"))[1], e = u.get_loops(u.block("C"))[1];
  check_refusal(u, "merge", 6, [&] { u.merge({e, d}); });
}

TEST_CASE("merge: requirements by number") {
  const ir::function f = two_nests("B[vi, vj] + 1");
  schedule s(f);
  const std::vector<loop_rv> b = s.get_loops(s.block("B")), c = s.get_loops(s.block("C"));
  check_refusal(s, "merge", 1, [&] { s.merge({b[0]}); });
  check_refusal(s, "merge", 1, [&] { s.merge({b[0], b[0]}); });
  check_refusal(s, "merge", 1, [&] { s.merge({b[0], b[1]}); });
  check_refusal(s, "merge", 2, [&] { s.merge({b[0], c[1]}); });
  s.annotate(c[0], "note", 1);
  check_refusal(s, "merge", 4, [&] { s.merge({b[0], c[0]}); });
  s.unannotate(c[0], "note");
  s.bind(c[0], "threadIdx.x");
  check_refusal(s, "merge", 4, [&] { s.merge({b[0], c[0]}); });
  schedule t(f);
  const std::vector<loop_rv> d = t.get_loops(t.block("B"));
  const auto halves = t.split(t.get_loops(t.block("C"))[0], {4, 4});
  const loop_rv outer = halves[0];
  check_refusal(t, "merge", 5, [&] { t.merge({d[0], outer}); });
}

TEST_CASE("merge: a nest below an if or a let") {
  for (const char* around : {"if A[0] > 0:", "with T.LetStmt(A[0]) as x:"}) {
    schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    )" + std::string(around) +
                         R"(
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
)"));
    const loop_rv b = s.get_loops(s.block("B"))[0], c = s.get_loops(s.block("C"))[0];
    check_refusal(s, "merge", 3, [&] { s.merge({b, c}); });
    check_refusal(s, "merge", 3, [&] { s.merge({c, b}); });
  }
}
