// Measures compiled candidates on memory of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/measurement/argument_layout.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/owned.hpp>

namespace tilewright::search {

/// A set of arguments of one function in guarded memory. Not thread-safe but for `cancel`.
class runner {
 public:
  /// @param layouts one per parameter of `f`; an empty list or empty strides mean as declared
  /// @param given what the arguments hold; the rest is made up from `seed`, as `set` says
  /// @throws argument_error when a given value has another size than its parameter
  runner(const ir::function& f, std::vector<argument_layout> layouts, const backend::executor& exec,
         std::uint64_t seed, const given_values& given = {},
         argument_memory::sharing sharing = argument_memory::sharing::none,
         value_set set = value_set::usual);
  ~runner();
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;

  measurement measure(const backend::loaded& code, const measure_options& options);
  /// One call on fresh outputs, untimed.
  measurement run(const backend::loaded& code, double deadline = 60);
  /// The outputs of the last call, element by element in row-major order of each written parameter.
  std::vector<std::vector<std::byte>> outputs() const;

  /// Ends the call in progress, from another thread; later calls are cancelled too.
  void cancel();
  /// As timer::watch.
  void watch(const std::atomic<bool>* cancelled);

  const std::vector<operand>& operands() const noexcept;
  /// Address of element 0 of each parameter.
  const std::vector<void*>& data() const noexcept;
  /// Strides of each parameter. // elements
  const std::vector<argument_layout>& layouts() const noexcept;
  /// Puts the outputs back to what they were before any call.
  void reset_outputs();
  /// Where the arguments lie.
  const argument_memory& memory() const noexcept;

 private:
  struct state;
  support::owned<state> state_;
};

}  // namespace tilewright::search
