#include <tilewright/impl/space/chains/definition_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Definitions `target = value` over n, in turn; `declared` are parameters and buffers.
ir::function definitions(const std::string& parameters, const std::string& buffers,
                         const std::vector<std::pair<std::string, std::string>>& all, int length) {
  const std::string n = std::to_string(length);
  std::string text = "@T.prim_func\ndef main(" + parameters + "):\n" + buffers;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += "    for n in range(" + n + "):\n        with T.block(\"D" + std::to_string(i) +
            "\"):\n            vn = T.axis.spatial(" + n + ", n)\n            " + all[i].first +
            " = " + all[i].second + "\n";
  return ir::parse(text);
}

std::string tensor(const std::string& name, const std::string& shape) {
  return name + ": T.Buffer((" + shape + "), \"float32\")";
}

std::size_t nests(const schedule& s) {
  const ir::seq_node* all = ir::as_seq(ir::root_block(s.function())->body);
  return all ? all->stmts.size() : 1;
}

std::size_t most_nests(const std::vector<schedule>& all) {
  std::size_t out = 0;
  for (const schedule& s : all) out = std::max(out, nests(s));
  return out;
}

/// Of points: two coordinates turned, one moved.
ir::function turned(int length) {
  const std::string n = std::to_string(length);
  return definitions(tensor("P", n + ", 3") + ", " + tensor("R", n + ", 3"), "",
                     {{"R[vn, 0]", "P[vn, 0] * T.float32(0.5) - P[vn, 1]"},
                      {"R[vn, 2]", "P[vn, 2] + T.float32(1)"},
                      {"R[vn, 1]", "P[vn, 0] + P[vn, 1] * T.float32(0.5)"}},
                     length);
}

}  // namespace

TEST_CASE("parts of one result are one pass first, and passes apart as a choice") {
  for (const int threads : {1, 4})
    for (const int length : {64, 77}) {
      const ir::function f = turned(length);
      const std::vector<schedule> sketches =
          space::default_cpu().sketches(f, draws::haswell(threads), 1);
      INFO(sketches.front().show());
      CHECK(nests(sketches.front()) == 1);
      CHECK(most_nests(sketches) == 3);
      draws::check(f, sketches, 8);
    }
}

TEST_CASE("what the parts share goes with them, and so do results that are updated in place") {
  const std::string n = "61";
  const ir::function f = definitions(tensor("S", n + ", 2") + ", " + tensor("Z", n),
                                     "    K = T.alloc_buffer((61,), \"float32\")\n",
                                     {{"K[vn]", "T.exp(S[vn, 1] * Z[vn])"},
                                      {"S[vn, 0]", "S[vn, 0] + K[vn] * S[vn, 1]"},
                                      {"S[vn, 1]", "S[vn, 1] - K[vn] * T.float32(0.25)"}},
                                     61);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  CHECK(nests(sketches.front()) == 1);
  draws::check(f, sketches, 8);
}

TEST_CASE("halves of rows are parts, too") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((5, 80), "float32"), Y: T.Buffer((5, 80), "float32")):
    for b, n in T.grid(5, 40):
        with T.block("low"):
            vb, vn = T.axis.remap("SS", [b, n])
            Y[vb, vn] = X[vb, vn * 2] + X[vb, vn * 2 + 1]
    for b, n in T.grid(5, 40):
        with T.block("high"):
            vb, vn = T.axis.remap("SS", [b, n])
            Y[vb, vn + 40] = X[vb, vn * 2] - X[vb, vn * 2 + 1]
)");
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(4), 1);
  CHECK(nests(sketches.front()) == 1);
  draws::check(f, sketches, 8);
}

TEST_CASE("definitions stay apart that read neighbours of parts, or have other extents") {
  const std::string p = tensor("X", "65") + ", " + tensor("Y", "130") + ", " + tensor("Z", "64");
  const ir::function neighbours = definitions(
      p, "", {{"Y[vn * 2]", "X[vn]"}, {"Y[vn * 2 + 1]", "X[vn + 1]"}, {"Z[vn]", "Y[vn + 2]"}}, 64);
  const std::vector<schedule> some = space::default_cpu().sketches(neighbours, draws::haswell(), 1);
  CHECK(nests(some.front()) >= 2);
  draws::check(neighbours, some, 8);
  const ir::function lengths = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((64,), "float32"), Y: T.Buffer((96,), "float32")):
    for n in range(64):
        with T.block("A"):
            vn = T.axis.spatial(64, n)
            Y[vn] = X[vn]
    for n in range(32):
        with T.block("B"):
            vn = T.axis.spatial(32, n)
            Y[vn + 64] = X[vn] * T.float32(2)
)");
  const std::vector<schedule> others = space::default_cpu().sketches(lengths, draws::haswell(), 1);
  CHECK(nests(others.front()) == 2);
  draws::check(lengths, others, 4);
}

TEST_CASE("rows of several lengths beside each other are one pass over rows, first") {
  // Y[i, :] = A[i, :], then B[i, :] * 2, then C[i, :]
  const auto beside = [](int rows, const std::vector<int>& lengths, bool same_result) {
    int columns = 0;
    for (const int l : lengths) columns += l;
    std::string parameters = tensor("Y", std::to_string(rows) + ", " + std::to_string(columns)),
                body;
    for (std::size_t i = 0, begin = 0; i < lengths.size(); ++i) {
      const std::string name(1, static_cast<char>('A' + i)),
          n = std::to_string(lengths[i]), target = same_result || i == 0 ? "Y" : "Z";
      parameters += ", " + tensor(name, std::to_string(rows) + ", " + n);
      body += "    for i, j in T.grid(" + std::to_string(rows) + ", " + n +
              "):\n        with T.block(\"D" + std::to_string(i) +
              "\"):\n            vi, vj = T.axis.remap(\"SS\", [i, j])\n            " + target +
              "[vi, vj + " + std::to_string(begin) + "] = " + name + "[vi, vj] * T.float32(" +
              std::to_string(i + 1) + ")\n";
      begin += static_cast<std::size_t>(lengths[i]);
    }
    if (!same_result)
      parameters += ", " + tensor("Z", std::to_string(rows) + ", " + std::to_string(columns));
    return ir::parse("@T.prim_func\ndef main(" + parameters + "):\n" + body);
  };
  for (const int threads : {1, 4})
    for (const std::vector<int>& lengths :
         {std::vector{37, 64, 19}, std::vector{16, 16, 40}, std::vector{100, 5}}) {
      const ir::function f = beside(30, lengths, true);
      const std::vector<schedule> sketches =
          space::default_cpu().sketches(f, draws::haswell(threads), 1);
      INFO(sketches.front().show());
      CHECK(nests(sketches.front()) == 1);
      CHECK(most_nests(sketches) == lengths.size());
      draws::check(f, sketches, 6);
    }
  const ir::function apart = beside(30, {37, 64}, false);
  const std::vector<schedule> sketches = space::default_cpu().sketches(apart, draws::haswell(), 1);
  CHECK(nests(sketches.front()) == 2);
}
