// What a call of a kernel with sparse arguments makes of it: what its matrix promises.
#include <tilewright/model/dispatch.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/ir/visit.hpp>

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
  constexpr dim stored = parts<bsr<"K", 4>, dcsr<"K">>;
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
