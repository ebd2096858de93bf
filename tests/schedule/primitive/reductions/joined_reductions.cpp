#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include "schedule/check_schedule.hpp"

using namespace tilewright;

namespace {

std::string reduction(const std::string& to, const std::string& value, const std::string& init,
                      const std::string& extents = "5, 7") {
  return "    for i, j in T.grid(" + extents + "):\n        with T.block(\"" + to +
         "\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
         "                " +
         to + "[vi] = " + init + "\n            " + to + "[vi] = " + value + "\n";
}

std::string elements(const std::string& to, const std::string& value) {
  return "    for i, j in T.grid(5, 7):\n        with T.block(\"" + to +
         "\"):\n            vi, vj = T.axis.remap(\"SS\", [i, j])\n            " + to +
         "[vi, vj] = " + value + "\n";
}

/// X [5, 7] to Y [5, 7]; M, S and Q are sums of rows, E has an element for each of X.
ir::function rows(const std::string& body) {
  std::string text =
      "@T.prim_func\ndef main(X: T.Buffer((5, 7), \"float32\"), W: T.Buffer((5, 7), \"float32\"), "
      "Y: T.Buffer((5, 7), \"float32\")):\n";
  for (const char* per_row : {"M", "S", "Q"})
    text += "    " + std::string(per_row) + " = T.alloc_buffer((5,), \"float32\")\n";
  return ir::parse(text + "    E = T.alloc_buffer((5, 7), \"float32\")\n" + body);
}

const std::string lowest = "T.min_value(\"float32\")", infinite = "-T.infinity(\"float32\")",
                  zero = "T.float32(0)";

ir::function softmax(const std::string& begin = lowest) {
  return rows(reduction("M", "T.max(M[vi], X[vi, vj])", begin) +
              elements("E", "T.exp(X[vi, vj] - M[vi])") +
              reduction("S", "S[vi] + E[vi, vj]", zero) + elements("Y", "E[vi, vj] / S[vi]"));
}

/// What the function leaves in Y.
std::vector<float> result(const ir::function& f, std::vector<float> x) {
  std::vector<float> w(35), y(35, -77);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 5) - 1.5f;
  ir::interpret(f, {{x.data(), {}}, {w.data(), {}}, {y.data(), {}}});
  return y;
}

std::vector<float> inputs() {
  std::vector<float> out(35);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::sin(static_cast<float>(3 * i)) * 4;
  return out;
}

void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(b[i]))
      CHECK(std::isnan(a[i]));
    else
      CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-5));
  }
}

/// Joined, with as many blocks, and with the same results.
ir::function check_joined(const ir::function& f, std::size_t blocks) {
  const std::optional<primitive::joined_reductions> out = primitive::join_reductions(f);
  REQUIRE(out);
  const ir::function& g = out->function;
  INFO(ir::print(g));
  CHECK_NOTHROW(ir::verify(g));
  CHECK(primitive::all_blocks(ir::root_block(g)->body).size() == blocks);
  check_near(result(g, inputs()), result(f, inputs()));
  return g;
}

bool is_joined(const ir::function& f) { return primitive::join_reductions(f).has_value(); }

}  // namespace

TEST_CASE("joined reductions: maximum and sum of a softmax are one reduction of pairs") {
  const ir::function joined = check_joined(softmax(), 2);
  const ir::block_node& pair = *primitive::all_blocks(ir::root_block(joined)->body)[0]->block;
  CHECK(pair.name == "M");
  REQUIRE(pair.writes.size() == 2);
  REQUIRE(pair.reads.size() == 1);
  CHECK(pair.reads[0].buffer->name == "X");
  const auto* note = std::get_if<std::string>(&pair.annotations.at(ir::reducer_note).value);
  REQUIRE(note);
  CHECK(
      *note ==
      "T.comm_reducer(lambda x0, x1, y0, y1: (T.max(x0, y0), T.Select(x0 < y0, x1 * T.exp("
      "T.float32(0.0) - T.abs(x0 - y0)) + y1, x1 + y1 * T.exp(T.float32(0.0) - T.abs(x0 - y0))) + "
      "(T.max(x0, y0) - T.max(x0, y0))), [T.float32(-3.4028234663852886e+38), T.float32(0.0)])");
  CHECK(ir::parse_reducer(*note));
  // joined again there is nothing to join
  CHECK_FALSE(is_joined(joined));
}

