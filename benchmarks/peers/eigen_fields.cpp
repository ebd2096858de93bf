#include "eigen_fields.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace bench::eigen {
namespace {

using Eigen::Dynamic, Eigen::Map;
template <class T, int Rows = Dynamic, int Columns = Rows>
using rows = Eigen::Matrix<T, Rows, Columns, Eigen::RowMajor>;
using three_rows = Eigen::Matrix<float, 3, Dynamic>;

template <class T = float>
T* at(void* const* a, int i) {
  return static_cast<T*>(a[i]);
}

}  // namespace

void product(int m, int k, int n, void* const* a) {
  Map<rows<double>>(at<double>(a, 2), m, n).noalias() =
      Map<const rows<double>>(at<double>(a, 0), m, k) *
      Map<const rows<double>>(at<double>(a, 1), k, n);
}

void small_products(int count, void* const* a) {
  using matrix = rows<float, 6>;
  for (int i = 0; i < count; ++i)
    Map<matrix>(at(a, 2) + 36 * i).noalias() =
        Map<const matrix>(at(a, 0) + 36 * i) * Map<const matrix>(at(a, 1) + 36 * i);
}

void turn(int points, void* const* a) {
  const Eigen::Matrix3f r = Map<const rows<float, 3>>(at(a, 0));
  Map<three_rows> q(at(a, 3), 3, points);
  q.noalias() = r.lazyProduct(Map<const three_rows>(at(a, 2), 3, points));
  q.colwise() += Map<const Eigen::Vector3f>(at(a, 1));
}

void transform(int vectors, void* const* a) {
  const Eigen::Matrix4f m = Map<const rows<float, 4>>(at(a, 0));
  for (int i = 0; i < vectors; ++i)
    Map<Eigen::Vector4f>(at(a, 2) + 4 * i).noalias() =
        m * Map<const Eigen::Vector4f>(at(a, 1) + 4 * i);
}

void mix(int voices, int samples, void* const* a) {
  Map<Eigen::VectorXf>(at(a, 2), samples).noalias() =
      Map<const rows<float>>(at(a, 0), voices, samples).transpose() *
      Map<const Eigen::VectorXf>(at(a, 1), voices);
}

void payoff(int paths, void* const* a) {
  const float s = *at(a, 1), k = *at(a, 2), drift = *at(a, 3), volatility = *at(a, 4);
  *at(a, 5) = ((Map<const Eigen::ArrayXf>(at(a, 0), paths) * volatility + drift).exp() * s - k)
                  .max(0.0f)
                  .mean();
}

void covariance(int assets, int days, void* const* a) {
  rows<double> d = Map<const rows<double>>(at<double>(a, 0), assets, days);
  d.colwise() -= Eigen::VectorXd(d.rowwise().mean());
  Map<rows<double>>(at<double>(a, 1), assets, assets).noalias() = d * d.transpose() / (days - 1.0);
}

void rms_norm(int tokens, int width, void* const* a) {
  using row = Eigen::Array<float, 1, Dynamic>;
  const Map<const row> gain(at(a, 1), width);
  for (int t = 0; t < tokens; ++t) {
    const Map<const row> x(at(a, 0) + t * width, width);
    Map<row>(at(a, 2) + t * width, width) = x * gain / std::sqrt(x.square().mean() + 1e-6f);
  }
}

}  // namespace bench::eigen
