// A sparse matrix as a parameter: five steps of smoothing on a graph, and how fast one is.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

// [sparse]
constexpr auto smooth =
    tw::kernel<"smooth">([](tw::in<"A", float, "M", tw::compressed<"K">> A,
                            tw::in<"X", float, "K", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return Y(i, j) = tw::sum<k>(A(i, k) * X(k, j));
    });
// [sparse]

namespace {

using sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Each node takes the mean of itself and its neighbours: rows add up to one.
sparse random_graph(int nodes, int neighbours) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(0, nodes - 1);
  std::vector<Eigen::Triplet<float>> entries;
  for (int node = 0; node < nodes; ++node) {
    const float share = 1.0f / static_cast<float>(neighbours + 1);
    entries.emplace_back(node, node, share);
    for (int n = 0; n < neighbours; ++n) entries.emplace_back(node, any(random), share);
  }
  sparse out(nodes, nodes);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

double best_of(int repeats, const auto& work) {
  double best = 1e9;
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

/// How far the values of a column are from their mean, on the average over columns.
float spread(const dense& x) {
  return std::sqrt((x.rowwise() - x.colwise().mean()).array().square().mean());
}

}  // namespace

int main() {
  const sparse graph = random_graph(20000, 8);
  dense x = dense::Random(20000, 32), y(20000, 32), expected(20000, 32);

  tw::tuned op{smooth, {.seconds = 3}};
  op(graph, x, y);  // tunes on this pattern
  expected = graph * x;
  const float difference = (y - expected).cwiseAbs().maxCoeff();
  const double ours = best_of(20, [&] { op(graph, x, y); });
  const double eigen = best_of(20, [&] { expected.noalias() = graph * x; });

  std::cout << "spread of the values before smoothing " << spread(x) << "\n";
  for (int step = 1; step <= 5; ++step) {
    op(graph, x, y);
    std::swap(x, y);
    std::cout << "  after step " << step << "  " << spread(x) << "\n";
  }
  std::cout << graph.nonZeros() << " elements, one step: " << ours << " ms, Eigen " << eigen
            << " ms, largest difference " << difference << "\n\n"
            << op.report(graph, x, y);
  return difference < 1e-5f && spread(x) < 0.01f ? 0 : 1;
}
