#include <Eigen/Dense>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "sampled_peer.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

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

#if defined(__AVX512F__) && defined(__AVX512VL__)

/// The sums of eight vectors.
__m256 sums_of(const __m512 (&v)[8]) {
  const auto pairs = [&](int at) {
    const __m512d a = _mm512_castps_pd(v[at]), b = _mm512_castps_pd(v[at + 1]);
    return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                         _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  };
  const auto fours = [&](int at) {
    const __m512 a = pairs(at), b = pairs(at + 2);
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
  };
  const __m512 a = fours(0), b = fours(4);
  const __m512 halves =
      _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
  return _mm256_add_ps(_mm512_castps512_ps256(_mm512_shuffle_f32x4(halves, halves, 0x88)),
                       _mm512_castps512_ps256(_mm512_shuffle_f32x4(halves, halves, 0xdd)));
}

/// The dot products of x with eight rows.
__m256 dots(const float* x, const float* const (&rows)[8], int depth) {
  __m512 sums[8];
  for (__m512& s : sums) s = _mm512_setzero_ps();
  int k = 0;
  for (; k + 16 <= depth; k += 16) {
    const __m512 left = _mm512_loadu_ps(x + k);
    for (int u = 0; u < 8; ++u)
      sums[u] = _mm512_fmadd_ps(left, _mm512_loadu_ps(rows[u] + k), sums[u]);
  }
  if (k < depth) {
    const auto rest = static_cast<__mmask16>((1u << (depth - k)) - 1);
    const __m512 left = _mm512_maskz_loadu_ps(rest, x + k);
    for (int u = 0; u < 8; ++u)
      sums[u] = _mm512_fmadd_ps(left, _mm512_maskz_loadu_ps(rest, rows[u] + k), sums[u]);
  }
  return sums_of(sums);
}

#endif

}  // namespace

#if defined(__AVX512F__) && defined(__AVX512VL__)

bool sampled_by_hand(const sampled_problem& p) {
  const sparse_matrix& a = *p.a;
  for (int row = 0; row < a.rows; ++row) {
    const float* x = p.x + static_cast<std::ptrdiff_t>(row) * p.depth;
    const int begin = a.offsets[static_cast<std::size_t>(row)],
              end = a.offsets[static_cast<std::size_t>(row) + 1];
    for (int at = begin; at < end; at += 8) {
      const float* rows[8];
      for (int u = 0; u < 8; ++u) {
        const auto element = static_cast<std::size_t>(std::min(at + u, end - 1));
        rows[u] = p.y + static_cast<std::ptrdiff_t>(a.indices[element]) * p.depth;
      }
      const auto there = static_cast<__mmask8>((1u << std::min(end - at, 8)) - 1);
      const __m256 values = _mm256_maskz_loadu_ps(there, a.values.data() + at);
      _mm256_mask_storeu_ps(p.result + at, there, _mm256_mul_ps(values, dots(x, rows, p.depth)));
    }
  }
  return true;
}

#else

bool sampled_by_hand(const sampled_problem&) { return false; }

#endif

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
