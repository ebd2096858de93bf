// Operators beside plain loops: those that become other nodes, and those with conventions of
// their own.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/support/error.hpp>

#include "model/array_file.hpp"
#include "model/one_node.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;
using network::constant;
using network::shape;

TEST_CASE("operators: Einsum with an ellipsis, a diagonal, and labels in any order") {
  const constant a = floats({2, 3, 4}), b = floats({2, 4, 5}, 0.61);
  const constant y = one_node("Einsum")
                         .with<std::string>("equation", "...ik, ...kj -> ...ji")
                         .input(a)
                         .input(b)
                         .result();
  REQUIRE(y.type().extents == shape{2, 5, 3});
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < 4; ++k)
          sum += a.number((n * 3 + i) * 4 + k) * b.number((n * 4 + k) * 5 + j);
        CHECK(y.number((n * 5 + j) * 3 + i) == doctest::Approx(sum).epsilon(1e-5));
      }
  const constant m = floats({3, 3});
  const constant trace = one_node("Einsum").with<std::string>("equation", "ii").input(m).result();
  CHECK(trace.type().extents.empty());
  CHECK(trace.number(0) == doctest::Approx(m.number(0) + m.number(4) + m.number(8)).epsilon(1e-5));
  CHECK(refusal(one_node("Einsum").with<std::string>("equation", "ij,jk->iq").input(m).input(m))
            .find("no input does") != std::string::npos);
  CHECK(refusal(one_node("Einsum").with<std::string>("equation", "ijk").input(m))
            .find("names 3 dimensions, and input 0 has 2") != std::string::npos);
}

TEST_CASE("operators: ConvTranspose scatters its input, with groups, steps and borders") {
  const constant x = floats({1, 4, 3, 2}), f = floats({4, 2, 3, 2}, 0.23);
  const constant y = one_node("ConvTranspose")
                         .with<std::int64_t>("group", 2)
                         .with("strides", std::vector<std::int64_t>{2, 3})
                         .with("pads", std::vector<std::int64_t>{1, 0, 0, 1})
                         .with("dilations", std::vector<std::int64_t>{1, 2})
                         .with("output_padding", std::vector<std::int64_t>{1, 0})
                         .input(x)
                         .input(f)
                         .result();
  const std::int64_t rows = 2 * 2 + 1 + 3 - 1, columns = 3 + 3 - 1;
  REQUIRE(y.type().extents == shape{1, 4, rows, columns});
  std::vector<double> expected(static_cast<std::size_t>(4 * rows * columns), 0);
  for (std::int64_t c = 0; c < 4; ++c)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t w = 0; w < 2; ++w)
        for (std::int64_t k = 0; k < 2; ++k)
          for (std::int64_t r = 0; r < 3; ++r)
            for (std::int64_t s = 0; s < 2; ++s) {
              const std::int64_t p = h * 2 + r - 1, q = w * 3 + s * 2;
              if (p < 0 || p >= rows || q >= columns) continue;
              expected[static_cast<std::size_t>(((c / 2 * 2 + k) * rows + p) * columns + q)] +=
                  x.number((c * 3 + h) * 2 + w) * f.number(((c * 2 + k) * 3 + r) * 2 + s);
            }
  for (std::size_t k = 0; k < expected.size(); ++k)
    CHECK(y.number(static_cast<std::int64_t>(k)) == doctest::Approx(expected[k]).epsilon(1e-5));
}

TEST_CASE("operators: Resize becomes one node for each dimension that changes") {
  const constant x = floats({1, 1, 2, 3});
  one_node twice("Resize", 19);
  twice.with<std::string>("mode", "linear").input(x).without().without();
  twice.input(constant::of_integers({1, 1, 4, 3}), true);
  const network::graph g = twice.finished();
  REQUIRE(g.nodes.size() == 2);
  CHECK(g.nodes[0].op == "Resample");
  CHECK(g.nodes[1].op == "Identity");
  const constant y = network::interpret(g, {x}).at(0);
  for (std::int64_t j = 0; j < 3; ++j) {
    const double top = x.number(j), bottom = x.number(3 + j);
    CHECK(y.number(j) == doctest::Approx(top));
    CHECK(y.number(3 + j) == doctest::Approx(0.75 * top + 0.25 * bottom).epsilon(1e-5));
    CHECK(y.number(6 + j) == doctest::Approx(0.25 * top + 0.75 * bottom).epsilon(1e-5));
    CHECK(y.number(9 + j) == doctest::Approx(bottom));
  }
  CHECK(refusal(one_node("Resize", 19)
                    .input(x)
                    .without()
                    .without()
                    .input(constant::of_integers({1, 1, 4, 3})))
            .find("depends on the arguments of a call") != std::string::npos);
}

