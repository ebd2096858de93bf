#include <tilewright/space/modules/fuse_rows.hpp>

#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Mean and sum of squared deviations of windows of three elements; both are outputs, or the second alone.
ir::function windows(int length, bool mean_is_output) {
  const std::string n = std::to_string(length), buffer = "T.Buffer((" + n + ",), \"float32\")",
                    own = " = T.alloc_buffer((" + n + ",), \"float32\")\n";
  std::string text = "@T.prim_func\ndef main(X: T.Buffer((" + std::to_string(length + 2) +
                     ",), \"float32\"), " + (mean_is_output ? "A: " + buffer + ", " : "") +
                     "B: " + buffer + "):\n    S" + own + "    Q" + own;
  if (!mean_is_output) text += "    A" + own;
  const auto sum = [&](const std::string& to, const std::string& value) {
    text += "    for n, w in T.grid(" + n + ", 3):\n        with T.block(\"" + to +
            "\"):\n            vn, vw = T.axis.remap(\"SR\", [n, w])\n            with T.init():\n"
            "                " +
            to + "[vn] = T.float32(0)\n            " + to + "[vn] = " + to + "[vn] + " + value +
            "\n";
  };
  const auto element = [&](const std::string& to, const std::string& value) {
    text += "    for n in T.serial(" + n + "):\n        with T.block(\"" + to +
            "\"):\n            vn = T.axis.spatial(" + n + ", n)\n            " + to +
            "[vn] = " + value + "\n";
  };
  sum("S", "X[vn + vw]");
  element("A", "T.exp(S[vn] * T.float32(0.25))");
  sum("Q", "(X[vn + vw] - A[vn]) * (X[vn + vw] - A[vn])");
  element("B", "T.sqrt(Q[vn] + T.float32(1))");
  return ir::parse(text);
}

/// Nests that the root block holds one after the other.
std::size_t nests(const schedule& s) {
  const ir::seq_node* all = ir::as_seq(ir::root_block(s.function())->body);
  return all ? all->stmts.size() : 1;
}

}  // namespace

TEST_CASE("a long chain of sums of windows is one pass in parts first, and passes apart later") {
  for (const bool mean_is_output : {true, false})
    for (const int threads : {1, 4}) {
      const ir::function f = windows(9001, mean_is_output);
      const std::vector<schedule> sketches =
          space::default_cpu().sketches(f, draws::haswell(threads), 1);
      CAPTURE(mean_is_output);
      INFO(sketches.front().show());
      CHECK(nests(sketches.front()) == 1);
      std::size_t most = 0;
      for (const schedule& s : sketches) most = std::max(most, nests(s));
      CHECK(most >= 3);
      draws::check(f, sketches, 6);
    }
}

TEST_CASE("short chains of sums stay as they are") {
  for (const schedule& s : space::default_cpu().sketches(windows(500, true), draws::haswell(), 1))
    CHECK(nests(s) > 1);
}
