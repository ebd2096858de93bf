#include <tilewright/sparse/format_rule.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

#include "patterns.hpp"
#include "random_schedule.hpp"
#include "rule_arrays.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;
using sparse::format_rule;

namespace {

template <dim Columns>
constexpr auto product_with = kernel<"product">([](in<"A", float, "M", Columns> A,
                                                   in<"B", float, "K", "N"> B,
                                                   out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j));
});
constexpr auto largest =
    kernel<"largest">([](in<"A", float, "M", compressed<"K">> A, out<"y", float, "M"> y) {
      return y(i) = max<k>(where_stored(A)(i, k));
    });

/// Blocks of 2 x 2 of a matrix of 9 x 12.
const char* const blocks_of_two =
    "@T.format\n"
    "def blocks():\n"
    "    block_rows = T.dense_fixed(5)\n"
    "    block_columns = T.sparse_variable(block_rows, 6)\n"
    "    columns = T.dense_fixed(2, block_columns)\n"
    "    rows = T.dense_fixed(2, block_columns)\n"
    "    return tvm.tir.IndexMap.from_func(lambda i, j: (i // 2, j // 2, j % 2, i % 2), "
    "inverse_index_map=lambda io, jo, ji, ii: (io * 2 + ii, jo * 2 + ji))\n";

format_rule changed(const std::string& from, const std::string& to) {
  std::string text = blocks_of_two;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return sparse::parse_format_rule(text.replace(at, from.size(), to));
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(n * 37 % 19) - 9;
  return out;
}

/// The product of the matrix whose elements lie in the parts, by interpreter, lowered and compiled.
void check_product(const patterns::csr_matrix<>& a, const std::vector<format_rule>& rules,
                   const std::vector<std::vector<std::int64_t>>& elements) {
  constexpr std::int64_t wide = 5;
  const std::vector<float> values = numbers(a.nonzeros()), b = numbers(a.columns * wide);
  const std::vector<std::int64_t> row = rule_arrays::rows_of(a.offsets);
  std::vector<float> expected(static_cast<std::size_t>(a.rows * wide), 0);
  for (std::size_t at = 0; at < row.size(); ++at)
    for (std::size_t c = 0; c < wide; ++c)
      expected[static_cast<std::size_t>(row[at]) * wide + c] +=
          values[at] * b[static_cast<std::size_t>(a.indices[at]) * wide + c];
  rule_arrays::stored_parts<std::int32_t, float> stored;
  for (std::size_t part = 0; part < rules.size(); ++part)
    stored.add(rules[part], a.rows, a.columns, row, a.indices, values, elements[part],
               rules.size() == 1 ? "" : sparse::part_name("A", static_cast<int>(part)));
  const ir::sparse_function f = sparse::with_storage(
      reify(product_with<compressed<"K">>, {{"M", a.rows}, {"K", a.columns}, {"N", wide}}),
      stored.formats);
  ir::verify(f);
  CAPTURE(ir::print(f));
  CHECK(ir::print(ir::parse_sparse(ir::print(f))) == ir::print(f));
  std::vector<const void*> inputs = stored.arrays();
  inputs.push_back(b.data());
  std::vector<float> result(expected.size(), 99);
  std::vector<ir::tensor_view> views;
  for (const void* p : inputs) views.push_back({const_cast<void*>(p), {}});
  views.push_back({result.data(), {}});
  ir::interpret(f, views);
  CHECK(result == expected);
  random_schedule::check(sparse::lower(f), 1, 0, inputs, expected);
}

std::vector<std::int64_t> all_of(const patterns::csr_matrix<>& a) {
  std::vector<std::int64_t> out;
  for (std::int64_t at = 0; at < a.nonzeros(); ++at) out.push_back(at);
  return out;
}

}  // namespace

TEST_CASE("a rule prints as it was read") {
  const format_rule rule = sparse::parse_format_rule(blocks_of_two);
  CHECK(rule.name == "blocks");
  CHECK(rule.axes.size() == 4);
  CHECK(rule.axes[1].kind == ir::axis_kind::sparse_variable);
  CHECK(rule.axes[1].parent == "block_rows");
  const std::string text = sparse::print(rule);
  CHECK(sparse::print(sparse::parse_format_rule(text)) == text);
  const format_rule rows = sparse::parse_format_rule(
      "@T.format\ndef one_width():\n    I = T.dense_fixed(7)\n    J = T.sparse_fixed(I, (9, 4))\n"
      "    return IndexMap.from_func(lambda i, j: (i, j), inverse_index_map=lambda i, j: (i, "
      "j))\n");
  CHECK(rows.axes[1].width == 4);
  CHECK(sparse::print(sparse::parse_format_rule(sparse::print(rows))) == sparse::print(rows));
  for (const char* wrong :
       {"", "@T.format\n", "@T.format\ndef f():\n    I = T.dense_variable(3)\n",
        "@T.format\ndef f():\n    I = T.dense_fixed(3)\n", "@T.format\ndef f():\n    return 3\n"})
    CHECK_THROWS_AS(sparse::parse_format_rule(wrong), ir::parse_error);
}

