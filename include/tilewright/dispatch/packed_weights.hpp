// What one compiled kernel wants prepared: packed copies of bound weights, in its layout, or lists of a pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>

namespace tilewright::dispatch {

/// Memory that a kernel's preparation filled; immutable from then on, so that any number of calls
/// may read it.
class packed_weights {
 public:
  packed_weights() = default;
  /// Runs the preparation of `code`.
  /// @param bound address of element 0 of each bound parameter, dense and row-major; null for the
  /// others
  /// @param strides number of strides in a call of the kernel
  /// @throws build_error when there is not enough memory, internal_error when a weight is missing
  packed_weights(const backend::loaded& code, const std::vector<const void*>& bound,
                 std::size_t strides, const backend::executor& exec);

  /// Runs the preparation of `code` on the arguments of a call.
  /// @param arguments as the call has them
  /// @throws build_error when there is not enough memory
  packed_weights(const backend::loaded& code, std::vector<void*> arguments,
                 const std::int64_t* strides, const backend::executor& exec);

  /// One address per packed buffer, in the order in which they follow the parameters.
  const std::vector<void*>& data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  struct release {
    void operator()(std::byte* p) const noexcept;
  };
  void fill(const backend::loaded& code, std::vector<void*> all, const std::int64_t* strides,
            const backend::executor& exec);

  std::unique_ptr<std::byte, release> memory_;
  std::vector<void*> data_;
  std::int64_t bytes_ = 0;
};

}  // namespace tilewright::dispatch
