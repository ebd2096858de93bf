// Features as small integers, and the gradients of the objectives; internals of gbt.ipp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::cost::detail {

/// The features that differ between rows, each value replaced by the number of its bin.
struct binned {
  std::vector<std::uint16_t> feature;    // column of each kept feature
  std::vector<std::vector<float>> cuts;  // value x is in the first bin b with x <= cuts[b]
  std::vector<std::uint8_t> bin;         // [rows, kept]

  std::size_t kept() const { return feature.size(); }
};

/// Cuts lie between the values that occur, at equal counts where there are too many values.
inline std::vector<float> cuts_of(std::vector<float> values, std::size_t bins) {
  std::sort(values.begin(), values.end());
  std::vector<float> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<float> out;
  const auto middle = [](float a, float b) {
    const float m = a + (b - a) / 2;
    return m < b ? m : a;
  };
  if (distinct.size() <= bins) {
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
      out.push_back(middle(distinct[i], distinct[i + 1]));
    return out;
  }
  for (std::size_t b = 1; b < bins; ++b) {
    const float at = values[b * values.size() / bins];
    const auto next = std::upper_bound(distinct.begin(), distinct.end(), at);
    if (next == distinct.end()) break;
    const float cut = middle(at, *next);
    if (out.empty() || cut > out.back()) out.push_back(cut);
  }
  return out;
}

inline binned bin_features(const dataset& data, int bins) {
  binned out;
  const std::size_t rows = data.rows();
  std::vector<float> values(rows);
  for (std::size_t c = 0; c < data.columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      const float x = data.x[r * data.columns + c];
      values[r] = x == x ? x : -std::numeric_limits<float>::infinity();
    }
    std::vector<float> cuts = cuts_of(values, static_cast<std::size_t>(std::clamp(bins, 2, 255)));
    if (cuts.empty()) continue;
    out.feature.push_back(static_cast<std::uint16_t>(c));
    out.cuts.push_back(std::move(cuts));
  }
  out.bin.resize(rows * out.kept());
  for (std::size_t k = 0; k < out.kept(); ++k)
    for (std::size_t r = 0; r < rows; ++r) {
      const float x = data.x[r * data.columns + out.feature[k]];
      const auto at = std::lower_bound(out.cuts[k].begin(), out.cuts[k].end(),
                                       x == x ? x : -std::numeric_limits<float>::infinity());
      out.bin[r * out.kept() + k] = static_cast<std::uint8_t>(at - out.cuts[k].begin());
    }
  return out;
}

/// First and second derivative of the loss by the score of a sample.
struct slope {
  double first = 0;
  double second = 0;
};

inline double weight_of(const dataset& d, std::size_t sample) {
  return d.weight.empty() ? 1.0 : static_cast<double>(d.weight[sample]);
}

/// @returns the mean loss
inline double squared_slopes(const dataset& d, const std::vector<double>& scores,
                             std::vector<slope>& out) {
  double loss = 0, total = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double w = weight_of(d, i), e = scores[i] - static_cast<double>(d.y[i]);
    out[i] = {w * e, w};
    loss += w * e * e;
    total += w;
  }
  return total > 0 ? loss / total : 0;
}

/// The samples of each group, and for each sample those it is compared with.
class pair_list {
 public:
  pair_list(const dataset& d, int opponents, std::uint64_t seed) {
    std::uint32_t groups = 1;
    for (const std::uint32_t g : d.group) groups = std::max(groups, g + 1);
    members_.resize(groups);
    for (std::size_t i = 0; i < d.y.size(); ++i)
      members_[d.group.empty() ? 0 : d.group[i]].push_back(static_cast<std::uint32_t>(i));
    support::random draws(seed);
    for (const auto& m : members_) add_pairs(d, m, static_cast<std::size_t>(opponents), draws);
  }

  /// @returns the mean loss
  double slopes(const dataset& d, const std::vector<double>& scores, double focus,
                std::vector<slope>& out) {
    place(scores);
    std::fill(out.begin(), out.end(), slope{});
    double loss = 0, total = 0;
    for (const auto& [better, worse] : pairs_) {
      const double margin = scores[better] - scores[worse];
      const double small = std::exp(-std::abs(margin));
      const double wrong = margin > 0 ? small / (1 + small) : 1 / (1 + small);
      const double w = static_cast<double>(d.y[better] - d.y[worse]) *
                       std::sqrt(weight_of(d, better) * weight_of(d, worse)) *
                       (1 - focus + focus * std::abs(discount_[better] - discount_[worse]));
      out[better].first -= w * wrong;
      out[worse].first += w * wrong;
      const double bend = std::max(w * wrong * (1 - wrong), 1e-6 * w);
      out[better].second += bend;
      out[worse].second += bend;
      loss += w * (std::log1p(small) + std::max(-margin, 0.0));
      total += w;
    }
    return total > 0 ? loss / total : 0;
  }

 private:
  void add_pair(const dataset& d, std::uint32_t a, std::uint32_t b) {
    if (d.y[a] > d.y[b]) pairs_.push_back({a, b});
    if (d.y[b] > d.y[a]) pairs_.push_back({b, a});
  }

  void add_pairs(const dataset& d, const std::vector<std::uint32_t>& m, std::size_t opponents,
                 support::random& draws) {
    for (std::size_t i = 0; i < m.size(); ++i) {
      if (m.size() <= 2 * opponents) {
        for (std::size_t j = 0; j < i; ++j) add_pair(d, m[i], m[j]);
        continue;
      }
      for (std::size_t n = 0; n < opponents; ++n) {
        const std::size_t j = draws.below(m.size() - 1);
        add_pair(d, m[i], m[j < i ? j : j + 1]);
      }
    }
  }

  void place(const std::vector<double>& scores) {
    discount_.resize(scores.size());
    for (const auto& m : members_) {
      std::vector<std::uint32_t> order = m;
      support::stable_sort(order,
                           [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
      for (std::size_t i = 0; i < order.size(); ++i)
        discount_[order[i]] = 1 / std::log2(2.0 + static_cast<double>(i));
    }
  }

  struct ordered {
    std::uint32_t better, worse;
  };
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<ordered> pairs_;
  std::vector<double> discount_;
};

}  // namespace tilewright::cost::detail
