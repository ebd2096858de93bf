#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <tilewright/cost/trace_network.hpp>
#include <tilewright/impl/cost/network/trace_layers.hpp>
#include <tilewright/impl/cost/network/training.hpp>

namespace tilewright::cost {

struct trace_model::state {
  using training = detail::network_training<detail::trace_pass>;
  using prepared = std::shared_ptr<const detail::prepared_trace>;
  static constexpr auto columns = static_cast<std::size_t>(detail::token_columns);
  using row = std::array<double, columns>;

  network_options options;
  training net;
  row mean{}, deviation;

  explicit state(const network_options& o)
      : options(o), net(o, detail::random_trace_weights(o.seed)) {
    deviation.fill(1);
  }

  static std::size_t length(const sample& s) { return s.trace ? s.trace->size() : 0; }

  static row numbers(const sample& s, std::size_t i) {
    row out{};
    const trace_token& t = (*s.trace)[i];
    for (std::size_t c = 0; c < token_width; ++c) out[c] = static_cast<double>(t.numbers[c]);
    out[token_width] = std::log2(static_cast<double>(i) + 1);
    out[token_width + 1] = static_cast<double>(i + 1) / static_cast<double>(length(s));
    return out;
  }

  prepared made(const sample& s) const {
    auto out = std::make_shared<detail::prepared_trace>();
    const std::size_t n = length(s);
    out->numbers.resize(static_cast<Eigen::Index>(n), detail::token_columns);
    for (std::size_t i = 0; i < n; ++i) {
      const trace_token& t = (*s.trace)[i];
      out->kinds.push_back(
          static_cast<std::uint8_t>(std::min<std::size_t>(t.kind, token_kinds - 1)));
      out->words.push_back(
          static_cast<std::uint8_t>(std::min<std::size_t>(t.word, token_words - 1)));
      const row x = numbers(s, i);
      for (std::size_t c = 0; c < columns; ++c)
        out->numbers(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) =
            (x[c] - mean[c]) / deviation[c];
    }
    return out;
  }

  void standardize(std::span<const sample> measured) {
    row square{};
    mean.fill(0);
    deviation.fill(1);
    double count = 0;
    for (const sample& s : measured)
      for (std::size_t i = 0; i < length(s); ++i, ++count) {
        const row x = numbers(s, i);
        for (std::size_t c = 0; c < columns; ++c) {
          mean[c] += x[c];
          square[c] += x[c] * x[c];
        }
      }
    for (std::size_t c = 0; c < columns && count > 0; ++c) {
      mean[c] /= count;
      const double variance = square[c] / count - mean[c] * mean[c];
      if (variance > 1e-6) deviation[c] = std::sqrt(variance);
    }
  }

  std::vector<training::datum> data(std::span<const sample> measured) const {
    std::vector<training::datum> out;
    for (const sample& m : measured) out.push_back({made(m), m.workload, m.seconds});
    return out;
  }
};

TILEWRIGHT_INLINE trace_model::trace_model(network_options options)
    : state_(std::make_unique<state>(options)) {}
TILEWRIGHT_INLINE trace_model::~trace_model() = default;

TILEWRIGHT_INLINE std::vector<double> trace_model::predict(std::span<const sample> programs) {
  std::vector<state::prepared> held;
  std::vector<const detail::prepared_trace*> inputs;
  for (const sample& s : programs) {
    held.push_back(state_->made(s));
    inputs.push_back(held.back().get());
  }
  return state_->net.scores(inputs);
}

TILEWRIGHT_INLINE void trace_model::update(std::span<const sample> measured) {
  for (state::training::datum& d : state_->data(measured)) state_->net.add(std::move(d));
  state_->net.tune_if_due();
}

TILEWRIGHT_INLINE std::vector<double> trace_model::pretrain(std::span<const sample> measured) {
  state_->standardize(measured);
  return state_->net.pretrain(state_->data(measured),
                              detail::random_trace_weights(state_->options.seed));
}

/// "trace_network 1 WEIGHTS", then means and deviations of the numbers, then the pretrained weights.
TILEWRIGHT_INLINE std::string trace_model::save() const {
  const state& s = *state_;
  std::string out = "trace_network 1 " + std::to_string(s.net.base.size()) + "\n";
  detail::number_writer to(out);
  for (const double x : s.mean) to.put(x);
  for (const double x : s.deviation) to.put(x);
  for (Eigen::Index i = 0; i < s.net.base.size(); ++i) to.put(s.net.base[i]);
  return out;
}

TILEWRIGHT_INLINE void trace_model::load(std::string_view text) {
  state& s = *state_;
  const std::string start = "trace_network 1 " + std::to_string(s.net.base.size()) + "\n";
  if (text.substr(0, start.size()) != start)
    throw argument_error("trace_network: this is no saved network of " +
                         std::to_string(s.net.base.size()) + " weights");
  detail::number_reader from(text.substr(start.size()), "trace_network");
  state::row mean{}, deviation{};
  for (double& x : mean) x = from.next();
  for (double& x : deviation) x = from.positive();
  detail::layer_vector base(s.net.base.size());
  from.fill(base);
  s.mean = mean;
  s.deviation = deviation;
  s.net.base = s.net.weights = base;
  s.net.forget();
}

}  // namespace tilewright::cost