TEST_CASE("joined reductions: minus infinities are masks, infinities and NaN are found") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::string& begin : {lowest, infinite}) {
    const ir::function f = softmax(begin), joined = primitive::join_reductions(f)->function;
    std::vector<float> x = inputs();
    x[0] = x[3] = x[13] = -infinity;  // at the beginning, inside and at the end of rows
    check_near(result(joined, x), result(f, x));
    x[7] = infinity;
    for (int j = 21; j < 28; ++j) x[static_cast<std::size_t>(j)] = -infinity;  // a whole row
    check_near(result(joined, x), result(f, x));
  }
}

TEST_CASE("joined reductions: sums of rows, sums with factors, and three at once") {
  const std::string total = reduction("S", "S[vi] + X[vi, vj]", zero),
                    squares = reduction("Q", "Q[vi] + X[vi, vj] * X[vi, vj]", zero);
  // a norm
  check_joined(
      rows(total + squares + elements("Y", "(X[vi, vj] - S[vi]) / (Q[vi] + T.float32(1))")), 2);
  // the maximum, and sums of exponentials with and without weights
  const std::string peak = reduction("M", "T.max(M[vi], X[vi, vj])", infinite),
                    weighted = reduction(
                        "Q", "Q[vi] + T.exp(X[vi, vj] - M[vi]) * W[vi, vj] / T.float32(3)", zero);
  check_joined(rows(peak + reduction("S", "S[vi] + T.exp(X[vi, vj] - M[vi])", zero) + weighted +
                    elements("Y", "X[vi, vj] * Q[vi] / S[vi] + M[vi]")),
               2);
  // elements that stand before both stay
  check_joined(rows(elements("E", "X[vi, vj] * W[vi, vj]") + total +
                    reduction("M", "T.max(M[vi], X[vi, vj] + E[vi, vj])", lowest) +
                    elements("Y", "E[vi, vj] * S[vi] + M[vi]")),
               3);
  // each pair by itself: what the second one needs comes of the first
  const ir::function two = check_joined(
      rows(total + squares + elements("E", "X[vi, vj] * S[vi] + Q[vi]") +
           reduction("M", "T.max(M[vi], E[vi, vj])", lowest) + elements("Y", "E[vi, vj] - M[vi]")),
      4);
  CHECK_FALSE(is_joined(two));
}

TEST_CASE("joined reductions: a variance is made of sums around a first element") {
  const std::string total = reduction("S", "S[vi] + X[vi, vj]", zero),
                    mean = "S[vi] / T.float32(7)";
  const auto variance = [&](const std::string& centred) {
    return rows(total + reduction("Q", "Q[vi] + " + centred + " * " + centred, zero) +
                elements("Y", "(X[vi, vj] - " + mean + ") * T.rsqrt(Q[vi] / T.float32(7))"));
  };
  const ir::function f = variance("(X[vi, vj] - " + mean + ")");
  const std::optional<primitive::joined_reductions> out = primitive::join_reductions(f);
  REQUIRE(out);
  CHECK(out->shifts);
  CHECK_FALSE(out->rescales);
  check_joined(f, 4);  // the first elements, the sums, the variance, the elements
  check_joined(variance("(" + mean + " - X[vi, vj])"), 4);
  // a mean far from nothing, which squares of elements themselves would drown
  const auto far = [](std::vector<float> x) {
    for (float& each : x) each += 5000;
    return x;
  };
  check_near(result(out->function, far(inputs())), result(f, far(inputs())));
  // of one value many times nothing is left
  std::vector<float> same(35, 3.1f);
  const ir::function spread =
      rows(total +
           reduction("Q", "Q[vi] + (X[vi, vj] - " + mean + ") * (X[vi, vj] - " + mean + ")", zero) +
           elements("Y", "Q[vi]"));
  for (const float left : result(primitive::join_reductions(spread)->function, same))
    CHECK(std::abs(left) < 1e-10f);
}

