// Gradient-boosted trees on histograms: small, deterministic, trained in milliseconds.
//
// A sample may be a pack of rows (the stores of one program): its score is the sum of the trees
// over its rows, and all its rows receive the gradient of the sample. Not a general library:
// features are dense, a missing value counts as small, training runs on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::cost {

enum class objective : std::uint8_t {
  squared,  // weighted squared error of the score
  pairwise  // logistic loss over pairs of one group, weighted by the difference of their labels
};

/// Rows of features with the labels of the samples they belong to.
struct dataset {
  std::size_t columns = 0;
  std::vector<float> x;               // [rows, columns]
  std::vector<std::uint32_t> sample;  // [rows], ascending from 0; empty: one row a sample
  std::vector<float> y;               // [samples]
  std::vector<float> weight;          // [samples]; empty: all 1
  std::vector<std::uint32_t> group;   // [samples], of pairs; empty: one group

  std::size_t rows() const noexcept { return columns == 0 ? 0 : x.size() / columns; }
  /// Appends a sample of `count` rows.
  void add(const float* rows, std::size_t count, float label, float weight_of = 1,
           std::uint32_t group_of = 0);
};

struct gbt_options {
  cost::objective goal = objective::squared;
  int rounds = 60;            // trees to add
  int depth = 6;              // at most 10
  int bins = 32;              // per feature, at most 255
  double rate = 0.2;          // share of a step that a tree takes
  double l2 = 1;              // added to the weight of a leaf
  double min_gain = 1e-3;     // of a split
  double min_weight = 1e-3;   // of a leaf: sum of second derivatives
  double column_share = 0.6;  // of the features that a tree looks at
  /// Pairs in which a higher place is at stake count more: weights are (1 - focus) + focus * change
  /// of the discount of the place (LambdaRank).
  double focus = 0.3;
  int opponents = 32;  // per sample, where its group is larger
  std::uint64_t seed = 43;
};

/// A sum of regression trees.
class gbt {
 public:
  /// Adds trees that correct the present ones on `data`; a model without trees starts from the mean
  /// label (squared, one row a sample) or 0. Equal data, options and state give equal trees.
  /// @returns the loss before each round and after the last one
  /// @throws argument_error when sizes do not fit: columns differ from the model's, a sample
  /// without
  ///         label, more than 65535 columns
  std::vector<double> boost(const dataset& data, const gbt_options& options = {});
  /// Trains from scratch.
  std::vector<double> fit(const dataset& data, const gbt_options& options = {});

  bool empty() const noexcept { return trees_.empty(); }
  std::size_t trees() const noexcept { return trees_.size(); }
  std::size_t columns() const noexcept { return columns_; }

  /// Sum of the trees for each of `count` rows of `columns()` features, without the start value.
  void predict(const float* rows, std::size_t count, float* out) const;
  /// Score of a sample of `count` rows.
  float score(const float* rows, std::size_t count) const;
  /// Scores of all samples.
  std::vector<float> scores(const dataset& data) const;

  /// Text that is the same on every machine.
  std::string save() const;
  /// @throws argument_error when `text` is no model
  static gbt load(std::string_view text);

  friend bool operator==(const gbt&, const gbt&) = default;

 private:
  /// A complete binary tree: node n has the children 2n + 1 and 2n + 2; what is not split sends
  /// everything to the left.
  struct tree {
    int depth = 0;
    std::vector<std::uint16_t> feature;  // [2^depth - 1]
    std::vector<float> threshold;        // [2^depth - 1], left when x <= threshold
    std::vector<float> leaf;             // [2^depth]
    friend bool operator==(const tree&, const tree&) = default;
  };

  std::size_t columns_ = 0;
  float start_ = 0;
  std::vector<tree> trees_;
};

}  // namespace tilewright::cost
