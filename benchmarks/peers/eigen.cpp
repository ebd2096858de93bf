// Eigen, built with -O3 -march=native and OpenMP, as its manual recommends.
#include <Eigen/Dense>

#include "peer.hpp"

namespace bench {
namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using input = Eigen::Map<const matrix>;
using output = Eigen::Map<matrix>;

void gemm(const gemm_problem& g, int threads) {
  Eigen::setNbThreads(threads);
  output(g.c, g.m, g.n).noalias() = input(g.a, g.m, g.k) * input(g.b, g.k, g.n);
}

void softmax(const softmax_problem& s, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int i = 0; i < s.rows; ++i) {
    Eigen::Map<const Eigen::ArrayXf> x(s.x + static_cast<long>(i) * s.columns, s.columns);
    Eigen::Map<Eigen::ArrayXf> y(s.y + static_cast<long>(i) * s.columns, s.columns);
    y = (x - x.maxCoeff()).exp();
    y *= 1.0f / y.sum();
  }
}

}  // namespace

peer eigen_peer() {
  return {"eigen",
          "",
          [](const gemm_problem& g, int t) {
            return prepared{[=] { gemm(g, t); }, {}};
          },
          {},
          [](const softmax_problem& s, int t) {
            return prepared{[=] { softmax(s, t); }, {}};
          }};
}

}  // namespace bench
