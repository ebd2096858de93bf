// The product that relational graph convolutions and convolutions of points share: each stored element of A is
// an edge, its kind says which matrix of weights the features of the neighbour go through.
#pragma once

#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <cmath>
#include <cstdint>
#include <vector>

// [relational]
constexpr auto relational =
    tw::kernel<"relational">([](tw::in<"A", float, "M", tw::compressed<"N">> A,
                                tw::in<"kind", std::int32_t, "M", tw::stored_like<"N", "A">> kind,
                                tw::in<"X", float, "N", "K"> X, tw::in<"W", float, "R", "K", "D"> W,
                                tw::out<"Y", float, "M", "D"> Y) {
      using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::d;
      return Y(i, d) = tw::sum<j, k>(A(i, j) * X(j, k) * W(kind(i, j), k, d));
    });
// [relational]

using graph = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using features = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Largest difference of rows of `y` from what Eigen computes in double, as a share of the largest element.
/// @param weights one matrix under the other, [kinds * K, D]
inline double difference(const graph& a, const std::vector<std::int32_t>& kind, const features& x,
                         const features& weights, const features& y, Eigen::Index step) {
  double worst = 0, largest = 0;
  for (Eigen::Index row = 0; row < a.rows(); row += step) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(y.cols());
    for (auto at = a.outerIndexPtr()[row]; at < a.outerIndexPtr()[row + 1]; ++at)
      sum += static_cast<double>(a.valuePtr()[at]) * x.row(a.innerIndexPtr()[at]).cast<double>() *
             weights.middleRows(kind[static_cast<std::size_t>(at)] * x.cols(), x.cols())
                 .cast<double>();
    worst = std::max(worst, (y.row(row).cast<double>() - sum).cwiseAbs().maxCoeff());
    largest = std::max(largest, sum.cwiseAbs().maxCoeff());
  }
  return worst / std::max(largest, 1e-30);
}
