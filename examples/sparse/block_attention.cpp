// Attention of a sequence to itself under masks of blocks: a window with a few blocks that all see
// (Longformer, Beltagy, Peters and Cohan 2020), and a butterfly (Dao et al., ICML 2022).
//
// Something is hidden far away: each block of queries asks for a key that stands in one block alone. A window
// does not reach it; a butterfly does where the numbers of the two blocks differ in one bit. What each mask
// finds is counted, and compared with what it can reach. The call finds the blocks of the mask by itself, since it may convert it
// for many calls; the scores of all pairs are computed in blocks, too, and looked at in the order of the mask's elements.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iomanip>
#include <iostream>
#include <random>
#include <vector>

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

constexpr tw::dim in_blocks = tw::bsr<"N", 16>, on_mask = tw::stored_like<"N", "A">;
constexpr auto score_pairs = tw::kernel<"score_pairs">(
    [](tw::in<"A", float, "M", in_blocks> A, tw::in<"Q", float, "M", "K"> Q,
       tw::in<"P", float, "N", "K"> P, tw::out<"S", float, "M", on_mask> S) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return S(i, j) = A(i, j) * tw::sum<k>(Q(i, k) * P(j, k));
    });

namespace {

using pattern = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using features = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int blocks = 64, block = 16, width = 32, tokens = blocks * block;

/// Query block and key block see each other.
using mask = std::function<bool(int, int)>;

/// Tokens whose highest score is with one in the block that they ask for.
int best_in_wanted(const pattern& a, const std::vector<float>& scores) {
  int out = 0;
  for (int t = 0; t < tokens; ++t) {
    const int begin = a.outerIndexPtr()[t], end = a.outerIndexPtr()[t + 1];
    const auto best = std::max_element(scores.begin() + begin, scores.begin() + end);
    const int other = a.innerIndexPtr()[best - scores.begin()];
    out += other / block == (t / block + blocks / 2) % blocks;
  }
  return out;
}

bool window(int a, int b) { return std::abs(a - b) <= 2 || a == 0 || b == 0; }
bool butterfly(int a, int b) { return ((a ^ b) & ((a ^ b) - 1)) == 0; }  // one bit differs, or none

pattern of_blocks(const mask& sees) {
  pattern out(tokens, tokens);
  for (int row = 0; row < tokens; ++row) {
    out.startVec(row);
    for (int column = 0; column < tokens; ++column)
      if (sees(row / block, column / block)) out.insertBack(row, column) = 1;
  }
  out.finalize();
  return out;
}

}  // namespace

int main() {
  std::mt19937 random(11);
  std::normal_distribution<float> noise(0, 0.3f);
  // block b asks for the key of block b + 32, which has its number in the direction of its key
  features keys(tokens, width), queries(tokens, width), values(tokens, width), found(tokens, width);
  for (int t = 0; t < tokens; ++t)
    for (int f = 0; f < width; ++f) {
      keys(t, f) = noise(random);
      queries(t, f) = noise(random);
      values(t, f) = static_cast<float>(t / block);
    }
  const features directions = features::NullaryExpr(blocks, width, [&] { return noise(random); });
  for (int t = 0; t < tokens; ++t) {
    keys.row(t) += 6 * directions.row(t / block).normalized();
    queries.row(t) += 6 * directions.row((t / block + blocks / 2) % blocks).normalized();
  }
  const tw::tuned op{attend, {.seconds = 2, .threads = 1, .calls = 1000, .matrices_change = false}};
  const tw::tuned score_all{score_pairs, {.seconds = 1, .threads = 1}};
  bool right = true;
  for (const auto& [name, sees] : {std::pair<const char*, mask>{"window", window},
                                   std::pair<const char*, mask>{"butterfly", butterfly}}) {
    const pattern a = of_blocks(sees);
    op(a, queries, keys, values, found);
    const tw::bsr_matrix<float, 16> mask_in_blocks(a);
    tw::values_like<float, in_blocks> scores(mask_in_blocks);  // one for each place of the blocks
    std::vector<float> of_pairs(static_cast<std::size_t>(a.nonZeros()));
    score_all(mask_in_blocks, queries, keys, scores);
    scores.store(of_pairs);  // in the order of its elements
    int reached = 0, reachable = 0;
    for (int t = 0; t < tokens; ++t) {
      const int wanted = (t / block + blocks / 2) % blocks;
      reached += std::abs(found(t, 0) - static_cast<float>(wanted)) < 0.5f;
      reachable += sees(t / block, wanted);
    }
    double worst = 0;
    for (int t = 0; t < tokens; t += 31) {  // in double, over the whole row
      Eigen::VectorXd sum = Eigen::VectorXd::Zero(width);
      double total = 0, peak = -1e300;
      const auto score = [&](int other) {
        return queries.row(t).cast<double>().dot(keys.row(other).cast<double>());
      };
      for (int other = 0; other < tokens; ++other)
        if (sees(t / block, other / block)) peak = std::max(peak, score(other));
      for (int other = 0; other < tokens; ++other) {
        if (!sees(t / block, other / block)) continue;
        const double weight = std::exp(score(other) - peak);
        total += weight;
        sum += weight * values.row(other).cast<double>().transpose();
      }
      worst = std::max(
          worst,
          (found.row(t).cast<double>().transpose() - sum / total).cwiseAbs().maxCoeff() / blocks);
    }
    std::cout << name << ": " << std::fixed << std::setprecision(1)
              << 100.0 * static_cast<double>(a.nonZeros()) / tokens / tokens << " % of all pairs; "
              << reached << " of " << tokens << " tokens found what they asked for, " << reachable
              << " could, and " << best_in_wanted(a, of_pairs)
              << " look there first (difference from double " << std::scientific
              << std::setprecision(1) << worst << ")\n";
    right = right && worst < 1e-4 && std::abs(reached - reachable) <= tokens / 50 &&
            std::abs(best_in_wanted(a, of_pairs) - reachable) <= tokens / 50;
  }
  return right ? 0 : 1;
}
