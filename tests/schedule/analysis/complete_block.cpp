// Complete blocks and reductions: whether instances of a block write each element once.
#include <tilewright/impl/schedule/analysis/scope.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;
using namespace tilewright::primitive;

TEST_CASE("analysis: complete blocks and reductions write every element once") {
  const auto reasons = [](const std::string& place, const std::string& kinds) {
    const ir::function f = ir::parse(R"(@T.prim_func
def main(N: T.Buffer((8,), "int32"), B: T.Buffer((64, 8), "int32")):
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap(")" +
                                     kinds + R"(", [i, j])
            with T.init():
                B[)" + place + R"(] = 0
            B[)" + place + R"(] = B[)" +
                                     place +
                                     R"(] + vj
)");
    const block_scope scope(*ir::as_realize(f.body)->block);
    return reduction_violation(scope, 0);
  };
  CHECK(reasons("vi, 0", "SR") == 0);
  CHECK(reasons("vi // 2, 0", "SR") == 6);
  CHECK(reasons("vi // 2, vi % 2", "SR") == 0);
  CHECK(reasons("vi // 3, vi % 2", "SR") == 6);
  CHECK(reasons("vi // 3, vi % 3", "SR") == 0);
  CHECK(reasons("vi % 4 // 2, vi // 4 * 2 + vi % 2", "SR") == 0);
  CHECK(reasons("vi // 4, vi % 4 // 3", "SR") == 6);
  CHECK(reasons("7 - vi, vj", "SS") == 0);
  CHECK(reasons("vi * 4 + vj, 0", "SS") == 0);
  CHECK(reasons("vi * 3 + vj, 0", "SS") == 6);
  CHECK(reasons("vj * 8 + vi, 0", "SS") == 0);
  CHECK(reasons("vi, 0", "SS") == 6);       // no index has vj
  CHECK(reasons("N[vi], 0", "SR") == 0);    // data says, and the variable is believed
  CHECK(reasons("vi * vi, 0", "SR") == 0);  // as is what is no sum of digits
}

TEST_CASE("analysis: quotients of a domain stay below the step beyond them, wherever it begins") {
  const auto is_complete = [](int first, int end, int cut, int step) {
    const auto text = [](int n) { return std::to_string(n); };
    const ir::function f = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((64, 8), "int32")):
    for i, j in T.grid()" + text(end - first) +
                                     R"(, 3):
        with T.block("B"):
            vi = T.axis.spatial(()" + text(first) +
                                     ", " + text(end) + "), i + " + text(first) + R"()
            vj = T.axis.spatial(3, j)
            B[vi // )" + text(cut) + " + vj * " +
                                     text(step) + ", vi % " + text(cut) + "] = vj\n");
    const block_scope scope(*ir::as_realize(f.body)->block);
    return complete_violation(scope, 0) == 0;
  };
  const auto writes_once = [](int first, int end, int cut, int step) {
    std::set<std::pair<int, int>> written;
    for (int i = first; i < end; ++i)
      for (int j = 0; j < 3; ++j) written.insert({i / cut + j * step, i % cut});
    return written.size() == static_cast<std::size_t>(3 * (end - first));
  };
  int found = 0;
  for (const int cut : {2, 3, 4})
    for (int first = 0; first <= 4; ++first)
      for (int end = first + 2; end <= first + 9; ++end)
        for (int step = 1; step <= 4; ++step) {
          CAPTURE(first);
          CAPTURE(end);
          CAPTURE(cut);
          CAPTURE(step);
          const bool complete = is_complete(first, end, cut, step);
          if (complete) CHECK(writes_once(first, end, cut, step));
          if ((end - 1) / cut - first / cut < step) CHECK(complete);
          found += complete ? 1 : 0;
        }
  CHECK(found > 0);
}
