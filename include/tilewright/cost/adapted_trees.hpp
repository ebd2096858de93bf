// Trees that know other workloads, adapted to one of which few programs were measured: what a search
// begins with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// Scores of programs are the sum of two corrections of a prior, both in the scale of what was measured
/// of the workload. One is a tree_model: a few shallow trees more. The other one is a Gaussian process
/// whose kernel is the share of the prior's trees that send two programs to the same leaves (a forest
/// kernel; Davies and Ghahramani, 2014), around a line in the prior's score. Trees tell programs apart by
/// few cuts, the process by all that the prior has learned to tell apart; together they rank better than
/// either.
///
/// The process learns each workload by itself, from the newest 256 to 512 of its valid programs; a
/// workload of which fewer than two are known is ranked by the trees alone.
class adapted_trees final : public model {
 public:
  /// Without a prior it is a tree_model that knows nothing.
  /// @throws argument_error when `prior` was trained on other features, or the options have an extractor
  explicit adapted_trees(gbt prior, tree_model_options options = {});
  ~adapted_trees() override;

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  /// The trees, as tree_model saves them; what the process has learned is not saved.
  std::string save() const override;
  /// The trees become the prior.
  void load(std::string_view text) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::cost
