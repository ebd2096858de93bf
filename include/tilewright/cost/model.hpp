// Cost models: what ranks candidates before they are measured, and learns from measurements.
//
// The interface speaks of programs, so that a model of your own may look at anything; the models
// here are random numbers and boosted trees on per-store features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost {

/// A scheduled program, as a model sees it.
struct sample {
  const ir::function* program = nullptr;
  support::hash128 key;       // of `program`
  support::hash128 workload;  // times are compared within a workload only
  double seconds = std::numeric_limits<double>::infinity();  // infinity: it failed
};

/// Ranks programs of one workload; larger scores are better.
class model {
 public:
  virtual ~model() = default;
  virtual std::vector<double> predict(std::span<const sample> programs) = 0;
  /// Learns from measured programs.
  virtual void update(std::span<const sample> measured) = 0;
  /// Everything that predictions depend on, as text.
  virtual std::string save() const = 0;
  /// @throws argument_error when `text` was not saved by a model of this kind
  virtual void load(std::string_view text) = 0;
};

/// Uniform scores: no preference.
class random_model final : public model {
 public:
  explicit random_model(std::uint64_t seed = 42);
  std::vector<double> predict(std::span<const sample> programs) override;
  void update(std::span<const sample>) override {}
  std::string save() const override;
  void load(std::string_view text) override;

 private:
  support::random draws_;
  std::uint64_t taken_ = 0;
  std::uint64_t seed_ = 0;
};

struct tree_model_options {
  gbt_options trees{.goal = objective::pairwise};
  feature_options features;
  std::size_t warmup = 24;       // measured programs below which a model without prior draws scores
  double retrain_share = 0.2;    // of new data that lets it train again
  std::size_t most_data = 4096;  // programs; older ones are forgotten
  std::uint64_t seed = 42;
};

/// Boosted trees on per-store features; the score of a program is the sum over its stores
/// (pack-sum). The label of a program is the best time of its workload divided by its own time, so
/// workloads of different size can be learned together. A prior, trained before on other workloads,
/// is where training starts.
class tree_model final : public model {
 public:
  explicit tree_model(tree_model_options options = {}, gbt prior = {});

  std::vector<double> predict(std::span<const sample> programs) override;
  /// Adds data, and trains when enough of it is new.
  void update(std::span<const sample> measured) override;
  /// The trees; data are not saved.
  std::string save() const override { return trees_.save(); }
  /// The trees become the prior.
  void load(std::string_view text) override;

  /// Trains on what is there, whether or not enough of it is new.
  void train();
  const gbt& trees() const noexcept { return trees_; }
  std::size_t size() const noexcept { return known_.size(); }

 private:
  struct datum {
    feature_cache::rows rows;
    support::hash128 workload;
    double seconds;
  };
  dataset data() const;

  tree_model_options options_;
  gbt prior_;
  gbt trees_;
  feature_cache features_;
  std::vector<datum> known_;
  std::size_t trained_ = 0;
  support::random draws_;
};

}  // namespace tilewright::cost
