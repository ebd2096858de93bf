#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>

#include <tilewright/cost/ensemble.hpp>
#include <tilewright/impl/cost/model_list.hpp>
#include <tilewright/impl/cost/standardization.hpp>

namespace tilewright::cost {
TILEWRIGHT_INLINE ensemble_model::ensemble_model(std::vector<std::shared_ptr<model>> members,
                                                 ensemble_options options)
    : members_(std::move(members)), options_(options) {
  if (members_.empty()) throw argument_error("ensemble: it has no member (requirement 1)");
  detail::check_members(members_, "ensemble");
  correlations_.assign(members_.size(), options_.trust);
}

TILEWRIGHT_INLINE std::vector<double> ensemble_model::weights() const {
  std::vector<double> out;
  double sum = 0;
  for (const double c : correlations_) {
    // a correlation of 0.9 is worth much more than twice one of 0.45
    out.push_back(std::max(c, 0.0) * std::max(c, 0.0) + options_.least_weight);
    sum += out.back();
  }
  for (double& w : out) w /= sum;
  return out;
}

TILEWRIGHT_INLINE std::vector<double> ensemble_model::predict(std::span<const sample> programs) {
  std::vector<double> out(programs.size(), 0.0);
  const std::vector<double> share = weights();
  constexpr std::size_t enough = 8;
  std::vector<scale> fresh;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::vector<double> scores = members_[m]->predict(programs);
    auto by = detail::standardization::of(scores);
    fresh.push_back({by.mean, by.deviation});
    if (!scales_.empty()) by = {scales_[m].mean, scales_[m].deviation};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += share[m] * by(scores[i]);
  }
  if (scales_.empty() && programs.size() >= enough) scales_ = std::move(fresh);
  return out;
}

TILEWRIGHT_INLINE void ensemble_model::update(std::span<const sample> measured) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (const auto now = detail::correlation(*members_[m], measured))
      correlations_[m] = options_.memory * correlations_[m] + (1 - options_.memory) * *now;
    members_[m]->update(measured);
  }
  scales_.clear();
}

/// "ensemble 1 MEMBERS", a line of correlations, then each member: "member BYTES" and its text.
TILEWRIGHT_INLINE std::string ensemble_model::save() const {
  std::string out = "ensemble 1 " + std::to_string(members_.size()) + "\n";
  for (const double c : correlations_) {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, c).ptr);
    out += ' ';
  }
  out += '\n';
  return out + detail::saved_members(members_);
}

TILEWRIGHT_INLINE void ensemble_model::load(std::string_view text) {
  const auto damaged = [] {
    return argument_error("ensemble: this is no saved ensemble of these members");
  };
  const auto skip = [&](std::string_view expected) {
    if (text.substr(0, expected.size()) != expected) throw damaged();
    text.remove_prefix(expected.size());
  };
  skip("ensemble 1 " + std::to_string(members_.size()) + "\n");
  std::vector<double> correlations(members_.size());
  for (double& c : correlations) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), c);
    if (problem != std::errc() || !std::isfinite(c) || std::abs(c) > 1) throw damaged();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip(" ");
  }
  skip("\n");
  detail::load_members(members_, text, "ensemble");
  correlations_ = std::move(correlations);
  scales_.clear();
}

TILEWRIGHT_INLINE bool ensemble_model::reads_traces() const {
  return detail::any_reads_traces(members_);
}

}  // namespace tilewright::cost