TEST_CASE("blocks by a user's maps are the program of the blocks that have a name") {
  for (const std::int64_t rows : {9, 10}) {
    const patterns::csr_matrix<> a = patterns::random_matrix(rows, 12, 0.3, 3);
    const bsr_matrix<float, 2> named(csr(a.offsets, a.indices, a.values, a.columns));
    sparse::stored_parameter by_name{"A", static_cast<std::int64_t>(named.values().size())};
    by_name.block = 2;
    const format_rule rule = sparse::parse_format_rule(blocks_of_two);
    rule_arrays::stored_parts<std::int32_t, float> stored;
    stored.add(rule, a.rows, a.columns, rule_arrays::rows_of(a.offsets), a.indices, a.values,
               all_of(a), "");
    CHECK(stored.integers[0] == named.offsets());
    CHECK(stored.integers[1] == named.indices());
    CHECK(stored.values[0] == named.values());
    const dim_values extents{{"M", rows}, {"K", 12}, {"N", 8}};
    const ir::sparse_function f =
        sparse::with_storage(reify(product_with<bsr<"K", 2>>, extents), {by_name});
    const ir::sparse_function g =
        sparse::with_storage(reify(product_with<compressed<"K">>, extents), stored.formats);
    CAPTURE(ir::print(f));
    CAPTURE(ir::print(g));
    CHECK(ir::equal(sparse::lower(f), sparse::lower(g)));
  }
}

TEST_CASE("rows of one width beside a rest, as two rules that add up") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    INFO(a.name);
    const std::int64_t width = std::min<std::int64_t>(2, a.columns);
    const std::string m = std::to_string(a.rows), n = std::to_string(a.columns);
    const std::string map =
        "    return IndexMap.from_func(lambda i, j: (i, j), inverse_index_map=lambda i, j: (i, "
        "j))\n";
    const format_rule first = sparse::parse_format_rule(
        "@T.format\ndef first():\n    I = T.dense_fixed(" + m + ")\n    J = T.sparse_fixed(I, (" +
        n + ", " + std::to_string(width) + "))\n" + map);
    const format_rule rest =
        sparse::parse_format_rule("@T.format\ndef rest():\n    I = T.dense_fixed(" + m +
                                  ")\n    J = T.sparse_variable(I, " + n + ")\n" + map);
    std::vector<std::vector<std::int64_t>> elements(2);
    for (std::size_t row = 0; row + 1 < a.offsets.size(); ++row)
      for (std::int64_t at = a.offsets[row]; at < a.offsets[row + 1]; ++at)
        elements[at - a.offsets[row] < width ? 0 : 1].push_back(at);
    check_product(a, {first, rest}, elements);
    check_product(a, {rest}, {all_of(a)});
  }
}

