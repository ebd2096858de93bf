#include <tilewright/pass/rows/divide_rows.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>

using namespace tilewright;

namespace {

/// The loop over `rows` rows of a matrix with `elements` elements around `body`, in `tasks` tasks.
std::string rows_around(const std::string& body, std::size_t rows, std::size_t elements, int tasks,
                        const std::string& index = "int32") {
  const std::string n = std::to_string(rows), all = std::to_string(elements);
  return "# from tvm.script import tir as T\n\n@T.prim_func\n"
         "def f(p: T.Buffer((" +
         std::to_string(rows + 1) + ",), \"" + index + "\"), q: T.Buffer((" + all +
         ",), \"int32\"), A: T.Buffer((" + all +
         ",), \"float32\"), B: T.Buffer((40, 3), \"float32\"), C: T.Buffer((" + n +
         ", 3), \"float32\"), D: T.Buffer((" + n +
         ", 3), \"float32\")):\n    for i in T.parallel(" + n +
         ", annotations={\"tilewright.balance\": \"p\", \"tilewright.tasks\": " +
         std::to_string(tasks) + "}):\n" + body;
}

const std::string sum =
    "        a: T.int32 = p[i]\n"
    "        b: T.int32 = p[i + 1]\n"
    "        for j in range(3):\n"
    "            C[i, j] = T.float32(2.0)\n"
    "        for k, j in T.grid(b - a, 3):\n"
    "            C[i, j] = C[i, j] + A[a + k] * B[q[a + k], j]\n";

bool is_divided(const ir::function& f) {
  return ir::any_stmt(f.body,
                      [](const ir::stmt& s) { return s->kind == ir::stmt_kind::while_loop; });
}

ir::function divided(const std::string& text) {
  ir::function out = pass::divide_rows(ir::parse(text));
  ir::verify(out);
  return out;
}

/// What the function leaves in C and D of rows of these lengths, whose values are small whole numbers.
template <class Index>
std::vector<float> run(const ir::function& f, const std::vector<std::int64_t>& lengths) {
  std::vector<Index> p{0};
  for (const std::int64_t n : lengths) p.push_back(static_cast<Index>(p.back() + n));
  const auto all = std::max<std::size_t>(static_cast<std::size_t>(p.back()), 1);
  std::vector<std::int32_t> q(all);
  std::vector<float> a(all), b(120), out(lengths.size() * 6, 5);
  for (std::size_t e = 0; e < all; ++e) {
    q[e] = static_cast<std::int32_t>(e * 7 % 40);
    a[e] = static_cast<float>(e % 11) - 5;
  }
  for (std::size_t e = 0; e < b.size(); ++e) b[e] = static_cast<float>(e % 5) - 2;
  ir::interpret_options options;
  options.check_races = true;
  ir::interpret(f,
                {{p.data(), {}},
                 {q.data(), {}},
                 {a.data(), {}},
                 {b.data(), {}},
                 {out.data(), {}},
                 {out.data() + lengths.size() * 3, {}}},
                options);
  return out;
}

/// Lengths of rows of matrices in which few rows have most elements, or none have any.
std::vector<std::vector<std::int64_t>> uneven() {
  std::vector<std::vector<std::int64_t>> out{{0},
                                             {1},
                                             {50},
                                             {0, 0, 0, 0},
                                             {0, 0, 70, 0, 0},
                                             {1, 1, 1, 1, 1, 1, 1},
                                             {40, 1, 1, 1, 1, 1},
                                             {1, 1, 1, 1, 1, 40},
                                             {3, 0, 0, 33, 2, 0, 17, 0, 0},
                                             {0, 1},
                                             {1, 0}};
  std::vector<std::int64_t> drawn;
  for (std::int64_t n = 1; n < 30; ++n) drawn.push_back(n * n * 7 % 13 > 9 ? n : n % 3);
  out.push_back(drawn);
  return out;
}

template <class Index = std::int32_t>
void check_divided(const std::string& body, const std::string& index = "int32") {
  for (const std::vector<std::int64_t>& lengths : uneven())
    for (const int tasks : {2, 3, 8, 64}) {
      std::size_t all = 0;
      for (const std::int64_t n : lengths) all += static_cast<std::size_t>(n);
      const std::string text =
          rows_around(body, lengths.size(), std::max<std::size_t>(all, 1), tasks, index);
      CAPTURE(text);
      const ir::function f = divided(text);
      REQUIRE(is_divided(f));
      CHECK(run<Index>(f, lengths) == run<Index>(ir::parse(text), lengths));
    }
}

}  // namespace

TEST_CASE("tasks that begin and end inside of rows add up what whole rows do, and write apart") {
  check_divided(sum);
}

TEST_CASE("offsets may have 64 bits") {
  check_divided<std::int64_t>(
      "        for j in range(3):\n"
      "            C[i, j] = T.float32(0.0)\n"
      "        for j, k in T.grid(3, p[i + 1] - p[i]):\n"
      "            C[i, j] = C[i, j] + A[p[i] + T.Cast(\"int64\", k)] * B[q[p[i] + "
      "T.Cast(\"int64\", k)], j]\n",
      "int64");
}

