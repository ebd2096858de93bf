// Two models as one: the second learns what the first one misses (TenSet's "plus").
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// The logarithm of throughput is a * base + b * local + c by least squares over what was measured
/// of a workload, a and b not below 0. The local model learns times without the part that the base
/// explains; the base learns nothing, as a model that was trained on many workloads.
class residual_model final : public model {
 public:
  /// Requires: 1. no model is null.
  /// @throws argument_error
  residual_model(std::shared_ptr<model> base, std::shared_ptr<model> local);

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  /// The texts of both; what was measured is not saved.
  std::string save() const override;
  /// @throws argument_error when `text` was saved by other models
  void load(std::string_view text) override;
  bool reads_traces() const override;

 private:
  std::shared_ptr<model> base_, local_;
  std::vector<double> known_base_, known_speed_;  // scores and log throughput of what was measured
  double slope_ = 1, weight_ = 0;                 // a and b
};

}  // namespace tilewright::cost