TEST_CASE("rules that no inverse proves are refused with the reason") {
  const auto why = [](const format_rule& rule) -> std::string {
    try {
      sparse::check_format_rule(rule, 9, 12);
    } catch (const argument_error& e) {
      return e.what();
    }
    return {};
  };
  const auto says = [&](const format_rule& rule, const std::string& part) {
    const std::string message = why(rule);
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  CHECK(why(sparse::parse_format_rule(blocks_of_two)) == "");
  says(changed("block_rows, 6", "rows, 6"), "stands before its parent \"rows\" (requirement 1)");
  says(changed("T.dense_fixed(5)", "T.dense_fixed(0)"), "no coordinates (requirement 1)");
  says(changed("    rows = T.dense_fixed(2, block_columns)\n", ""), "(requirement 2)");
  says(changed(", inverse_index_map=lambda io, jo, ji, ii: (io * 2 + ii, jo * 2 + ji)", ""),
       "carries no inverse; write inverse_index_map behind it (requirement 2)");
  says(changed("io * 2 + ii", "io * 2"), "which is not proved to be i (requirement 3)");
  says(changed("T.dense_fixed(5)", "T.dense_fixed(4)"), "is not proved to be in [0, 4)");
  says(changed("block_rows, 6", "block_rows, 3"), "(requirement 5)");
  says(changed("columns = T.dense_fixed(2", "columns = T.dense_fixed(3"),
       "which is not proved to be jo (requirement 4)");
  // two axes make up a row in several ways
  says(sparse::parse_format_rule(
           "@T.format\ndef skewed():\n    I = T.dense_fixed(20)\n    J = T.sparse_variable(I, 12)\n"
           "    return IndexMap.from_func(lambda i, j: (i + 11 - j, j), "
           "inverse_index_map=lambda a, b: (a + b - 11, b))\n"),
       "(requirement 6)");
  CHECK_THROWS_WITH_AS(
      sparse::with_storage(
          reify(product_with<compressed<"K">>, {{"M", 9}, {"K", 12}, {"N", 8}}),
          {sparse::stored_by_rule("A", changed("io * 2 + ii", "io * 2"),
                                  sparse::formatted_pattern{{{}, {}, {}, {}}, {}})}),
      doctest::Contains("(requirement 3)"), argument_error);
}

TEST_CASE("elements that a rule has no place for are refused by position and value") {
  const format_rule rule = sparse::parse_format_rule(blocks_of_two);
  using list = std::vector<std::int64_t>;
  const auto store = [&](const format_rule& by, const list& row, const list& column) {
    return sparse::store_by_rule(by, 9, 12, row, column, 1000);
  };
  CHECK(store(rule, {8, 0}, {11, 3}).source == list{-1, -1, 1, -1, -1, -1, 0, -1});
  CHECK(store(rule, {}, {}).source == list{-1, -1, -1, -1});
  CHECK_THROWS_WITH_AS(store(rule, {1, 9}, {0, 0}), doctest::Contains("element 1 is at row 9"),
                       argument_error);
  CHECK_THROWS_WITH_AS(store(rule, {1, 4, 1}, {0, 5, 0}),
                       doctest::Contains("elements 0 and 2 have one row and column"),
                       argument_error);
  CHECK_THROWS_WITH_AS(store(rule, {1}, {}), doctest::Contains("1 rows and 0 columns"),
                       argument_error);
  const format_rule narrow = sparse::parse_format_rule(
      "@T.format\ndef narrow():\n    I = T.dense_fixed(9)\n    J = T.sparse_fixed(I, (12, 1))\n"
      "    return IndexMap.from_func(lambda i, j: (i, j), inverse_index_map=lambda i, j: (i, "
      "j))\n");
  CHECK_THROWS_WITH_AS(store(narrow, {3, 3}, {1, 7}),
                       doctest::Contains("position 3 has 2 coordinates along axis \"J\""),
                       argument_error);
  CHECK_THROWS_WITH_AS(sparse::store_by_rule(narrow, 9, 12, {3}, {1}, 8),
                       doctest::Contains("more than 8 (requirement 3)"), argument_error);
}

TEST_CASE(
    "a maximum or minimum takes places without an element where these hold what changes nothing") {
  const format_rule rule = sparse::parse_format_rule(blocks_of_two);
  const sparse::formatted_pattern stored = sparse::store_by_rule(rule, 9, 12, {1}, {2});
  sparse::stored_parameter format = sparse::stored_by_rule("A", rule, stored);
  const auto program = [&](const any_kernel& of) {
    return sparse::with_storage(reify(of, {{"M", 9}, {"K", 12}}), {format});
  };
  CHECK_THROWS_WITH_AS(program(largest), doctest::Contains("does anything but add up"),
                       argument_error);
  format.absent = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(program(largest), argument_error);  // that is what changes a maximum
  format.absent = -format.absent;
  const std::string text = ir::print(program(largest));
  CAPTURE(text);
  CHECK(text.find(", default_value=T.float32(\"-inf\"))") != std::string::npos);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  constexpr auto total =
      kernel<"total">([](in<"A", float, "M", compressed<"K">> A, out<"y", float, "M"> y) {
        return y(i) = sum<k>(A(i, k));
      });
  CHECK_THROWS_WITH_AS(program(total),
                       doctest::Contains("adds up, while what is not stored is not 0"),
                       argument_error);
  // integers wrap around: the highest one and another are no highest one
  constexpr auto shortest = kernel<"shortest">(
      [](in<"A", int, "M", compressed<"K">> A, in<"x", int, "K"> x, out<"y", int, "M"> y) {
        return y(i) = min<k>(where_stored(A)(i, k) + x(k));
      });
  format.absent = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(program(shortest), doctest::Contains("does anything but add up"),
                       argument_error);
  const std::vector<float> values = stored.gather(std::vector<float>{7}, -1.0f);
  CHECK(values == std::vector<float>{-1, 7, -1, -1});
}
