// Where the trees of a model send the rows of a program: a place in the space of all their leaves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/impl/cost/trees/model_reader.hpp>

namespace tilewright::cost::detail {

/// For each tree the leaves that rows of the program come to, and the score that the trees sum up to.
struct leaf_place {
  struct part {
    std::uint32_t leaf;  // counted over all trees
    float share;         // of the rows; of each tree the squares sum to 1
  };
  std::vector<part> parts;
  double score = 0;
};

class leaf_space {
 public:
  /// The trees are read from their text, which is their one public form.
  explicit leaf_space(const gbt& trees) {
    const std::string text = trees.save();
    model_reader in(text);
    for (int mark = 0; mark < 2; ++mark) in.word();
    columns_ = in.count(65535);
    start_ = in.number();
    trees_.resize(in.count(1 << 20));
    for (tree& t : trees_) {
      t.depth = in.count(10);
      const std::size_t inner = (std::size_t{1} << t.depth) - 1;
      for (std::size_t i = 0; i < inner; ++i) {
        t.feature.push_back(in.count(65535));
        t.threshold.push_back(in.threshold());
      }
      for (std::size_t i = 0; i <= inner; ++i) t.leaf.push_back(in.number());
      t.first = leaves_;
      leaves_ += inner + 1;
    }
  }

  std::size_t trees() const { return trees_.size(); }
  std::size_t leaves() const { return leaves_; }

  /// @param rows [count, columns of the trees]
  leaf_place of(const float* rows, std::size_t count) const {
    leaf_place out;
    out.score = static_cast<double>(start_);
    std::vector<std::uint32_t> met(count);
    for (const tree& t : trees_) {
      for (std::size_t r = 0; r < count; ++r) {
        const float* x = rows + r * columns_;
        std::size_t at = 0;
        for (std::size_t d = 0; d < t.depth; ++d)
          at = 2 * at + 1 + (x[t.feature[at]] > t.threshold[at] ? 1 : 0);
        const std::size_t leaf = at - t.feature.size();
        out.score += static_cast<double>(t.leaf[leaf]);
        met[r] = static_cast<std::uint32_t>(t.first + leaf);
      }
      add_shares(met, out.parts);
    }
    return out;
  }

 private:
  struct tree {
    std::size_t depth = 0, first = 0;  // `first` of its leaves
    std::vector<std::size_t> feature;
    std::vector<float> threshold, leaf;
  };

  /// The leaves that were met, each once.
  static void add_shares(std::vector<std::uint32_t>& met, std::vector<leaf_place::part>& to) {
    std::sort(met.begin(), met.end());
    const std::size_t from = to.size();
    float square = 0;
    for (std::size_t r = 0; r < met.size();) {
      std::size_t end = r;
      while (end < met.size() && met[end] == met[r]) ++end;
      const auto n = static_cast<float>(end - r);
      to.push_back({met[r], n});
      square += n * n;
      r = end;
    }
    for (std::size_t i = from; i < to.size(); ++i) to[i].share /= std::sqrt(square);
  }

  std::size_t columns_ = 0, leaves_ = 0;
  float start_ = 0;
  std::vector<tree> trees_;
};

}  // namespace tilewright::cost::detail
