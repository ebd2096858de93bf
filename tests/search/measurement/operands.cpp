#include <tilewright/search/measurement/operands.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include <tilewright/expr/functions.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("operands say what is read and written") {
  const auto list = operands(reify(kernels::matmul_relu, {{"M", 8}, {"N", 6}, {"K", 4}}));
  REQUIRE(list.size() == 3);
  CHECK(list[0].extents == std::vector<std::int64_t>{8, 4});
  CHECK(list[0].strides == std::vector<std::int64_t>{4, 1});
  CHECK(list[0].read);
  CHECK_FALSE(list[0].written);
  CHECK(list[2].written);
  CHECK_FALSE(list[2].read);
  CHECK_FALSE(list[0].index);
  CHECK(list[2].elements() == 48);
}

TEST_CASE("an index operand gets the range that keeps its use in bounds") {
  const auto list = operands(reify(kernels::gather, {{"N", 11}, {"M", 5}, {"C", 3}}));
  REQUIRE(list[1].index);
  CHECK(list[1].index->first == 0);  // 2 i + 1 in [0, 10]
  CHECK(list[1].index->last == 4);
}

TEST_CASE("bits of an element that are an index restrict it where its type leaves them more") {
  constexpr auto code_book = kernel<"code_book">(
      [](in<"W", std::uint8_t, "N"> W, in<"T", float, "K"> T, out<"Y", float, "N"> Y) {
        using axes::n;
        return Y(n) = T(cast<int>(bitwise_and(W(n), std::uint8_t{15}))) +
                      T(cast<int>(W(n) >> std::uint8_t{4}));
      });
  const auto whole = operands(reify(code_book, {{"N", 8}, {"K", 16}}));
  REQUIRE(whole[0].index);
  CHECK(whole[0].index->first <= 0);
  CHECK(whole[0].index->last >= 255);  // every byte
  const auto part = operands(reify(code_book, {{"N", 8}, {"K", 10}}));
  REQUIRE(part[0].index);
  CHECK(part[0].index->last <= 159);  // of the upper four bits
}

TEST_CASE("of indices that are read at indices each is restricted by what it leads into") {
  constexpr auto two_hops =
      kernel<"two_hops">([](in<"T", float, "V"> T, in<"I", std::int32_t, "M"> I,
                            in<"J", std::int32_t, "N"> J, out<"Y", float, "N"> Y) {
        using axes::n;
        return Y(n) = T(I(J(n)) + 1);
      });
  const auto list = operands(reify(two_hops, {{"V", 9}, {"M", 20}, {"N", 5}}));
  REQUIRE(list[1].index);
  CHECK(list[1].index->first == -1);
  CHECK(list[1].index->last == 7);
  REQUIRE(list[2].index);
  CHECK(list[2].index->first == 0);
  CHECK(list[2].index->last == 19);
}

TEST_CASE("needs follow from what is computed") {
  CHECK(needs_of(reify(kernels::square_root, {{"N", 4}})).positive);
  const value_needs m = needs_of(reify(kernels::matmul_relu, {{"M", 8}, {"N", 6}, {"K", 40}}));
  CHECK_FALSE(m.positive);
  CHECK(m.reduction == 40);
  CHECK(m.epsilon == epsilon_of(dtype::f32));
  ir::function rounded = reify(kernels::matmul_relu, {{"M", 8}, {"N", 6}, {"K", 40}});
  rounded.attrs[factors_attribute] = std::string("tf32");
  CHECK(needs_of(rounded).epsilon == 0x1p-10);
  rounded.attrs[factors_attribute] = std::string("f32");
  CHECK(needs_of(rounded).epsilon == epsilon_of(dtype::f32));
}

TEST_CASE("exponents that are sums of products get values of middling size") {
  constexpr auto scores = kernel<"scores">(
      [](in<"X", float, "M", "K"> X, in<"Y", float, "N", "K"> Y, out<"S", float, "M", "N"> S) {
        using axes::i, axes::j, axes::k;
        temp<"t", float, "M", "N"> t;
        return blocks(t(i, j) = sum<k>(X(i, k) * Y(j, k)), S(i, j) = exp(t(i, j)));
      });
  const ir::function f = reify(scores, {{"M", 4}, {"N", 5}, {"K", 400}});
  const value_needs needs = needs_of(f);
  CHECK(needs.exponential);
  CHECK_FALSE(needs_of(reify(kernels::matmul_relu, {{"M", 8}, {"N", 6}, {"K", 40}})).exponential);
  for (const value_set set : {value_set::usual, value_set::extreme})
    for (const std::uint64_t seed : {1U, 2U}) {
      std::vector<std::vector<float>> values(2, std::vector<float>(2000));
      for (std::size_t n = 0; n < 2; ++n)
        make_up(operands(f)[n], needs, reinterpret_cast<std::byte*>(values[n].data()), {400, 1},
                support::random(seed + 10 * n), set, n);
      double sum = 0;
      for (std::size_t k = 0; k < 400; ++k)
        sum += static_cast<double>(values[0][k]) * static_cast<double>(values[1][k]);
      CHECK(std::abs(sum) < 4);
      CHECK(sum != 0);
    }
}

TEST_CASE("spans follow strides of either sign") {
  CHECK(row_major({2, 3, 4}) == std::vector<std::int64_t>{12, 4, 1});
  const memory_span s = span_of({2, 3}, {-10, 2});
  CHECK(s.first == -10);
  CHECK(s.last == 4);
  CHECK(span_of({2, 0}, {1, 1}).last == -1);
}

TEST_CASE("a condition keeps an index in bounds where it looks at it") {
  const auto range_of = [](const std::string& condition) {
    const auto list = operands(ir::parse(
        "@T.prim_func\n"
        "def f(I: T.Buffer((6,), \"int32\"), X: T.Buffer((9,), \"float32\"), Y: T.Buffer((6,), "
        "\"float32\")):\n"
        "    for i in range(6):\n"
        "        with T.block(\"Y\"):\n"
        "            vi = T.axis.spatial(6, i)\n"
        "            Y[vi] = T.if_then_else(" +
        condition + ", X[I[vi]], T.float32(0))\n"));
    return *list[0].index;
  };
  CHECK(range_of("vi < 4").first == 0);
  CHECK(range_of("vi < 4").last == 8);
  CHECK(range_of("I[vi] < 4").last > 8);
}