TEST_CASE("operators: causal attention of grouped heads, and a row that is masked as a whole") {
  const constant q = floats({1, 4, 2, 3}), k = floats({1, 2, 2, 3}, 0.53),
                 v = floats({1, 2, 2, 3}, 0.71);
  const constant y =
      one_node("Attention").with<std::int64_t>("is_causal", 1).input(q).input(k).input(v).result();
  for (std::int64_t h = 0; h < 4; ++h)
    for (std::int64_t i = 0; i < 2; ++i) {
      double weight[2] = {}, total = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < 3; ++d)
          score += q.number((h * 2 + i) * 3 + d) * k.number((h / 2 * 2 + j) * 3 + d);
        total += weight[j] = std::exp(score / std::sqrt(3.0));
      }
      for (std::int64_t d = 0; d < 3; ++d)
        CHECK(y.number((h * 2 + i) * 3 + d) ==
              doctest::Approx((weight[0] * v.number(h / 2 * 6 + d) +
                               weight[1] * v.number((h / 2 * 2 + 1) * 3 + d)) /
                              total)
                  .epsilon(1e-5));
    }
  auto [mask, data] = constant::make({dtype::boolean, {2, 2}});
  const char bits[4] = {0, 0, 1, 1};
  std::memcpy(data, bits, 4);
  const constant masked = one_node("Attention").input(q).input(k).input(v).input(mask).result();
  CHECK(masked.number(0) == 0);
  CHECK(masked.number(3) != 0);
}

TEST_CASE("operators: a rotary embedding turns pairs by the angle of their position") {
  const constant x = floats({1, 2, 4}), cosine = floats({5, 1}, 0.3), sine = floats({5, 1}, 0.9);
  const constant at = constant::of_integers({4, 1}).reshaped({1, 2});
  const auto node = [&](const constant& position, bool is_known) {
    one_node n("RotaryEmbedding");
    n.with<std::int64_t>("num_heads", 2).input(x).input(cosine).input(sine);
    n.input(position, is_known);
    return n;
  };
  const constant y = node(at, false).result();
  for (std::int64_t s = 0; s < 2; ++s)
    for (std::int64_t h = 0; h < 2; ++h) {
      const std::int64_t p = at.integer(s), k = s * 4 + h * 2;
      const double a = x.number(k), b = x.number(k + 1);
      CHECK(y.number(k) ==
            doctest::Approx(a * cosine.number(p) - b * sine.number(p)).epsilon(1e-5));
      CHECK(y.number(k + 1) ==
            doctest::Approx(a * sine.number(p) + b * cosine.number(p)).epsilon(1e-5));
    }
  CHECK(refusal(node(constant::of_integers({4, 5}).reshaped({1, 2}), true)) ==
        "node RotaryEmbedding (RotaryEmbedding): index 5 in input 3 is out of range; the indexed "
        "extents are (5)");
}

TEST_CASE("operators: reductions of no elements") {
  const constant none = floats({2, 0});
  const auto of = [&](const char* op) { return one_node(op, 20).input(none).result().number(0); };
  CHECK(of("ReduceSum") == 0);
  CHECK(of("ReduceProd") == 1);
  CHECK(of("ReduceMax") == -INFINITY);
  CHECK(of("ReduceMin") == INFINITY);
  CHECK(of("ReduceLogSumExp") == -INFINITY);
}

TEST_CASE("operators: shifts and bits of integers") {
  auto [x, xs] = constant::make({dtype::i8, {4}});
  auto [by, amounts] = constant::make({dtype::i8, {4}});
  const std::int8_t x_data[4] = {-5, 3, 64, -1}, by_data[4] = {1, 9, -1, 7};
  std::memcpy(xs, x_data, 4);
  std::memcpy(amounts, by_data, 4);
  const auto shifted = [&](const char* way) {
    const constant y =
        one_node("BitShift").with<std::string>("direction", way).input(x).input(by).result();
    return std::vector<std::int64_t>{y.integer(0), y.integer(1), y.integer(2), y.integer(3)};
  };
  CHECK(shifted("RIGHT") == std::vector<std::int64_t>{-3, 0, 0, -1});
  CHECK(shifted("LEFT") == std::vector<std::int64_t>{-10, 0, 0, -128});
  const constant flipped = one_node("BitwiseNot").input(x).result();
  CHECK(flipped.integer(1) == -4);
}

