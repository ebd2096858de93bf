// A multilayer perceptron over the stores of a program, in the shape of TenSet's (Zheng et al.,
// NeurIPS datasets 2021).
//
// The 164 numbers of each store (features.hpp), standardized, go through two dense layers; the sum
// over the stores goes through two residual layers and gives the score. It is trained to rank the
// programs of a workload. The definitions need Eigen: learning.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/cost/model.hpp>
#include <tilewright/cost/network_options.hpp>

namespace tilewright::cost {

struct mlp_options : network_options {
  feature_options features;
};

/// Ranks programs by the perceptron. Without pretrained weights the first scores are those of random
/// weights, which are finite and mean nothing. While few programs were measured, the layers behind
/// the sum alone are tuned.
class mlp_model final : public model {
 public:
  explicit mlp_model(mlp_options options = {});
  ~mlp_model() override;

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  /// As graph_model::pretrain.
  std::vector<double> pretrain(std::span<const sample> measured);

  std::string save() const override;
  /// @throws argument_error when `text` is no perceptron of this shape, or holds what is not finite
  void load(std::string_view text) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::cost
