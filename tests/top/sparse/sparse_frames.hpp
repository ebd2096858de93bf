// What calls with sparse matrices are tested with: options of a short session, random matrices of Eigen's, what they
// come to, and what a call that is refused says.
#pragma once

#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <cstddef>
#include <random>
#include <vector>

#include <expr/refusal.hpp>

namespace sparse_frames {

using sparse_rows = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using dense_rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using test_kernels::refusal;

/// A few candidates, kept nowhere.
inline tw::tuned_options short_tuning(tw::mode m = tw::mode::off, int threads = 1) {
  tw::tuned_options out;
  out.seconds = 0.3;
  out.trials = 4;
  out.database = ":memory:";
  out.mode = m;
  out.threads = threads;
  return out;
}

/// Every third row is empty, the others have up to `each` and twice as many elements; these are whole numbers, and may
/// be 0.
inline sparse_rows random_rows(int rows, int columns, int each, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r)
    for (int e = 0; e < each * (r % 3); ++e)
      entries.emplace_back(r, below(columns), static_cast<float>(below(100) - 50));
  sparse_rows out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// The sampled product of the rows of `x` and `y` at the elements of `a`, in their order.
inline std::vector<float> sampled_products(const sparse_rows& a, const dense_rows& x,
                                           const dense_rows& y) {
  std::vector<float> out;
  for (int r = 0; r < a.rows(); ++r)
    for (sparse_rows::InnerIterator at(a, r); at; ++at)
      out.push_back(at.value() * x.row(r).dot(y.row(at.col())));
  return out;
}

inline void check_equal(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t n = 0; n < a.size(); ++n) CHECK(a[n] == doctest::Approx(b[n]).epsilon(1e-3));
}

}  // namespace sparse_frames
