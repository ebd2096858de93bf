#pragma once

#include <cmath>
#include <unordered_map>

#include <tilewright/cost/mlp.hpp>
#include <tilewright/impl/cost/network/mlp_layers.hpp>
#include <tilewright/impl/cost/network/training.hpp>

namespace tilewright::cost {

struct mlp_model::state {
  using training = detail::network_training<detail::mlp_pass>;
  using prepared = std::shared_ptr<const detail::layer_matrix>;

  mlp_options options;
  training net;
  feature_cache features;
  std::vector<double> mean, deviation;                   // [feature_count]
  std::unordered_map<support::hash128, prepared> known;  // by program key

  explicit state(const mlp_options& o)
      : options(o),
        net(o, detail::random_mlp(o.seed)),
        mean(feature_count, 0.0),
        deviation(feature_count, 1.0) {}

  prepared rows(const sample& s) {
    constexpr std::size_t most = 1 << 13;
    if (const auto found = known.find(s.key); found != known.end()) return found->second;
    if (known.size() >= most) known.clear();
    const feature_cache::rows from = features.of(*s.program, s.key, options.features);
    detail::layer_matrix x(static_cast<Eigen::Index>(from->size()),
                           static_cast<Eigen::Index>(feature_count));
    for (std::size_t r = 0; r < from->size(); ++r)
      for (std::size_t c = 0; c < feature_count; ++c)
        x(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) =
            (static_cast<double>((*from)[r][c]) - mean[c]) / deviation[c];
    auto out = std::make_shared<const detail::layer_matrix>(std::move(x));
    known.emplace(s.key, out);
    return out;
  }

  void standardize(std::span<const sample> measured) {
    std::vector<double> square(feature_count, 0.0);
    mean.assign(feature_count, 0.0);
    deviation.assign(feature_count, 1.0);
    double n = 0;
    for (const sample& s : measured)
      for (const feature_row& row : *features.of(*s.program, s.key, options.features)) {
        ++n;
        for (std::size_t c = 0; c < feature_count; ++c) {
          mean[c] += static_cast<double>(row[c]);
          square[c] += static_cast<double>(row[c]) * static_cast<double>(row[c]);
        }
      }
    for (std::size_t c = 0; c < feature_count && n > 0; ++c) {
      mean[c] /= n;
      const double variance = square[c] / n - mean[c] * mean[c];
      if (variance > 1e-6) deviation[c] = std::sqrt(variance);
    }
    known.clear();
  }

  std::vector<training::datum> data(std::span<const sample> measured) {
    std::vector<training::datum> out;
    for (const sample& m : measured) out.push_back({rows(m), m.workload, m.seconds});
    return out;
  }
};

TILEWRIGHT_INLINE mlp_model::mlp_model(mlp_options options)
    : state_(std::make_unique<state>(options)) {}
TILEWRIGHT_INLINE mlp_model::~mlp_model() = default;

TILEWRIGHT_INLINE std::vector<double> mlp_model::predict(std::span<const sample> programs) {
  std::vector<state::prepared> held;
  std::vector<const detail::layer_matrix*> inputs;
  for (const sample& s : programs) {
    held.push_back(state_->rows(s));
    inputs.push_back(held.back().get());
  }
  return state_->net.scores(inputs);
}

TILEWRIGHT_INLINE void mlp_model::update(std::span<const sample> measured) {
  for (state::training::datum& d : state_->data(measured)) state_->net.add(std::move(d));
  state_->net.tune_if_due();
}

TILEWRIGHT_INLINE std::vector<double> mlp_model::pretrain(std::span<const sample> measured) {
  state_->standardize(measured);
  return state_->net.pretrain(state_->data(measured), detail::random_mlp(state_->options.seed));
}

/// "mlp 1 WEIGHTS", then means and deviations of the features, then the pretrained weights.
TILEWRIGHT_INLINE std::string mlp_model::save() const {
  const state& s = *state_;
  std::string out = "mlp 1 " + std::to_string(s.net.base.size()) + "\n";
  detail::number_writer to(out);
  for (const double x : s.mean) to.put(x);
  for (const double x : s.deviation) to.put(x);
  for (Eigen::Index i = 0; i < s.net.base.size(); ++i) to.put(s.net.base[i]);
  return out;
}

TILEWRIGHT_INLINE void mlp_model::load(std::string_view text) {
  state& s = *state_;
  const std::string start = "mlp 1 " + std::to_string(s.net.base.size()) + "\n";
  if (text.substr(0, start.size()) != start)
    throw argument_error("mlp: this is no saved perceptron of " +
                         std::to_string(s.net.base.size()) + " weights");
  detail::number_reader from(text.substr(start.size()), "mlp");
  std::vector<double> mean(feature_count), deviation(feature_count);
  for (double& x : mean) x = from.next();
  for (double& x : deviation) x = from.positive();
  detail::layer_vector base(s.net.base.size());
  from.fill(base);
  s.mean = std::move(mean);
  s.deviation = std::move(deviation);
  s.net.base = s.net.weights = base;
  s.known.clear();
  s.net.forget();
}

}  // namespace tilewright::cost
