// A cheap model in front of an expensive one (the draft of Pruner, ASPLOS 2025).
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

/// The cheap model scores all programs, the exact one the best of them: one in `keep`, at least
/// `least`. What the exact one has seen ranks above all that it has not.
class draft_model final : public model {
 public:
  /// Requires: 1. no model is null; 2. `keep` is positive.
  /// @throws argument_error
  draft_model(std::shared_ptr<model> cheap, std::shared_ptr<model> exact, std::size_t keep = 8,
              std::size_t least = 8);

  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample> measured) override;
  std::string save() const override;
  /// @throws argument_error when `text` was saved by other models
  void load(std::string_view text) override;
  bool reads_traces() const override;

 private:
  std::shared_ptr<model> cheap_, exact_;
  std::size_t keep_, least_;
};

}  // namespace tilewright::cost
