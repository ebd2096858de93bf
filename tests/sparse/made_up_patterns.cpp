// What a session computes with when nobody gives it a matrix is a matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tilewright/expr/reify.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <vector>

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
       out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });

ir::function made_for(std::int64_t rows, std::int64_t columns, std::int64_t elements) {
  return sparse::lower(sparse::with_storage(reify(product, {{"M", rows}, {"K", columns}, {"N", 4}}),
                                            {{"A", elements}}));
}

struct pattern_of_run {
  std::vector<std::int32_t> offsets, indices;
};

pattern_of_run pattern_of(const search::runner& r, std::int64_t rows, std::int64_t elements) {
  const auto* offsets = static_cast<const std::int32_t*>(r.data()[0]);
  const auto* indices = static_cast<const std::int32_t*>(r.data()[1]);
  return {{offsets, offsets + rows + 1}, {indices, indices + elements}};
}

}  // namespace

TEST_CASE("made-up columns rise within each row, and reach the last ones") {
  const backend::executor& exec = backend::serial_executor();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const search::runner r(made_for(50, 400, 900), {}, exec, seed);
    const pattern_of_run p = pattern_of(r, 50, 900);
    std::int32_t last = 0;
    for (std::size_t row = 0; row < 50; ++row)
      for (auto at = static_cast<std::size_t>(p.offsets[row]);
           at < static_cast<std::size_t>(p.offsets[row + 1]); ++at) {
        if (at > static_cast<std::size_t>(p.offsets[row])) CHECK(p.indices[at] > p.indices[at - 1]);
        CHECK(p.indices[at] >= 0);
        CHECK(p.indices[at] < 400);
        last = std::max(last, p.indices[at]);
      }
    CHECK(last > 350);
  }
}

TEST_CASE("rows that are longer than there are columns stay in bounds") {
  const search::runner r(made_for(2, 3, 40), {}, backend::serial_executor(), 1);
  for (const std::int32_t column : pattern_of(r, 2, 40).indices) {
    CHECK(column >= 0);
    CHECK(column < 3);
  }
}

TEST_CASE("a pattern that is given stays as it is") {
  const std::vector<std::int32_t> offsets{0, 2, 2, 3}, indices{0, 4, 1};
  const auto bytes_of = [](const std::vector<std::int32_t>& v) {
    const auto* first = reinterpret_cast<const std::byte*>(v.data());
    return std::vector<std::byte>(first, first + v.size() * sizeof(std::int32_t));
  };
  const search::runner r(made_for(3, 5, 3), {}, backend::serial_executor(), 1,
                         {bytes_of(offsets), bytes_of(indices)});
  const pattern_of_run p = pattern_of(r, 3, 3);
  CHECK(p.offsets == offsets);
  CHECK(p.indices == indices);
}
