// A layer whose weights were pruned by columns of eight rows, in a format that has no name in the library: strips.
//
// The format is a rule: which axes the storage has, where an element goes along them, and where it comes from. The
// library proves that both maps undo each other, converts the matrix at the first call, and searches schedules for
// the program over these axes.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

constexpr auto pruned_in_strips = tw::kernel<"pruned_in_strips">(
    [](tw::in<"W", float, "M", tw::compressed<"K">> W, tw::in<"X", float, "K", "N"> X,
       tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return Y(i, j) = tw::max(tw::sum<k>(W(i, k) * X(k, j)), 0.0f);
    });

// [format]
tw::sparse::format_rule strips(std::int64_t rows, std::int64_t columns) {
  using tw::ir::axis_kind;
  return {"strips",
          {{"strip", axis_kind::dense_fixed, "", (rows + 7) / 8},
           {"column", axis_kind::sparse_variable, "strip", columns},
           {"row", axis_kind::dense_fixed, "column", 8}},
          tw::ir::make_index_map("IndexMap.from_func(lambda i, j: (i // 8, j, i % 8), "
                                 "inverse_index_map=lambda s, j, r: (s * 8 + r, j))")};
}
// [format]

namespace {

using sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One column in ten is left of each strip of eight rows.
sparse pruned_weights(int rows, int columns) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> weight(-1, 1);
  std::vector<Eigen::Triplet<float>> entries;
  for (int strip = 0; strip < rows; strip += 8)
    for (int c = 0; c < columns; ++c)
      if (random() % 10 == 0)
        for (int r = strip; r < std::min(strip + 8, rows); ++r)
          entries.emplace_back(r, c, weight(random));
  sparse out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

double microseconds(const auto& work) {
  double least = 1e9;
  for (int n = 0; n < 50; ++n) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

}  // namespace

int main() {
  sparse weights = pruned_weights(1000, 512);
  const dense x = dense::Random(512, 64);
  dense y(1000, 64), y_rows(1000, 64);
  const tw::tuned by_rows{pruned_in_strips, {.seconds = 1, .threads = 1}};
  // [call]
  const tw::tuned by_strips{
      pruned_in_strips, {.seconds = 1, .threads = 1, .format = strips, .matrices_change = false}};
  by_strips(weights, x, y);  // proves, converts, tunes, and keeps what it has made
  // [call]
  by_rows(weights, x, y_rows);
  const float first = (y - y_rows).cwiseAbs().maxCoeff();
  const double rows = microseconds([&] { by_rows(weights, x, y_rows); });
  const double own = microseconds([&] { by_strips(weights, x, y); });

  const std::string report = by_strips.report(weights, x, y);

  // weights that change in place: each call looks whether they did, and gathers new values
  const tw::tuned by_changing_strips{pruned_in_strips,
                                     {.seconds = 1, .threads = 1, .format = strips}};
  float second = 0;
  for (int step = 0; step < 3; ++step) {
    by_changing_strips(weights, x, y);
    by_rows(weights, x, y_rows);
    second = std::max(second, (y - y_rows).cwiseAbs().maxCoeff());
    weights.coeffs() *= -0.5f;
  }
  const auto line = report.find("  format ");
  std::cout << weights.nonZeros() << " weights of 1000 x 512; compressed rows " << rows
            << " us, strips " << own << " us a call\n"
            << report.substr(line, report.find('\n', line) - line) << "\n"
            << "results differ by " << first << ", with new values by " << second << "\n";
  return first < 1e-3f && second < 1e-3f ? 0 : 1;
}
