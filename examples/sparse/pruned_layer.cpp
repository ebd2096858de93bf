// A layer of a network that was pruned by blocks: how fast it is dense, in compressed rows, in blocks,
// with single elements beside the blocks, and in the format that the call finds by itself.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <vector>

// [layer]
constexpr auto layer =
    tw::kernel<"layer">([](tw::in<"W", float, "M", tw::bsr<"K", 16>> W,
                           tw::in<"X", float, "K", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return Y(i, j) = tw::max(tw::sum<k>(W(i, k) * X(k, j)), 0.0f);
    });
// [layer]

// [parts]
constexpr auto stored = tw::parts<tw::bsr<"K", 16>, tw::dcsr<"K">>;
constexpr auto mixed_layer =
    tw::kernel<"mixed_layer">([](tw::in<"W", float, "M", stored> W, tw::in<"X", float, "K", "N"> X,
                                 tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return Y(i, j) = tw::max(tw::sum<k>(W(i, k) * X(k, j)), 0.0f);
    });
// [parts]

namespace {

using tw::axes::i, tw::axes::j, tw::axes::k;
constexpr auto layer_of_rows = tw::kernel<"layer_of_rows">(
    [](tw::in<"W", float, "M", tw::compressed<"K">> W, tw::in<"X", float, "K", "N"> X,
       tw::out<"Y", float, "M", "N"> Y) {
      return Y(i, j) = tw::max(tw::sum<k>(W(i, k) * X(k, j)), 0.0f);
    });
constexpr auto dense_layer =
    tw::kernel<"dense_layer">([](tw::in<"W", float, "M", "K"> W, tw::in<"X", float, "K", "N"> X,
                                 tw::out<"Y", float, "M", "N"> Y) {
      return Y(i, j) = tw::max(tw::sum<k>(W(i, k) * X(k, j)), 0.0f);
    });

using pruned_weights = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of each row of blocks the given share of blocks is kept.
pruned_weights prune(int rows, int columns, int block, double kept) {
  std::mt19937 random(1);
  std::bernoulli_distribution keep(kept);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; r += block)
    for (int c = 0; c < columns; c += block) {
      if (!keep(random)) continue;
      for (int at = 0; at < block * block; ++at)
        entries.emplace_back(r + at / block, c + at % block, value(random));
    }
  pruned_weights out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// The same with one more element in every other row, as pruning by size leaves them.
pruned_weights with_single_elements(pruned_weights w) {
  std::mt19937 random(2);
  std::uniform_int_distribution<int> column(0, static_cast<int>(w.cols()) - 1);
  for (int r = 0; r < w.rows(); r += 2) w.coeffRef(r, column(random)) += 0.5f;
  w.makeCompressed();
  return w;
}

double best_ms(const auto& work) {
  double best = 1e9;
  for (int repeat = 0; repeat < 30; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

int main() {
  const pruned_weights w = prune(768, 768, 16, 0.2);
  const matrix dense = w, x = matrix::Random(768, 128);
  const tw::bsr_matrix<float, 16> blocks(w);
  matrix y(768, 128), expected = (dense * x).cwiseMax(0.0f);
  float difference = 0;
  const auto check = [&] {
    difference = std::max(difference, (y - expected).cwiseAbs().maxCoeff());
    y.setConstant(99);
  };

  const tw::tuned_options options{.seconds = 2, .threads = 1};
  const tw::tuned in_blocks{layer, options};
  const tw::tuned in_rows{layer_of_rows, options};
  const tw::tuned as_dense{dense_layer, options};
  // [chosen]
  const tw::tuned chosen{layer_of_rows, {.seconds = 2, .threads = 1, .calls = 1000}};
  // [chosen]
  in_blocks(blocks, x, y);
  check();
  in_rows(w, x, y);
  check();
  as_dense(dense, x, y);
  check();
  chosen(w, x, y);
  check();

  const pruned_weights pruned = with_single_elements(w);
  // [in parts]
  tw::parted_matrix<float, stored> in_parts(pruned, {.least_fill = 1});
  // [in parts]
  const tw::tuned mixed{mixed_layer, options};
  expected = (pruned * x).cwiseMax(0.0f);
  mixed(in_parts, x, y);
  check();

  const double work = 2e-6 * 128;  // GFLOP/s of an element in a millisecond
  const auto tell = [&](const char* what, double ms, double elements) {
    std::cout << what << ms << " ms, " << work * elements / ms << " GFLOP/s of its elements\n";
  };
  const double kept = static_cast<double>(w.nonZeros());
  std::cout << 100 * kept / (768.0 * 768.0) << " % of the weights are kept, in blocks of 16 x 16; "
            << "blocks made in " << 1e3 * blocks.conversion_seconds() << " ms\n";
  tell("  dense            ", best_ms([&] { as_dense(dense, x, y); }), 768.0 * 768.0);
  tell("  compressed rows  ", best_ms([&] { in_rows(w, x, y); }), kept);
  tell("  blocks           ", best_ms([&] { in_blocks(blocks, x, y); }), kept);
  tell("  with single ones ", best_ms([&] { mixed(in_parts, x, y); }),
       static_cast<double>(pruned.nonZeros()));
  tell("  what is chosen   ", best_ms([&] { chosen(w, x, y); }), kept);
  std::cout << chosen.report(w, x, y) << "largest difference from Eigen " << difference << "\n";
  return difference < 1e-3f ? 0 : 1;
}