TEST_CASE("operators: indices out of range are refused, known ones when the model is loaded") {
  const constant x = floats({3, 2}), bad = constant::of_integers({0, 3});
  CHECK(refusal(one_node("Gather").input(x).input(bad, true)) ==
        "node Gather (Gather): index 3 in input 1 is out of range; the indexed extents are (3)");
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.threads = 1;
  one_node n("Gather");
  n.input(x).input(bad);
  network::graph g = n.finished();
  const model m(g, o);
  const std::vector<float> elements(6, 1.0f);
  std::vector<float> y(4);
  for (const std::int64_t i : {std::int64_t{3}, std::int64_t{-4}}) {
    const std::vector<std::int64_t> indices{0, i};
    try {
      m(elements, indices, y);
      FAIL("it ran");
    } catch (const argument_error& e) {
      CHECK(std::string(e.what()) == "node Gather (Gather): index " + std::to_string(i) +
                                         " is out of range; the indexed extents are (3)");
    }
  }
  m(elements, std::vector<std::int64_t>{2, -3}, y);
  CHECK(y == std::vector<float>(4, 1.0f));
}

TEST_CASE("operators: a list of numbers that is left out") {
  const constant x = floats({3, 1});
  CHECK(refusal(one_node("Expand").input(x)) == "node Expand (Expand): input 1 is missing");
  CHECK(refusal(one_node("Tile").input(x).without()) == "node Tile (Tile): input 1 is missing");
}

TEST_CASE("operators: remainders of floats, by infinity, by zero, and of large quotients") {
  const double inf = INFINITY;
  struct one {
    double a, b, of_divisor, of_dividend;  // the remainder's sign
  };
  const std::vector<one> all{{5.5, 2, 1.5, 1.5},     {-5.5, 2, 0.5, -1.5}, {5.5, -2, -0.5, 1.5},
                             {-5.5, -2, -1.5, -1.5}, {3, inf, 3, 3},       {-3, inf, inf, -3},
                             {3, -inf, -inf, 3},     {-3, -inf, -3, -3},   {0, inf, 0, 0},
                             {inf, 2, NAN, NAN},     {inf, inf, NAN, NAN}, {1, 0, NAN, NAN},
                             {16777215, 3, 0, 0},    {16777214, 3, 2, 2},  {0.7f, 0.1f, 0, 0}};
  auto [a, as] = constant::make({dtype::f32, {static_cast<std::int64_t>(all.size())}});
  auto [b, bs] = constant::make(a.type());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const float pair[2] = {static_cast<float>(all[k].a), static_cast<float>(all[k].b)};
    std::memcpy(as + 4 * k, pair, 4);
    std::memcpy(bs + 4 * k, pair + 1, 4);
  }
  const constant y = one_node("Mod").input(a).input(b).result();
  const constant f = one_node("Mod").with<std::int64_t>("fmod", 1).input(a).input(b).result();
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    INFO(all[k].a, " by ", all[k].b);
    const auto i = static_cast<std::int64_t>(k);
    const auto same = [](double x, double z) { return x == z || (std::isnan(x) && std::isnan(z)); };
    CHECK(same(y.number(i), all[k].of_divisor));
    CHECK(same(f.number(i), all[k].of_dividend));
  }
  const auto last = static_cast<std::int64_t>(all.size()) - 1;
  CHECK(f.number(last) == std::fmod(0.7f, 0.1f));
}

TEST_CASE("operators: the mask of Dropout, which drops nothing, is true everywhere") {
  for (const int version : {7, 13}) {
    written_graph w;
    w.g.name = "dropout";
    const auto x = w.input("x", {2, 3});
    network::value v;
    network::node n;
    n.op = n.name = "Dropout";
    n.version = version;
    n.inputs = {x};
    v.name = "y";
    n.outputs = {w.g.add(v)};
    v.name = "mask";
    n.outputs.push_back(w.g.add(v));
    w.g.nodes = {n};
    w.g.outputs = n.outputs;
    network::infer_types(w.g);
    const network::constant in = waves({2, 3}, 0.4);
    const std::vector<network::constant> out = network::interpret(w.g, {in});
    CHECK(difference(in, out.at(0)) == 0);
    CHECK(out.at(1).type().type == (version < 10 ? dtype::f32 : dtype::boolean));
    for (std::int64_t k = 0; k < 6; ++k) CHECK(out.at(1).number(k) == 1);
  }
}
