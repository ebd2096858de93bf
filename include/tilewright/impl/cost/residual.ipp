#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/cost/residual.hpp>
#include <tilewright/impl/cost/model_list.hpp>
#include <tilewright/impl/cost/standardization.hpp>

namespace tilewright::cost {
namespace detail {

/// Slope of y over x by least squares, not below 0; few points draw it towards 0.
inline double least_squares_slope(const std::vector<double>& x, const std::vector<double>& y) {
  const standardization sx = standardization::of(x), sy = standardization::of(y);
  double product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) product += sx(x[i]) * sy(y[i]);
  return std::max(product / static_cast<double>(x.size() + 4), 0.0) * sy.deviation / sx.deviation;
}

}  // namespace detail

TILEWRIGHT_INLINE residual_model::residual_model(std::shared_ptr<model> base,
                                                 std::shared_ptr<model> local)
    : base_(std::move(base)), local_(std::move(local)) {
  detail::check_members({base_, local_}, "residual");
}

TILEWRIGHT_INLINE std::vector<double> residual_model::predict(std::span<const sample> programs) {
  std::vector<double> out = base_->predict(programs);
  const std::vector<double> rest = local_->predict(programs);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = slope_ * out[i] + weight_ * rest[i];
  return out;
}

TILEWRIGHT_INLINE void residual_model::update(std::span<const sample> measured) {
  std::vector<sample> rest(measured.begin(), measured.end());
  const std::vector<double> scores = base_->predict(rest);
  std::vector<sample> valid;
  std::vector<double> at, speed;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!std::isfinite(rest[i].seconds) || !(rest[i].seconds > 0)) continue;
    at.push_back(scores[i]);
    speed.push_back(-std::log(rest[i].seconds));
    valid.push_back(rest[i]);
  }
  known_base_.insert(known_base_.end(), at.begin(), at.end());
  known_speed_.insert(known_speed_.end(), speed.begin(), speed.end());
  if (known_base_.size() >= 4) slope_ = detail::least_squares_slope(known_base_, known_speed_);
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (std::isfinite(rest[i].seconds) && rest[i].seconds > 0)
      rest[i].seconds *= std::exp(std::clamp(slope_ * scores[i], -20.0, 20.0));
  // how far the local model can be believed is judged by what it has not learned
  if (valid.size() >= 4) {
    const std::vector<double> local = local_->predict(valid);
    for (std::size_t i = 0; i < at.size(); ++i) speed[i] -= slope_ * at[i];
    weight_ = detail::least_squares_slope(local, speed);
  }
  local_->update(rest);
}

TILEWRIGHT_INLINE std::string residual_model::save() const {
  return "residual 1\n" + detail::saved_members({base_, local_});
}

TILEWRIGHT_INLINE void residual_model::load(std::string_view text) {
  constexpr std::string_view start = "residual 1\n";
  if (text.substr(0, start.size()) != start)
    throw argument_error("residual: this is no saved residual model");
  detail::load_members({base_, local_}, text.substr(start.size()), "residual");
  known_base_.clear();
  known_speed_.clear();
  slope_ = 1;
  weight_ = 0;
}

TILEWRIGHT_INLINE bool residual_model::reads_traces() const {
  return detail::any_reads_traces({base_, local_});
}

}  // namespace tilewright::cost
