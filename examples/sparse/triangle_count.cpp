// Who of my friends know each other? Triangles of a graph, and how clustered it is.
//
// Nodes stand in a ring, and each knows the three next to it on both sides. Such a ring of n nodes has 3 n
// triangles, and 60 % of the pairs of friends of a node know each other. Then one edge of ten is
// tied elsewhere, which takes most of that away and makes the world small (Watts and Strogatz, Nature 393,
// 1998).
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <set>
#include <utility>
#include <vector>

// [closed]
constexpr auto closed =
    tw::kernel<"closed">([](tw::in<"A", float, "N", tw::compressed<"N">> A,
                            tw::out<"T", float, "N", tw::stored_like<"N", "A">> T) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return T(i, j) = A(i, j) * tw::sum<k>(tw::intersect(A(i, k) * A(j, k)));
    });
// [closed]

namespace {

using graph = Eigen::SparseMatrix<float, Eigen::RowMajor>;

graph ring(int nodes, double tied_elsewhere, std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  std::set<std::pair<int, int>> edges;
  for (int node = 0; node < nodes; ++node)
    for (int step = 1; step <= 3; ++step) {
      int other = (node + step) % nodes;
      if (share(random) < tied_elsewhere)
        other = static_cast<int>(random() % static_cast<unsigned>(nodes));
      if (other != node) edges.insert({std::min(node, other), std::max(node, other)});
    }
  std::vector<Eigen::Triplet<float>> both;
  for (const auto& [a, b] : edges) {
    both.emplace_back(a, b, 1.0f);
    both.emplace_back(b, a, 1.0f);
  }
  graph out(nodes, nodes);
  out.setFromTriplets(both.begin(), both.end());
  return out;
}

template <class Call>
double seconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
  std::mt19937 random(7);
  const tw::tuned op{closed, {.seconds = 1, .threads = 1}};
  bool right = true;
  for (const double tied_elsewhere : {0.0, 0.1}) {
    const graph a = ring(20000, tied_elsewhere, random);
    std::vector<float> t(static_cast<std::size_t>(a.nonZeros()));
    op(a, t);  // tunes
    const double ours = seconds([&] { op(a, t); });
    double corners = 0, pairs = 0;
    for (const float of_edge : t) corners += static_cast<double>(of_edge);
    for (Eigen::Index node = 0; node < a.rows(); ++node) {
      const double friends = a.outerIndexPtr()[node + 1] - a.outerIndexPtr()[node];
      pairs += friends * (friends - 1);
    }
    double checked = 0;
    const double eigen = seconds([&] {
      const graph paths = a * a;
      checked = static_cast<double>(graph(paths.cwiseProduct(a)).sum());
    });
    std::cout << std::fixed << std::setprecision(0) << 100 * tied_elsewhere
              << " % of the edges tied elsewhere: " << corners / 6 << " triangles, "
              << std::setprecision(1) << 100 * corners / pairs
              << " % of the pairs of friends know each other (" << std::setprecision(2)
              << 1e3 * ours << " ms; by two products of Eigen's " << 1e3 * eigen << " ms)\n";
    right = right && corners == checked && (tied_elsewhere > 0 || corners / 6 == 3.0 * 20000);
  }
  std::cout << (right ? "Eigen counts as many.\n" : "Eigen counts others!\n");
  return right ? 0 : 1;
}
