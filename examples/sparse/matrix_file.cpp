// The product of a matrix from a Matrix Market file with 32 vectors:
//
//     matrix_file bcsstk17.mtx
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <tilewright/interop/matrix_market.hpp>
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

constexpr auto product =
    tw::kernel<"product">([](tw::in<"A", float, "M", tw::compressed<"K">> A,
                             tw::in<"B", float, "K", 32> B, tw::out<"C", float, "M", 32> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return C(i, j) = tw::sum<k>(A(i, k) * B(k, j));
    });

int main(int argc, char** argv) try {
  const char* path = argc > 1 ? argv[1] : MATRIX;
  // [file]
  const auto a = tw::read_matrix_market<float>(path);
  // [file]
  const auto columns = static_cast<std::size_t>(a.columns()),
             rows = static_cast<std::size_t>(a.rows());
  std::vector<float> b(columns * 32), c(rows * 32);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<float>(n * 7 % 11) - 5;
  const tw::tuned op{product, {.seconds = 1, .threads = 1}};
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 20; ++run) {  // the first one tunes
    const auto start = std::chrono::steady_clock::now();
    op(a, tw::view(b.data(), {a.columns(), 32}), tw::view(c.data(), {a.rows(), 32}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::cout << path << ": " << a.rows() << " x " << a.columns() << ", " << a.nonzeros()
            << " elements\n32 vectors take " << 1e6 * best << " us, "
            << 64e-9 * static_cast<double>(a.nonzeros()) / best << " GFLOP/s\n";

  double worst = 0;  // difference from double, as a share of what a row adds up
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < 32; ++j) {
      double sum = 0, size = 1e-30;
      for (auto at = static_cast<std::size_t>(a.offsets()[row]);
           at < static_cast<std::size_t>(a.offsets()[row + 1]); ++at) {
        const double term =
            static_cast<double>(a.values()[at]) *
            static_cast<double>(b[static_cast<std::size_t>(a.indices()[at]) * 32 + j]);
        sum += term;
        size += std::abs(term);
      }
      worst = std::max(worst, std::abs(static_cast<double>(c[row * 32 + j]) - sum) / size);
    }
  std::cout << "largest difference from double: " << worst << "\n";

  const std::vector<int> row{2, 0, 1}, column{0, 1, 1};
  const std::vector<float> value{1, 2, 3};
  // [names]
  const tw::csr_matrix<float> edges(3, 2, row, column, value);     // COO: coordinates in any order
  const tw::sell_matrix<float, 4> beside(edges, {.window = 256});  // SELL-4-256
  // CSF of two levels
  const tw::csf_tensor<float, 2> fibres({3, 2}, std::array{row, column}, value);
  // [names]
  std::cout << "by coordinates: " << edges.nonzeros() << " elements, " << beside.nonzeros()
            << " side by side, " << fibres.nonzeros() << " in fibres\n";
  return worst < 1e-5 ? 0 : 1;
} catch (const tw::argument_error& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
