#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/impl/cost/trees/model_reader.hpp>
#include <tilewright/impl/cost/trees/tree_grower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::cost {
namespace detail {

inline std::uint32_t sample_of(const dataset& d, std::size_t row) {
  return d.sample.empty() ? static_cast<std::uint32_t>(row) : d.sample[row];
}

inline void check_data(const dataset& d) {
  if (d.columns == 0 || d.columns > 65535 || d.x.size() % d.columns != 0)
    throw argument_error("gbt: the features are no matrix of 1 to 65535 columns");
  if (d.sample.empty() ? d.rows() != d.y.size() : d.sample.size() != d.rows())
    throw argument_error("gbt: one sample number is needed per row");
  for (const std::uint32_t s : d.sample)
    if (s >= d.y.size()) throw argument_error("gbt: a sample has no label");
  if ((!d.weight.empty() && d.weight.size() != d.y.size()) ||
      (!d.group.empty() && d.group.size() != d.y.size()))
    throw argument_error("gbt: weights and groups go with labels");
}

/// The kept features that one tree looks at.
inline std::vector<std::uint32_t> choose_columns(std::size_t kept, double share,
                                                 support::random& draws) {
  std::vector<std::uint32_t> all(kept);
  for (std::uint32_t i = 0; i < kept; ++i) all[i] = i;
  const auto wanted =
      std::min(kept, static_cast<std::size_t>(std::ceil(share * static_cast<double>(kept))));
  for (std::size_t i = 0; i < wanted; ++i) std::swap(all[i], all[i + draws.below(kept - i)]);
  all.resize(wanted);
  std::sort(all.begin(), all.end());
  return all;
}

inline void append_number(std::string& out, float x) {
  out += " " + support::general_text(static_cast<double>(x), 9);
}

}  // namespace detail

TILEWRIGHT_INLINE void dataset::add(const float* from, std::size_t count, float label,
                                    float weight_of, std::uint32_t group_of) {
  const auto number = static_cast<std::uint32_t>(y.size());
  x.insert(x.end(), from, from + count * columns);
  sample.insert(sample.end(), count, number);
  y.push_back(label);
  weight.push_back(weight_of);
  group.push_back(group_of);
}

TILEWRIGHT_INLINE std::vector<double> gbt::fit(const dataset& data, const gbt_options& options) {
  *this = gbt();
  return boost(data, options);
}

TILEWRIGHT_INLINE std::vector<double> gbt::boost(const dataset& data, const gbt_options& options) {
  detail::check_data(data);
  if (!trees_.empty() && data.columns != columns_)
    throw argument_error("gbt: the model was trained on another number of columns");
  if (options.depth < 1 || options.depth > 10) throw argument_error("gbt: depth is 1 to 10");
  columns_ = data.columns;
  const std::size_t rows = data.rows(), samples = data.y.size();
  // a start value does not add up over the rows of a pack
  if (trees_.empty() && options.goal == objective::squared && rows == samples) {
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      sum += detail::weight_of(data, i) * static_cast<double>(data.y[i]);
      weight += detail::weight_of(data, i);
    }
    start_ = static_cast<float>(weight > 0 ? sum / weight : 0);
  }
  std::vector<double> scores;
  for (const float s : this->scores(data)) scores.push_back(static_cast<double>(s));

  const detail::binned features = detail::bin_features(data, options.bins);
  support::random draws(options.seed + trees_.size());
  std::optional<detail::pair_list> pairs;
  if (options.goal == objective::pairwise) pairs.emplace(data, options.opponents, draws.next());
  std::vector<detail::slope> of_sample(samples), of_row(rows);
  const auto slopes = [&] {
    return pairs ? pairs->slopes(data, scores, options.focus, of_sample)
                 : detail::squared_slopes(data, scores, of_sample);
  };
  detail::tree_grower grower(features, rows, options);
  std::vector<double> losses{slopes()};
  for (int round = 0; round < options.rounds && features.kept() > 0; ++round) {
    for (std::size_t r = 0; r < rows; ++r) of_row[r] = of_sample[detail::sample_of(data, r)];
    auto grown =
        grower.grow(of_row, detail::choose_columns(features.kept(), options.column_share, draws));
    for (std::size_t r = 0; r < rows; ++r)
      scores[detail::sample_of(data, r)] += static_cast<double>(grown.leaf[grown.leaf_of[r]]);
    trees_.push_back({options.depth, std::move(grown.feature), std::move(grown.threshold),
                      std::move(grown.leaf)});
    losses.push_back(slopes());
  }
  return losses;
}

