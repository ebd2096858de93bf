// Cost models: what ranks candidates before they are measured, and learns from measurements.
//
// The interface speaks of programs, so that a model of your own may look at anything; the models
// here are random numbers and boosted trees on per-store features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/trace_token.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost {

/// A scheduled program, as a model sees it.
struct sample {
  const ir::function* program = nullptr;
  support::hash128 key;       // of `program`
  support::hash128 workload;  // times are compared within a workload only
  double seconds = std::numeric_limits<double>::infinity();  // infinity: it failed
  trace_tokens trace = {};  // how it came about; null where no model reads that, or nobody knows it
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
  /// True for a model that looks at `sample::trace`, which is left out for others.
  virtual bool reads_traces() const { return false; }
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

/// What trees look at instead of store_features.
struct feature_extractor {
  std::size_t columns = 0;  // numbers per row
  /// The rows of a program one after the other, each of `columns` numbers. A program without rows
  /// is not learned and scores 0. Called once per program.
  std::function<std::vector<float>(const ir::function&)> rows;  // null: store_features
};

struct tree_model_options {
  gbt_options trees{.goal = objective::pairwise};
  feature_options features;  // of store_features
  feature_extractor extractor{};
  std::size_t warmup = 16;       // measured programs below which a model without prior draws scores
  double retrain_share = 0.2;    // of new data that lets it train again
  std::size_t most_data = 4096;  // programs; older ones are forgotten
  std::uint64_t seed = 42;
};

/// Boosted trees on per-store features, or on features of your own; the score of a program is the
/// sum over its rows (pack-sum). The label of a program is the best time of its workload divided by its own time, so
/// workloads of different size can be learned together. A prior, trained before on other workloads,
/// is where training starts.
class tree_model final : public model {
 public:
  /// @throws argument_error when `prior` was trained on other features
  explicit tree_model(tree_model_options options = {}, gbt prior = {});

  /// @throws argument_error when an extractor gives no whole number of rows; so does `update`
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
  struct row_list {
    std::shared_ptr<const float> x;  // [count, columns]
    std::size_t count = 0;
  };
  struct datum {
    row_list rows;
    support::hash128 workload;
    double seconds;
  };
  std::size_t columns() const;
  row_list rows_of(const sample& s);
  dataset data() const;

  tree_model_options options_;
  gbt prior_;
  gbt trees_;
  feature_cache features_;
  std::unordered_map<support::hash128, row_list> extracted_;  // by an extractor of the user's own
  std::vector<datum> known_;
  std::size_t trained_ = 0;  // programs of the last training
  std::size_t fresh_ = 0;    // programs that came since
  support::random draws_;
};

}  // namespace tilewright::cost