TEST_CASE("results go on from what they were, and the largest of a row is its parts' largest") {
  check_divided(
      "        for k, j in T.grid(T.max(p[i + 1] - p[i], 0), 3):\n"
      "            C[i, j] = C[i, j] + A[p[i] + k] * B[q[p[i] + k], j]\n");
  check_divided(
      "        C[i, 1] = T.float32(-1.0)\n"
      "        for k in range(p[i + 1] - p[i]):\n"
      "            if A[p[i] + k] > T.float32(-4.0):\n"
      "                C[i, 1] = T.max(C[i, 1], A[p[i] + k] * D[i, 2])\n");
}

TEST_CASE("the only row is divided, also where its number is written out") {
  const std::string body =
      "        C[0, 1] = T.float32(0.0)\n"
      "        for k in range(p[1] - p[0]):\n"
      "            C[0, 1] = C[0, 1] + A[p[0] + k] * B[q[p[0] + k], 2]\n";
  for (const std::int64_t n : {0, 1, 90}) {
    const std::string text = rows_around(body, 1, static_cast<std::size_t>(n == 0 ? 1 : n), 7);
    const ir::function f = divided(text);
    CHECK(is_divided(f));
    CHECK(run<std::int32_t>(f, {n}) == run<std::int32_t>(ir::parse(text), {n}));
  }
  CHECK_FALSE(is_divided(divided(rows_around(body, 2, 90, 7))));
  std::string outside = rows_around(
      "        for k in range(b - a):\n"
      "            C[i, 1] = C[i, 1] + A[a + k] * B[q[a + k], 2]\n",
      1, 90, 7);
  outside.insert(outside.find("    for i in"), "    a: T.int32 = p[0]\n    b: T.int32 = p[1]\n");
  const ir::function f = divided(outside);
  CHECK(is_divided(f));
  CHECK(run<std::int32_t>(f, {90}) == run<std::int32_t>(ir::parse(outside), {90}));
}

TEST_CASE("what tasks keep apart is as large as a row of the result, for each of them") {
  const std::string text = ir::print(divided(rows_around(sum, 64, 300, 8)));
  CAPTURE(text);
  CHECK(text.find("C_rest = T.decl_buffer((8, 3), \"float32\")") != std::string::npos);
  CHECK(text.find("for t in T.parallel(8)") != std::string::npos);
  CHECK(text.find("tilewright.balance") == std::string::npos);
}

TEST_CASE("rows stay whole where a part of one would be another row") {
  const std::vector<std::pair<std::string, std::string>> bodies{
      {"two results",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k]\n"
       "            D[i, 0] = D[i, 0] + A[p[i] + k]\n"},
      {"the number of an element in its row",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k] * B[k, 0]\n"},
      {"the length of the row",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k] * B[p[i + 1] - p[i], 0]\n"},
      {"the last element",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i + 1] - 1]\n"},
      {"another row",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k] * T.Cast(\"float32\", p[i + 2])\n"},
      {"the sum so far",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k] * C[i, 0]\n"},
      {"steps of two kinds",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k]\n"
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = T.max(C[i, 0], A[p[i] + k])\n"},
      {"something made of the sum",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k]\n"
       "        C[i, 0] = C[i, 0] * T.float32(2.0)\n"},
      {"a step outside of the walk",
       "        C[i, 0] = C[i, 0] + T.float32(1.0)\n"
       "        for k in range(p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k]\n"},
      {"results of elements",
       "        for k in range(p[i + 1] - p[i]):\n"
       "            A[p[i] + k] = C[i, 0]\n"},
      {"pairs of elements",
       "        for k, l in T.grid(p[i + 1] - p[i], p[i + 1] - p[i]):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k] * A[p[i] + l]\n"},
      {"a walk in part",
       "        for k in range(p[i + 1] - p[i] - 1):\n"
       "            C[i, 0] = C[i, 0] + A[p[i] + k]\n"},
  };
  for (const auto& each : bodies) {
    CAPTURE(each.first);
    CHECK_FALSE(is_divided(divided(rows_around(each.second, 64, 300, 8))));
  }
  CHECK(
      is_divided(divided(rows_around("        for k in range(p[i + 1] - p[i]):\n"
                                     "            C[i, 0] = C[i, 0] + A[p[i] + k]\n",
                                     64, 300, 8))));
}

TEST_CASE("a loop that says no number of tasks, or other offsets, stays as it is") {
  const std::string text = rows_around(sum, 64, 300, 8);
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string out = text;
    out.replace(out.find(what), what.size(), by);
    return is_divided(divided(out));
  };
  CHECK(with("\"tilewright.tasks\": 8", "\"tilewright.tasks\": 8"));
  CHECK_FALSE(with("\"tilewright.tasks\": 8", "\"tilewright.tasks\": 1"));
  CHECK_FALSE(with("\"tilewright.balance\": \"p\"", "\"tilewright.balance\": \"q\""));
  CHECK_FALSE(with("(65,)", "(66,)"));
}

TEST_CASE("rows stay whole where reductions keep their order") {
  const ir::function f = ir::with_term_order(ir::parse(rows_around(sum, 64, 300, 8)));
  CHECK_FALSE(is_divided(pass::divide_rows(f)));
}
