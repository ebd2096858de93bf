// The weights that are bound to a kernel, as copies that its op owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/check/shrink.hpp>

namespace tilewright::dispatch {

/// Copies of bound arguments, dense and row-major whatever the user's layout. Immutable once it is
/// in use; copies of the set share the data.
class weight_set {
 public:
  /// Copies an argument.
  ///
  /// It requires: 1) the parameter is not bound yet, and is read only; 2) extents are not negative
  /// and those the kernel fixes are met; 3) the data are not null where there are elements.
  /// @throws argument_error naming the parameter
  void add(const kernel_signature& kernel, std::size_t parameter, const call_argument& value);

  bool empty() const noexcept { return weights_.empty(); }
  bool has(std::size_t parameter) const noexcept;
  /// Sets the entries of the bound parameters in the arguments of a call.
  void fill(call_argument* arguments) const noexcept;
  /// Positions of the bound parameters.
  std::vector<std::size_t> positions() const;
  /// One address per parameter of a kernel, null for those that are not bound.
  std::vector<const void*> data(std::size_t parameters) const;

 private:
  struct weight {
    std::size_t parameter;
    std::shared_ptr<std::byte> data;
    std::vector<std::int64_t> extents, strides;
  };
  std::vector<weight> weights_;
};

/// `make` with the parameters at `positions` marked as bound (ir/bound_weights.hpp).
std::function<ir::function(const search::extent_map&)> with_bound_weights(
    std::function<ir::function(const search::extent_map&)> make,
    std::vector<std::size_t> positions);

}  // namespace tilewright::dispatch
