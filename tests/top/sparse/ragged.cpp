// Calls with ragged tensors and with tensors in compressed fibres.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Core>

#include <array>
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::b, axes::l, axes::n, axes::i, axes::j, axes::k, axes::d;
using sparse_frames::short_tuning;

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr auto batched =
    kernel<"batched">([](in<"X", float, "B", ragged<"L">, "K"> X, in<"W", float, "B", "K", "N"> W,
                         out<"Y", float, "B", stored_like<"L", "X">, "N"> Y) {
      return Y(b, l, n) = max(sum<k>(X(b, l, k) * W(b, k, n)), 0.0f);
    });
constexpr auto means = kernel<"means">(
    [](in<"X", float, "B", ragged<"L">, "D"> X, in<"count", float, "B"> count,
       out<"Y", float, "B", "D"> Y) { return Y(b, d) = sum<l>(X(b, l, d)) / max(count(b), 1.0f); });
constexpr auto mttkrp = kernel<"mttkrp">([](in<"A", float, "I", compressed<"J">, compressed<"K">> A,
                                            in<"B", float, "J", "D"> B, in<"C", float, "K", "D"> C,
                                            out<"Y", float, "I", "D"> Y) {
  return Y(i, d) = sum<j, k>(A(i, j, k) * B(j, d) * C(k, d));
});

/// Rows of 0 to 12 elements.
std::vector<std::int32_t> some_offsets(int rows) {
  std::vector<std::int32_t> out{0};
  for (int r = 0; r < rows; ++r) out.push_back(out.back() + r * 5 % 13);
  return out;
}

}  // namespace

TEST_CASE(
    "a ragged batched product: tuned and not, on one thread and two, extents that do not fit") {
  const std::vector<std::int32_t> offsets = some_offsets(23);
  const int places = offsets.back(), depth = 9, wide = 21;
  const matrix x = matrix::Random(places, depth);
  const std::vector<float> w(23 * static_cast<std::size_t>(depth * wide), 0.5f);
  for (const mode how : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      const tuned op(batched, short_tuning(how, threads));
      matrix y = matrix::Constant(places, wide, 99);
      op(ragged_of(offsets, x), view(w.data(), {23, depth, wide}), y);
      const matrix rows = (0.5f * x.rowwise().sum()).cwiseMax(0.0f);
      CHECK(y.isApprox(rows.replicate(1, wide), 1e-5f));
      matrix short_one(places - 1, wide);
      CHECK_THROWS_AS(op(ragged_of(offsets, x), view(w.data(), {23, depth, wide}), short_one),
                      argument_error);
      CHECK_THROWS_AS(op(ragged_of(offsets, x), view(w.data(), {22, depth, wide}), y),
                      argument_error);
    }
}

TEST_CASE("means over ragged rows, some of them empty, and another pattern with the same kernel") {
  const tuned op(means, short_tuning(mode::now, 2));
  for (const int count : {17, 40}) {
    const std::vector<std::int32_t> offsets = some_offsets(count);
    const matrix x = matrix::Random(offsets.back(), 6);
    std::vector<float> lengths;
    for (int r = 0; r < count; ++r)
      lengths.push_back(static_cast<float>(offsets[static_cast<std::size_t>(r) + 1] -
                                           offsets[static_cast<std::size_t>(r)]));
    matrix y = matrix::Constant(count, 6, 99), expected = matrix::Zero(count, 6);
    op(ragged_of(offsets, x), lengths, y);
    for (int r = 0; r < count; ++r)
      for (int at = offsets[static_cast<std::size_t>(r)];
           at < offsets[static_cast<std::size_t>(r) + 1]; ++at)
        expected.row(r) += x.row(at) / lengths[static_cast<std::size_t>(r)];
    CHECK(y.isApprox(expected, 1e-5f));
  }
}

TEST_CASE("sums over fibres: tuned and not, new values, none at all") {
  const std::array<std::int64_t, 3> extents{40, 11, 13};
  std::array<std::vector<int>, 3> at;
  std::vector<float> values;
  for (int e = 0; e < 700; ++e) {
    const int place = e * 7 % 5720;
    if (place / 143 % 3 == 1) continue;  // rows without elements
    at[0].push_back(place / 143);
    at[1].push_back(place / 13 % 11);
    at[2].push_back(place % 13);
    values.push_back(static_cast<float>(e % 9 - 4));
  }
  csf_tensor<float, 3> a(extents, at, values);
  const matrix u = matrix::Random(11, 10), v = matrix::Random(13, 10);
  for (const mode how : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      const tuned op(mttkrp, short_tuning(how, threads));
      matrix y = matrix::Constant(40, 10, 99), expected = matrix::Zero(40, 10);
      op(a, u, v, y);
      for (std::size_t e = 0; e < values.size(); ++e)
        expected.row(at[0][e]) += values[e] * u.row(at[1][e]).cwiseProduct(v.row(at[2][e]));
      CHECK(y.isApprox(expected, 1e-5f));
      for (float& value : values) value = -value;
      a.refresh(values);
      op(a, u, v, y);
      CHECK(y.isApprox(-expected, 1e-5f));
      CHECK_THROWS_AS(op(a, matrix::Random(12, 10).eval(), v, y), argument_error);
    }
  const csf_tensor<float, 3> empty(extents, std::array<std::vector<int>, 3>{},
                                   std::vector<float>{});
  const tuned op(mttkrp, short_tuning(mode::off, 1));
  matrix y = matrix::Constant(40, 10, 99);
  op(empty, u, v, y);
  CHECK(y.isZero());
}
