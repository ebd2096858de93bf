// What calls with sparse matrices are tested with: options of a short session, random matrices of Eigen's, and what a
// call that is refused says.
#pragma once

#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>

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

}  // namespace sparse_frames
