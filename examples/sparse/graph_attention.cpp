// A layer of graph attention: each node takes the features of its neighbours, weighted by how well they
// match its own.
//
// The graph is a ring of friends with a few acquaintances across it. Nodes belong to one of three groups,
// and their features say which, with noise. A layer that attends to similar neighbours brings out the
// group, where the plain mean of the neighbours mixes groups. The node itself is none of them.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <set>
#include <vector>

// [attend]
constexpr auto attend =
    tw::kernel<"attend">([](tw::in<"A", float, "M", tw::compressed<"N">> A,
                            tw::in<"Q", float, "M", "K"> Q, tw::in<"P", float, "N", "K"> P,
                            tw::in<"V", float, "N", "D"> V, tw::out<"O", float, "M", "D"> O) {
      using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::d;
      tw::temp<"s", float, "M", tw::stored_like<"N", "A">> s;
      tw::temp<"e", float, "M", tw::stored_like<"N", "A">> e;
      tw::temp<"peak", float, "M"> peak;
      tw::temp<"total", float, "M"> total;
      return tw::blocks(s(i, j) = A(i, j) * tw::sum<k>(Q(i, k) * P(j, k)),
                        peak(i) = tw::max<j>(tw::where_stored(s)(i, j)),
                        e(i, j) = tw::exp(s(i, j) - peak(i)), total(i) = tw::sum<j>(e(i, j)),
                        O(i, d) = tw::sum<j>(e(i, j) * V(j, d)) / tw::max(total(i), 1e-30f));
    });
// [attend]

namespace {

using graph = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using features = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int groups = 3, width = 32;

graph ring_of_friends(int nodes, std::mt19937& random) {
  std::vector<Eigen::Triplet<float>> edges;
  for (int node = 0; node < nodes; ++node) {
    std::set<int> known;
    for (int step = 1; step <= 6; ++step) known.insert((node + step) % nodes);
    for (int n = 0; n < 3; ++n)
      known.insert(static_cast<int>(random() % static_cast<unsigned>(nodes)));
    known.erase(node);
    for (const int other : known) edges.emplace_back(node, other, 1.0f);
  }
  graph out(nodes, nodes);
  out.setFromTriplets(edges.begin(), edges.end());
  return out;
}

/// Share of the nodes whose largest feature of the first `groups` is that of their own group.
double recognized(const features& f) {
  int right = 0;
  for (Eigen::Index node = 0; node < f.rows(); ++node) {
    Eigen::Index best = 0;
    f.row(node).head(groups).maxCoeff(&best);
    right += best == node % groups;
  }
  return static_cast<double>(right) / static_cast<double>(f.rows());
}

}  // namespace

int main() {
  std::mt19937 random(5);
  std::normal_distribution<float> noise(0, 1);
  const graph a = ring_of_friends(20000, random);
  features x = features::Zero(a.rows(), width);
  for (Eigen::Index node = 0; node < x.rows(); ++node) {
    for (Eigen::Index f = 0; f < width; ++f) x(node, f) = 0.6f * noise(random);
    for (Eigen::Index f = node % groups; f < width; f += groups) x(node, f) += 0.7f;
  }
  features y(a.rows(), width);
  const tw::tuned op{attend, {.seconds = 2, .threads = 1}};
  op(a, x, x, x, y);
  const features mean = a * x;  // times the number of neighbours, which changes no maximum
  std::cout << a.rows() << " nodes, " << a.nonZeros() << " edges, " << width << " features\n"
            << std::fixed << std::setprecision(1)
            << "nodes whose group their features say: " << 100 * recognized(x) << " %\n"
            << "after the mean of the neighbours:     " << 100 * recognized(mean) << " %\n"
            << "after attention to the neighbours:    " << 100 * recognized(y) << " %\n";

  double worst = 0;  // of 100 nodes, from what Eigen computes in double
  for (Eigen::Index node = 0; node < a.rows(); node += a.rows() / 100) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(width);
    double total = 0;
    for (graph::InnerIterator edge(a, node); edge; ++edge) {
      const double score =
          std::exp(static_cast<double>(edge.value()) *
                   x.row(node).cast<double>().dot(x.row(edge.col()).cast<double>()));
      total += score;
      sum += score * x.row(edge.col()).cast<double>().transpose();
    }
    const Eigen::VectorXd got = y.row(node).cast<double>().transpose();
    worst = std::max(worst, (got - sum / total).cwiseAbs().maxCoeff());
  }
  std::cout << std::scientific << "largest difference from double: " << worst << '\n';
  return worst < 1e-4 ? 0 : 1;
}