TILEWRIGHT_INLINE void gbt::predict(const float* rows, std::size_t count, float* out) const {
  // several rows at once: each waits for memory at every step down a tree
  constexpr std::size_t together = 8;
  for (std::size_t from = 0; from < count; from += together) {
    const std::size_t n = std::min(together, count - from);
    const float* x[together];
    float sum[together] = {};
    for (std::size_t i = 0; i < together; ++i) x[i] = rows + (from + std::min(i, n - 1)) * columns_;
    for (const tree& t : trees_) {
      std::size_t at[together] = {};
      for (int d = 0; d < t.depth; ++d)
        for (std::size_t i = 0; i < together; ++i)
          at[i] = 2 * at[i] + 1 + (x[i][t.feature[at[i]]] > t.threshold[at[i]] ? 1 : 0);
      for (std::size_t i = 0; i < together; ++i) sum[i] += t.leaf[at[i] - t.feature.size()];
    }
    for (std::size_t i = 0; i < n; ++i) out[from + i] = sum[i];
  }
}

TILEWRIGHT_INLINE float gbt::score(const float* rows, std::size_t count) const {
  float out = start_;
  std::vector<float> parts(count);
  predict(rows, count, parts.data());
  for (const float p : parts) out += p;
  return out;
}

TILEWRIGHT_INLINE std::vector<float> gbt::scores(const dataset& data) const {
  std::vector<float> parts(data.rows()), out(data.y.size(), start_);
  if (!trees_.empty()) predict(data.x.data(), parts.size(), parts.data());
  for (std::size_t r = 0; r < parts.size(); ++r) out[detail::sample_of(data, r)] += parts[r];
  return out;
}

TILEWRIGHT_INLINE std::string gbt::save() const {
  std::string out = "tilewright-gbt 1 " + std::to_string(columns_);
  detail::append_number(out, start_);
  out += " " + std::to_string(trees_.size()) + "\n";
  for (const tree& t : trees_) {
    out += std::to_string(t.depth);
    for (std::size_t i = 0; i < t.feature.size(); ++i) {
      out += " " + std::to_string(t.feature[i]);
      detail::append_number(out, t.threshold[i]);
    }
    for (const float x : t.leaf) detail::append_number(out, x);
    out += "\n";
  }
  return out;
}

TILEWRIGHT_INLINE gbt gbt::load(std::string_view text) {
  detail::model_reader in(text);
  if (in.word() != "tilewright-gbt" || in.word() != "1")
    throw argument_error("gbt: this is no model of version 1");
  gbt out;
  out.columns_ = in.count(65535);
  out.start_ = in.number();
  const std::size_t trees = in.count(1 << 20);
  for (std::size_t n = 0; n < trees; ++n) {
    tree t;
    t.depth = static_cast<int>(in.count(10));
    for (std::size_t i = 0; i + 1 < (std::size_t{1} << t.depth); ++i) {
      t.feature.push_back(static_cast<std::uint16_t>(in.count(65535)));
      t.threshold.push_back(in.threshold());
      if (t.feature.back() >= out.columns_) throw argument_error("gbt: damaged model");
    }
    for (std::size_t i = 0; i < (std::size_t{1} << t.depth); ++i) t.leaf.push_back(in.number());
    out.trees_.push_back(std::move(t));
  }
  return out;
}

}  // namespace tilewright::cost
