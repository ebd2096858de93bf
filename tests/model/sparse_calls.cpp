// What a call of a kernel with sparse arguments makes of it: what its matrix promises, and the iterations that a
// schedule may begin with.
#include <tilewright/model/dispatch.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/iterations.hpp>

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

tuned_options untuned() {
  tuned_options o;
  o.mode = mode::off;
  o.database = ":memory:";
  o.threads = 1;
  return o;
}

/// 16 x 12 in compressed rows: two full blocks of four rows, and an element each in eight other places, of which the
/// first is in row `first`.
struct blocks_and_elements {
  std::vector<std::int32_t> offsets{0}, indices;
  std::vector<float> values;

  explicit blocks_and_elements(int first) {
    for (int row = 0; row < 16; ++row) {
      if (row / 4 % 2 == 0)
        for (int column = 0; column < 4; ++column) add(row, column);
      if (row == first || (row > 4 && row < 8) || row > 11) add(row, 4 + row % 8);
      offsets.push_back(static_cast<std::int32_t>(indices.size()));
    }
  }
  void add(int row, int column) {
    indices.push_back(column);
    values.push_back(static_cast<float>(1 + (row + 3 * column) % 5));
  }
};

int blocks_with_init(const ir::function& f) {
  int out = 0;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const ir::block_realize_node* b = ir::as_realize(s);
    out += b && b->block->init ? 1 : 0;
  });
  return out;
}

}  // namespace

TEST_CASE("a matrix whose rows have elements in one part each gets code that stores them") {
  static constexpr dim stored = parts<bsr<"K", 4>, dcsr<"K">>;
  constexpr auto product = kernel<"parted_product">(
      [](in<"A", float, "M", stored> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
        return C(i, j) = sum<k>(A(i, k) * B(k, j));
      });
  const auto code = make_dispatcher(any_kernel(product), untuned());
  constexpr std::int64_t n = 3;
  std::vector<float> b(12 * n);
  for (std::size_t at = 0; at < b.size(); ++at) b[at] = static_cast<float>(at * 7 % 11) - 5;
  for (const int first : {4, 3, 4}) {  // in a row of its own, in one of a block
    const blocks_and_elements a(first);
    const parted_matrix<float, stored> m(csr(a.offsets, a.indices, a.values, 12),
                                         {.least_fill = 1});
    CHECK(m.exclusive_rows() == (first == 4));
    std::vector<float> c(16 * n, 99);
    const std::int64_t right[] = {12, n}, result[] = {16, n}, strides[] = {n, 1};
    const auto arrays = m.arguments();
    std::vector<dispatch::call_argument> all;
    for (const dsl::argument& one : arrays)
      all.push_back({one.data, one.extents.data(), one.strides.data()});
    all.push_back({b.data(), right, strides});
    all.push_back({c.data(), result, strides});
    CHECK(blocks_with_init(code->task(all.data()).function) == (first == 4 ? 2 : 1));
    code->call(all.data());
    std::vector<float> expected(16 * n, 0);
    for (std::size_t row = 0; row < 16; ++row)
      for (auto at = static_cast<std::size_t>(a.offsets[row]);
           at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
        for (std::size_t column = 0; column < n; ++column)
          expected[row * n + column] +=
              a.values[at] * b[static_cast<std::size_t>(a.indices[at]) * n + column];
    CHECK(c == expected);
  }
}

TEST_CASE(
    "results on a pattern carry the iterations that a schedule may fuse, sums over rows do not") {
  constexpr auto sampled = kernel<"sampled">(
      [](in<"A", float, "M", compressed<"N">> A, in<"X", float, "M", "K"> X,
         in<"Y", float, "N", "K"> Y, out<"S", float, "M", stored_like<"N", "A">> S) {
        return S(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k));
      });
  constexpr auto product = kernel<"product">(
      [](in<"A", float, "M", compressed<"N">> A, in<"Y", float, "N", "K"> Y,
         out<"C", float, "M", "K"> C) { return C(i, k) = sum<j>(A(i, j) * Y(j, k)); });
  const blocks_and_elements a(3);
  const auto count = static_cast<std::int64_t>(a.indices.size());
  const std::int64_t offsets[] = {17}, indices[] = {count, 12}, x[] = {16, 32}, y[] = {12, 32},
                     rows[] = {32, 1}, one[] = {1};
  std::vector<float> left(16 * 32, 1), right(12 * 32, 2), out(16 * 32, 99);
  const auto place = [](const auto& v) {
    return const_cast<void*>(static_cast<const void*>(v.data()));
  };
  const std::vector<dispatch::call_argument> matrix{{place(a.offsets), offsets, one},
                                                    {place(a.indices), indices, one},
                                                    {place(a.values), indices, one}};
  std::vector<dispatch::call_argument> all = matrix;
  all.push_back({place(left), x, rows});
  all.push_back({place(right), y, rows});
  all.push_back({place(out), indices, one});
  const auto results = make_dispatcher(any_kernel(sampled), untuned());
  const auto carried = sparse::iterations_of(results->task(all.data()).function);
  REQUIRE(carried);
  CHECK(sparse::iterations_of_elements(*carried).size() == 2);
  results->call(all.data());
  for (std::size_t at = 0; at < a.values.size(); ++at) CHECK(out[at] == 64 * a.values[at]);
  all = matrix;
  all.push_back({place(right), y, rows});
  all.push_back({place(out), x, rows});
  const auto sums = make_dispatcher(any_kernel(product), untuned());
  CHECK_FALSE(sparse::iterations_of(sums->task(all.data()).function));
}
