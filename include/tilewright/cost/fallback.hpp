// A model with another one in reserve, for the case that it ranks no better than chance.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

struct fallback_options {
  double least =
      0.1;          // rank correlation on a batch that was not learned, below which a batch is bad
  int allowed = 2;  // bad batches in a row that change over, and good ones that change back
};

/// Scores are those of the first model until its rank correlation on `allowed` batches in a row was
/// below `least`, each taken before the batch was learned; then those of the second one, until the
/// first is as often above it. Both learn everything. A batch of fewer than four valid programs
/// judges nobody.
class fallback_model final : public model {
 public:
  /// Requires: 1. no model is null.
  /// @throws argument_error
  fallback_model(std::shared_ptr<model> first, std::shared_ptr<model> reserve,
                 fallback_options options = {});

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  std::string save() const override;
  /// @throws argument_error when `text` was saved by other models
  void load(std::string_view text) override;
  bool reads_traces() const override;

  bool fell_back() const noexcept { return fell_back_; }

 private:
  std::shared_ptr<model> first_, reserve_;
  fallback_options options_;
  bool fell_back_ = false;
  int against_ = 0;  // batches in a row that speak against who scores now
};

}  // namespace tilewright::cost
