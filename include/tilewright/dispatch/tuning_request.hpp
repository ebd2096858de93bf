// One call to be tuned, as a value: which kernel, and at which arguments.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/dispatcher.hpp>

namespace tilewright::dispatch {

class tuning_request {
 public:
  tuning_request() = default;
  /// Of arguments whose data live until it is tuned; extents and strides are copied.
  tuning_request(std::shared_ptr<dispatcher> op, const call_argument* arguments);
  /// Of dense arguments of these extents.
  tuning_request(std::shared_ptr<dispatcher> op, search::extent_map extents, storage order)
      : op_(std::move(op)), extents_(std::move(extents)), order_(order) {}

  /// The same, run that often beside the others.
  tuning_request weighted(double times) const {
    tuning_request out = *this;
    out.weight_ = times;
    return out;
  }

  dispatcher* op() const noexcept { return op_.get(); }
  double weight() const noexcept { return weight_; }
  /// Calls `use` with the arguments.
  /// @throws argument_error when a dimension has no extent
  void with_arguments(const std::function<void(const call_argument*)>& use) const;

 private:
  struct argument {
    void* data;
    std::vector<std::int64_t> extents, strides;
  };
  std::shared_ptr<dispatcher> op_;
  std::vector<argument> arguments_;  // none: dense ones of `extents_`
  search::extent_map extents_;
  storage order_ = storage::row_major;
  double weight_ = 1;
};

}  // namespace tilewright::dispatch
