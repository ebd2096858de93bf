// Sparse matrices for tests: random ones and those at the edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace patterns {

/// Compressed sparse rows.
template <class Index = std::int32_t>
struct csr_matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Index> offsets{0};
  std::vector<Index> indices;
  std::vector<float> values;
  std::string name{};

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(indices.size()); }

  void add_row(const std::vector<std::int64_t>& at, std::mt19937& random) {
    std::uniform_real_distribution<float> value(-1, 1);
    for (const std::int64_t c : at) {
      indices.push_back(static_cast<Index>(c));
      values.push_back(value(random));
    }
    offsets.push_back(static_cast<Index>(indices.size()));
    ++rows;
  }

  /// [rows, columns]
  std::vector<double> dense() const {
    std::vector<double> out(static_cast<std::size_t>(rows * columns), 0);
    for (std::int64_t i = 0; i < rows; ++i)
      for (Index p = offsets[static_cast<std::size_t>(i)];
           p < offsets[static_cast<std::size_t>(i) + 1]; ++p)
        out[static_cast<std::size_t>(i * columns + indices[static_cast<std::size_t>(p)])] +=
            static_cast<double>(values[static_cast<std::size_t>(p)]);
    return out;
  }
};

/// Each element is stored with probability `fill`; every third row of a sparse one is empty.
template <class Index = std::int32_t>
csr_matrix<Index> random_matrix(std::int64_t rows, std::int64_t columns, double fill,
                                std::uint32_t seed, std::int64_t full_row = -1) {
  std::mt19937 random(seed);
  std::bernoulli_distribution stored(fill);
  csr_matrix<Index> out;
  out.columns = columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<std::int64_t> at;
    for (std::int64_t c = 0; c < columns; ++c)
      if (i == full_row || (i % 3 != 1 && stored(random))) at.push_back(c);
    out.add_row(at, random);
  }
  out.name =
      std::to_string(rows) + " x " + std::to_string(columns) + ", seed " + std::to_string(seed);
  return out;
}

/// Between -1 and 1.
inline std::vector<float> random_values(std::int64_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& v : out) v = value(random);
  return out;
}

/// Shapes and rows at the edge, and random ones.
inline std::vector<csr_matrix<>> many() {
  std::vector<csr_matrix<>> out{random_matrix(7, 9, 0.3, 1),      random_matrix(1, 40, 0.5, 2),
                                random_matrix(40, 1, 0.5, 3),     random_matrix(1, 1, 1, 4),
                                random_matrix(12, 33, 0.1, 5, 4),  // one dense row
                                random_matrix(5, 6, 0, 6, 2),      // nothing but one row
                                random_matrix(33, 17, 0.9, 7)};
  for (std::uint32_t seed = 8; seed < 20; ++seed)
    out.push_back(random_matrix(1 + seed % 5 * 9, 1 + seed % 7 * 8, 0.02 * seed, seed));
  return out;
}

}  // namespace patterns
