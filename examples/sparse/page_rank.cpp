// Page rank on a made-up web: who is linked by those that are linked, until nothing moves.
//
// A visitor follows a link of the page with probability 0.85, else goes to any page; a page without
// links sends the visitor anywhere. The rank is the share of time spent on a page.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

// [step]
constexpr auto step = tw::kernel<"page_rank_step">(
    [](tw::in<"links", float, "M", tw::sell<"N", 8>> links, tw::in<"rank", float, "N"> rank,
       tw::in<"anywhere", float> anywhere, tw::out<"next", float, "M"> next) {
      using tw::axes::i, tw::axes::k;
      return next(i) = anywhere + 0.85f * tw::sum<k>(links(i, k) * rank(k));
    });
// [step]

namespace {

using sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;

/// A web that grows: each new page links to a few older ones, mostly to those that many link to.
/// Element (i, k) is the chance that a visitor of page k follows a link to page i.
sparse growing_web(int pages) {
  std::mt19937 random(7);
  std::vector<int> linked{0};  // a page stands here once, and once more for each link to it
  std::vector<Eigen::Triplet<float>> entries;
  for (int page = 1; page < pages; ++page) {
    std::vector<int> to;
    const int links = page % 10 == 0 ? 0 : 1 + static_cast<int>(random() % 12);
    for (int n = 0; n < links; ++n) to.push_back(linked[random() % linked.size()]);
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const int other : to) {
      entries.emplace_back(other, page, 1.0f / static_cast<float>(to.size()));
      linked.push_back(other);
    }
    linked.push_back(page);
  }
  sparse out(pages, pages);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// The share of pages without a link.
float stranded(const Eigen::VectorXf& rank, const std::vector<bool>& has_links) {
  double out = 0;
  for (std::size_t k = 0; k < has_links.size(); ++k)
    if (!has_links[k]) out += static_cast<double>(rank[static_cast<Eigen::Index>(k)]);
  return static_cast<float>(out);
}

/// Applies `next = follow(rank, anywhere)` until nothing moves; gives the number of steps.
int iterate(Eigen::VectorXf& rank, const std::vector<bool>& has_links, const auto& follow) {
  const auto pages = static_cast<float>(rank.size());
  rank.setConstant(1 / pages);
  Eigen::VectorXf next(rank.size());
  for (int steps = 1;; ++steps) {
    follow(rank, (0.15f + 0.85f * stranded(rank, has_links)) / pages, next);
    const float moved = (next - rank).cwiseAbs().sum();
    rank = next;
    if (moved < 1e-6f || steps == 200) return steps;
  }
}

double milliseconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main() {
  const int pages = 100000;
  const sparse web = growing_web(pages);
  std::vector<bool> has_links(static_cast<std::size_t>(pages), false);
  std::vector<int> links_to(static_cast<std::size_t>(pages), 0);
  for (int i = 0; i < pages; ++i)
    for (sparse::InnerIterator link(web, i); link; ++link) {
      has_links[static_cast<std::size_t>(link.col())] = true;
      ++links_to[static_cast<std::size_t>(i)];
    }

  const tw::sell_matrix<float> rows(web);
  const tw::tuned op{step, {.seconds = 2, .threads = 1}};
  Eigen::VectorXf rank(pages), expected(pages);
  op.warm(rows, rank, 0.0f, expected);  // tunes on this pattern

  int steps = 0;
  const double ours = milliseconds([&] {
    steps = iterate(rank, has_links,
                    [&](const Eigen::VectorXf& now, float anywhere, Eigen::VectorXf& next) {
                      op(rows, now, anywhere, next);
                    });
  });
  int eigen_steps = 0;
  const double eigen = milliseconds([&] {
    eigen_steps = iterate(expected, has_links,
                          [&](const Eigen::VectorXf& now, float anywhere, Eigen::VectorXf& next) {
                            next.noalias() = 0.85f * (web * now);
                            next.array() += anywhere;
                          });
  });

  std::vector<int> order(static_cast<std::size_t>(pages));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 5, order.end(),
                    [&](int a, int b) { return rank[a] > rank[b]; });
  std::cout << pages << " pages, " << web.nonZeros() << " links, settled after " << steps
            << " steps\n  page   rank      links to it\n";
  for (int n = 0; n < 5; ++n) {
    const int page = order[static_cast<std::size_t>(n)];
    std::cout << std::setw(6) << page << "   " << std::fixed << std::setprecision(6) << rank[page]
              << "  " << links_to[static_cast<std::size_t>(page)] << "\n";
  }
  const float difference = (rank - expected).cwiseAbs().sum(), total = rank.sum();
  std::cout << "the ranks add up to " << total << "; Eigen's differ by " << std::scientific
            << std::setprecision(1) << difference << " in all\n"
            << std::fixed << ours << " ms, Eigen " << eigen << " ms; rows side by side took "
            << 1e3 * rows.conversion_seconds() << " ms, " << 100 * rows.padding() << " % padding\n";
  // thousands of floats are added for a page, in another order
  return steps < 200 && std::abs(total - 1) < 1e-3f && difference < 1e-3f ? 0 : 1;
}