TEST_CASE("joined reductions: squared differences to other results") {
  const std::string total = reduction("S", "S[vi] + X[vi, vj]", zero),
                    peak = reduction("S", "T.max(S[vi], X[vi, vj])", lowest),
                    last = elements("Y", "X[vi, vj] * Q[vi] + S[vi]"),
                    c = "(S[vi] * T.float32(0.1))";
  const auto square = [](const std::string& of) { return "(" + of + ") * (" + of + ")"; };
  for (const std::string& first : {total, peak})
    for (const std::string& value : {square("X[vi, vj] - " + c),
                                     square("T.float32(0.5) * (" + c + " - X[vi, vj] * W[vi, vj])"),
                                     square("(X[vi, vj] + S[vi]) / T.float32(3)")}) {
      INFO(value);
      const ir::function f = rows(first + reduction("Q", "Q[vi] + " + value, zero) + last);
      const std::optional<primitive::joined_reductions> out = primitive::join_reductions(f);
      REQUIRE(out);
      CHECK(out->shifts);
      check_near(result(out->function, inputs()), result(f, inputs()));
    }
  // differences themselves, weighted squares, products of two, squares of other sums, and two different results:
  // nothing bounds what sums around a first element would lose
  for (const std::string& value :
       {"X[vi, vj] - " + c, "W[vi, vj] * " + square("X[vi, vj] - " + c),
        "(X[vi, vj] - " + c + ") * (X[vi, vj] + " + c + ")", square("X[vi, vj] * " + c),
        square("T.sqrt(X[vi, vj] - " + c + ")"), "(X[vi, vj] - " + c + ") * (X[vi, vj] - S[vi])"})
    CHECK_FALSE(is_joined(rows(total + reduction("Q", "Q[vi] + " + value, zero) + last)));
}

TEST_CASE("joined reductions: what has to wait for the first one stays apart") {
  const std::string total = reduction("S", "S[vi] + X[vi, vj]", zero),
                    peak = reduction("M", "T.max(M[vi], X[vi, vj])", lowest);
  const std::string last = elements("Y", "X[vi, vj] * S[vi] + M[vi] + Q[vi]");
  const std::string none = reduction("Q", "Q[vi] + W[vi, vj]", zero);
  // third powers; exponentials of anything but the maximum's elements; another function
  for (const char* second :
       {"S[vi] + (X[vi, vj] - M[vi]) * (X[vi, vj] - M[vi]) * (X[vi, vj] - M[vi])",
        "S[vi] + T.exp(W[vi, vj] - M[vi])", "S[vi] + T.exp(X[vi, vj] - M[vi]) * M[vi]",
        "S[vi] + T.sigmoid(X[vi, vj] - M[vi])", "S[vi] + W[vi, vj] / T.exp(X[vi, vj] - M[vi])",
        "S[vi] + T.exp(M[vi] - X[vi, vj])"})
    CHECK_FALSE(is_joined(rows(peak + reduction("S", second, zero) + last)));
  // the least element and the greatest exponentials; products of exponentials
  CHECK_FALSE(is_joined(rows(reduction("M", "T.min(M[vi], X[vi, vj])", "T.max_value(\"float32\")") +
                             reduction("S", "S[vi] + T.exp(X[vi, vj] - M[vi])", zero) + last)));
  CHECK_FALSE(is_joined(
      rows(peak + reduction("S", "S[vi] * T.exp(X[vi, vj] - M[vi])", "T.float32(1)") + last)));
  // nothing is read twice
  CHECK_FALSE(is_joined(rows(total + none + last)));
  // other extents
  CHECK_FALSE(is_joined(rows(total + reduction("Q", "Q[vi] + X[vi, vj]", zero, "5, 6") + last)));
  // the block between them changes what the second one reads, or uses what it makes
  CHECK_FALSE(is_joined(rows(total + elements("X", "X[vi, vj] * T.float32(2)") +
                             reduction("Q", "Q[vi] + X[vi, vj]", zero) + last)));
  // a reduction whose element others multiply is a product: operands have no element for each iteration
  const ir::function products = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((4, 8), "float32"), V: T.Buffer((8, 6), "float32"), W: T.Buffer((8, 6), "float32"), A: T.Buffer((4, 6), "float32"), B: T.Buffer((4, 6), "float32")):
    for i, j, k in T.grid(4, 6, 8):
        with T.block("A"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                A[vi, vj] = T.float32(0)
            A[vi, vj] = A[vi, vj] + X[vi, vk] * V[vk, vj]
    for i, j, k in T.grid(4, 6, 8):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + X[vi, vk] * W[vk, vj]
)");
  CHECK_FALSE(is_joined(products));
}

TEST_CASE("joined reductions: a schedule goes on with them, and its trace replays") {
  const ir::function f = softmax();
  schedule s(f);
  s.work_on("main.joined");
  CHECK(s.function().name == "main");
  CHECK(ir::equal(s.function(), primitive::join_reductions(f)->function));
  const block_rv pair = s.get_block("M");
  s.compute_at(pair, s.get_loops(s.get_block("Y"))[0], true);
  check_schedule(s, f);
  check_near(result(s.function(), inputs()), result(f, inputs()));
  schedule other(f);
  other.work_on("main.joined");
  check_refusal(other, "work_on", 2, [&] { other.work_on("main.joined"); });
}
