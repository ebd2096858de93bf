// A network over the traces of programs, in the shape of TLP's (Zhai et al., ASPLOS 2023).
//
// Every primitive is a token (trace_token.hpp); one layer of self-attention lets each token see the
// others, and the sum over them gives the score. It looks at no program, so that a trace can be judged
// before it is replayed. It is trained to rank the programs of a workload. The definitions need Eigen:
// learning.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>
#include <tilewright/cost/network_options.hpp>

namespace tilewright::cost {

/// Ranks programs by their traces; one without a trace counts as one without primitives. Without
/// pretrained weights the first scores are those of random weights, which are finite and mean nothing.
/// While few programs were measured, the layers behind the sum alone are tuned.
class trace_model final : public model {
 public:
  explicit trace_model(network_options options = {});
  ~trace_model() override;

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  /// As graph_model::pretrain.
  std::vector<double> pretrain(std::span<const sample> measured);
  bool reads_traces() const override { return true; }

  std::string save() const override;
  /// @throws argument_error when `text` is no such network, or holds what is not finite
  void load(std::string_view text) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::cost
