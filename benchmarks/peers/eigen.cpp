// Eigen, built with -O3 -march=native and OpenMP, as its manual recommends.
#include <Eigen/Dense>

#include "dense_peer.hpp"

namespace bench {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using input = Eigen::Map<const matrix<T>>;
template <class T>
using output = Eigen::Map<matrix<T>>;
using numbers = Eigen::Map<const Eigen::ArrayXf>;
using results = Eigen::Map<Eigen::ArrayXf>;

const float* in(addresses at, int i) { return static_cast<const float*>(at[i]); }
float* out(addresses at, int i) { return static_cast<float*>(at[i]); }

template <class T>
void product(const dense_shape& s, addresses at, int threads) {
  Eigen::setNbThreads(threads);
  const auto *a = static_cast<const T*>(at[0]), *b = static_cast<const T*>(at[1]);
  auto* c = static_cast<T*>(at[2]);
  for (long i = 0; i < s.batch; ++i)
    output<T>(c + i * s.m * s.n, s.m, s.n).noalias() =
        input<T>(a + i * s.m * s.k, s.m, s.k) * input<T>(b + i * s.k * s.n, s.k, s.n);
}

void softmax(const dense_shape& s, addresses at, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (long i = 0; i < s.m; ++i) {
    const numbers x(in(at, 0) + i * s.n, s.n);
    results y(out(at, 1) + i * s.n, s.n);
    y = (x - x.maxCoeff()).exp();
    y *= 1.0f / y.sum();
  }
}

void layer_norm(const dense_shape& s, addresses at, int threads) {
  const numbers gamma(in(at, 1), s.n), beta(in(at, 2), s.n);
  const float epsilon = *in(at, 3);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (long i = 0; i < s.m; ++i) {
    const numbers x(in(at, 0) + i * s.n, s.n);
    const float mean = x.mean(), scale = 1.0f / std::sqrt((x - mean).square().mean() + epsilon);
    results(out(at, 4) + i * s.n, s.n) = (x - mean) * scale * gamma + beta;
  }
}

/// What Eigen computes on one thread, however many it may use.
std::function<void()> on_one_thread(const dense_shape& s, addresses at) {
  switch (s.kind) {
    case dense_kind::norm:
      return [=] { *out(at, 1) = numbers(in(at, 0), s.m * s.n).matrix().norm(); };
    case dense_kind::chain:
      return [=] {
        results(out(at, 1), s.n) =
            (numbers(in(at, 0), s.n) * 1.5f + 0.5f).max(0.0f).square() - 1.0f;
      };
    case dense_kind::add_relu:
      return [=] {
        results(out(at, 2), s.n) = (numbers(in(at, 0), s.n) + numbers(in(at, 1), s.n)).max(0.0f);
      };
    case dense_kind::row_sums:
      return [=] {
        results(out(at, 1), s.m) = input<float>(in(at, 0), s.m, s.n).rowwise().sum().array();
      };
    case dense_kind::column_sums:
      return [=] {
        results(out(at, 1), s.n) =
            input<float>(in(at, 0), s.m, s.n).colwise().sum().transpose().array();
      };
    default: return {};
  }
}

prepared offered(const dense_shape& s, addresses at, int threads) {
  switch (s.kind) {
    case dense_kind::product: return {[=] { product<float>(s, at, threads); }, {}};
    case dense_kind::double_product: return {[=] { product<double>(s, at, threads); }, {}};
    case dense_kind::softmax: return {[=] { softmax(s, at, threads); }, {}};
    case dense_kind::layer_norm: return {[=] { layer_norm(s, at, threads); }, {}};
    default: break;
  }
  return {on_one_thread(s, at), {}};
}

}  // namespace

dense_peer eigen_peer() {
  return {"eigen",
          "",
          {dense_kind::product, dense_kind::double_product, dense_kind::softmax, dense_kind::norm,
           dense_kind::layer_norm, dense_kind::chain, dense_kind::add_relu, dense_kind::row_sums,
           dense_kind::column_sums},
          offered};
}

}  // namespace bench
