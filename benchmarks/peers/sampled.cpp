#include <Eigen/Dense>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "sampled_peer.hpp"

namespace bench {
namespace {

using row_map = Eigen::Map<const Eigen::VectorXf>;

void sample_row(const sampled_problem& p, int row, float* to) {
  const sparse_matrix& a = *p.a;
  const row_map x(p.x + static_cast<std::ptrdiff_t>(row) * p.depth, p.depth);
  const int begin = a.offsets[static_cast<std::size_t>(row)],
            end = a.offsets[static_cast<std::size_t>(row) + 1];
  for (int at = begin; at < end; ++at) {
    const auto column = static_cast<std::ptrdiff_t>(a.indices[static_cast<std::size_t>(at)]);
    to[at - begin] =
        a.values[static_cast<std::size_t>(at)] * x.dot(row_map(p.y + column * p.depth, p.depth));
  }
}

}  // namespace

void sampled_by_eigen(const sampled_problem& p) {
  for (int row = 0; row < p.a->rows; ++row)
    sample_row(p, row, p.result + p.a->offsets[static_cast<std::size_t>(row)]);
}

void attention_by_eigen(const sampled_problem& p) {
  const sparse_matrix& a = *p.a;
  std::vector<float> scores(static_cast<std::size_t>(a.columns));
  for (int row = 0; row < a.rows; ++row) {
    const int begin = a.offsets[static_cast<std::size_t>(row)],
              length = a.offsets[static_cast<std::size_t>(row) + 1] - begin;
    Eigen::Map<Eigen::VectorXf> out(p.result + static_cast<std::ptrdiff_t>(row) * p.depth, p.depth);
    out.setZero();
    if (length == 0) continue;
    sample_row(p, row, scores.data());
    Eigen::Map<Eigen::ArrayXf> e(scores.data(), length);
    e = (e - e.maxCoeff()).exp();
    const float total = e.sum();
    for (int at = 0; at < length; ++at) {
      const auto column =
          static_cast<std::ptrdiff_t>(a.indices[static_cast<std::size_t>(begin + at)]);
      out += e[at] * row_map(p.v + column * p.depth, p.depth);
    }
    out /= total;
  }
}

}  // namespace bench
