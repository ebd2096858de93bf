// Several models as one: each counts as much as it has ranked well of late.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

struct ensemble_options {
  double memory = 0.7;         // weight of the past in a model's recent correlation
  double trust = 0.5;          // correlation that every model is believed to have at first
  double least_weight = 0.05;  // before weights are made to sum to 1
};

/// The mean of the standardized scores of its members, weighted by their recent rank correlation.
/// The correlation is taken on every batch of measurements before the members learn from it, so that
/// no member is judged by what it has seen; a batch of fewer than four valid programs judges nobody.
/// Scores of two calls can be compared where no update lies between them: the first call after one with
/// eight programs or more sets the scales.
class ensemble_model final : public model {
 public:
  /// Requires: 1. there is at least one member, and none is null.
  /// @throws argument_error
  explicit ensemble_model(std::vector<std::shared_ptr<model>> members,
                          ensemble_options options = {});

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  /// The weights and the members' own texts.
  std::string save() const override;
  /// @throws argument_error when `text` was saved by an ensemble of other members
  void load(std::string_view text) override;
  bool reads_traces() const override;

  /// Weights of the members; they sum to 1.
  std::vector<double> weights() const;

 private:
  std::vector<std::shared_ptr<model>> members_;
  ensemble_options options_;
  std::vector<double> correlations_;  // recent, of each member
  struct scale {
    double mean, deviation;
  };
  std::vector<scale> scales_;  // of each member; empty: not set since the last update
};

}  // namespace tilewright::cost
