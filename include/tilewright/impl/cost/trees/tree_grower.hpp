// Grows one regression tree level by level on histograms; internals of gbt.ipp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <tilewright/impl/cost/trees/gbt_data.hpp>

namespace tilewright::cost::detail {

class tree_grower {
 public:
  struct result {
    std::vector<std::uint16_t> feature;
    std::vector<float> threshold;
    std::vector<float> leaf;
    std::vector<std::uint32_t> leaf_of;  // [rows]
  };

  tree_grower(const binned& data, std::size_t rows, const gbt_options& options)
      : data_(data), rows_(rows), options_(options) {}

  /// `slopes` has one entry a row, `columns` are the kept features to look at.
  result grow(const std::vector<slope>& slopes, const std::vector<std::uint32_t>& columns) {
    slopes_ = &slopes;
    columns_ = &columns;
    stride_ = 0;
    offset_.clear();
    for (const std::uint32_t c : columns) {
      offset_.push_back(stride_);
      stride_ += data_.cuts[c].size() + 1;
    }
    const int depth = options_.depth;
    const std::size_t inner = (std::size_t{1} << depth) - 1;
    out_.feature.assign(inner, 0);
    out_.threshold.assign(inner, std::numeric_limits<float>::infinity());
    out_.leaf.assign(inner + 1, 0.0F);
    out_.leaf_of.assign(rows_, 0);
    order_.resize(rows_);
    for (std::uint32_t r = 0; r < rows_; ++r) order_[r] = r;
    std::vector<node> level(1);
    level[0] = {0, 0, rows_, {}, total(0, rows_)};
    histogram(level[0]);
    for (int d = 0; d < depth && !level.empty(); ++d) level = split_level(level, d + 1 < depth);
    for (const node& n : level) finish(n);
    return std::move(out_);
  }

 private:
  struct node {
    std::size_t index;       // in the heap of the whole tree
    std::size_t begin, end;  // in order_
    std::vector<slope> bins;
    slope sum;
  };
  struct cut {
    double gain = 0;
    std::size_t column = 0;  // in *columns_
    std::size_t bin = 0;     // last one on the left
    slope left;
  };

  slope total(std::size_t begin, std::size_t end) const {
    slope out;
    for (std::size_t i = begin; i < end; ++i) {
      out.first += (*slopes_)[order_[i]].first;
      out.second += (*slopes_)[order_[i]].second;
    }
    return out;
  }

  void histogram(node& n) const {
    n.bins.assign(stride_, slope{});
    slope* bins = n.bins.data();
    const std::size_t columns = columns_->size(), kept = data_.kept();
    const std::uint32_t* column = columns_->data();
    const std::size_t* offset = offset_.data();
    for (std::size_t i = n.begin; i < n.end; ++i) {
      const std::uint8_t* row = &data_.bin[order_[i] * kept];
      const slope s = (*slopes_)[order_[i]];
      for (std::size_t c = 0; c < columns; ++c) {
        slope& to = bins[offset[c] + row[column[c]]];
        to.first += s.first;
        to.second += s.second;
      }
    }
  }

  double value(const slope& s) const { return s.first * s.first / (s.second + options_.l2); }

  cut best_cut(const node& n) const {
    cut best;
    best.gain = options_.min_gain;
    const double whole = value(n.sum);
    for (std::size_t c = 0; c < columns_->size(); ++c) {
      slope left;
      const std::size_t bins = data_.cuts[(*columns_)[c]].size();
      for (std::size_t b = 0; b < bins; ++b) {
        const slope& here = n.bins[offset_[c] + b];
        if (here.second == 0) continue;
        left.first += here.first;
        left.second += here.second;
        const slope right{n.sum.first - left.first, n.sum.second - left.second};
        if (left.second < options_.min_weight || right.second < options_.min_weight) continue;
        const double gain = value(left) + value(right) - whole;
        if (gain > best.gain) best = {gain, c, b, left};
      }
    }
    return best;
  }

  std::vector<node> split_level(std::vector<node>& level, bool more) {
    std::vector<node> next;
    for (node& n : level) {
      const cut best = n.end - n.begin < 2 ? cut{} : best_cut(n);
      if (best.left.second == 0) {
        finish(n);
        continue;
      }
      const std::uint32_t column = (*columns_)[best.column];
      out_.feature[n.index] = data_.feature[column];
      out_.threshold[n.index] = data_.cuts[column][best.bin];
      const auto from = order_.begin() + static_cast<std::ptrdiff_t>(n.begin);
      const auto to = order_.begin() + static_cast<std::ptrdiff_t>(n.end);
      const auto middle = partition(from, to, [&](std::uint32_t r) {
        return data_.bin[r * data_.kept() + column] <= best.bin;
      });
      const auto at = static_cast<std::size_t>(middle - order_.begin());
      node left{2 * n.index + 1, n.begin, at, {}, total(n.begin, at)};
      node right{2 * n.index + 2, at, n.end, {}, total(at, n.end)};
      if (more) share(n, left, right);
      next.push_back(std::move(left));
      next.push_back(std::move(right));
    }
    return next;
  }

  using position = std::vector<std::uint32_t>::iterator;

  /// Rows of which `left` holds come first, each side in its order. (std::stable_partition warns of
  /// itself under clang 19.)
  template <class Left>
  position partition(position from, position to, const Left& left) {
    right_.clear();
    auto middle = from;
    for (auto at = from; at != to; ++at) {
      if (left(*at))
        *middle++ = *at;
      else
        right_.push_back(*at);
    }
    std::copy(right_.begin(), right_.end(), middle);
    return middle;
  }

  /// The smaller child is counted, the other one is what is left of the parent.
  void share(node& parent, node& left, node& right) const {
    const bool left_small = left.end - left.begin <= right.end - right.begin;
    node& small = left_small ? left : right;
    node& large = left_small ? right : left;
    histogram(small);
    large.bins = std::move(parent.bins);
    for (std::size_t i = 0; i < stride_; ++i) {
      large.bins[i].first -= small.bins[i].first;
      large.bins[i].second -= small.bins[i].second;
      // an empty bin is recognized by its weight
      if (large.bins[i].second < 1e-12) large.bins[i].second = 0;
    }
  }

  /// What is not split further goes to the leftmost leaf below it.
  void finish(const node& n) {
    std::size_t at = n.index;
    while (at < out_.feature.size()) at = 2 * at + 1;
    const std::size_t leaf = at - out_.feature.size();
    out_.leaf[leaf] =
        static_cast<float>(-options_.rate * n.sum.first / (n.sum.second + options_.l2));
    for (std::size_t i = n.begin; i < n.end; ++i)
      out_.leaf_of[order_[i]] = static_cast<std::uint32_t>(leaf);
  }

  const binned& data_;
  std::size_t rows_;
  std::vector<std::uint32_t> right_;  // rows that wait for their place in partition()
  const gbt_options& options_;
  const std::vector<slope>* slopes_ = nullptr;
  const std::vector<std::uint32_t>* columns_ = nullptr;
  std::vector<std::size_t> offset_;  // of each column in a histogram
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> order_;  // rows, those of a node together
  result out_;
};

}  // namespace tilewright::cost::detail
