// Measures compiled candidates on memory of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/guard.hpp>
#include <tilewright/search/operands.hpp>

namespace tilewright::search {

/// Why a candidate gave no usable time.
enum class failure { none, schedule, build, fault, timeout, cancelled, wrong_result };
/// "fault", "timeout", ...
const char* name(failure f);

/// Times of one candidate.
struct measurement {
  std::vector<double> seconds;  // [repeats], per call
  failure failed = failure::none;
  std::string detail;  // what failed, in words

  bool ok() const { return failed == failure::none && !seconds.empty(); }
  double best() const;
  double median() const;
  /// Distance between the quartiles over the median: the noise of this measurement.
  double spread() const;
};

struct measure_options {
  double best = std::numeric_limits<double>::infinity();  // s; a candidate slower than twice this is not repeated
  double deadline = 10;   // s for all of it; then the candidate is cancelled
  double budget = 0.02;   // s spent repeating
  int repeats = 5;        // at least, unless the budget is used up
  int most_repeats = 25;
  double stable = 0.02;   // repeats end when the spread is below this
};

/// Memory layout of one argument: strides in elements and the alignment of element 0 in bytes.
struct argument_layout {
  std::vector<std::int64_t> strides;
  std::size_t alignment = 64;
};

/// A set of arguments of one function in guarded memory, filled with reproducible sane values: floats in [-1, 1),
/// or in [0.25, 1.25) where the function divides or takes roots or logarithms; small integers; indices in their
/// bounds. Not thread-safe.
class runner {
 public:
  /// @param layouts one per parameter of `f`; an empty list or empty strides mean as declared
  runner(const ir::function& f, std::vector<argument_layout> layouts, const backend::executor& exec,
         std::uint64_t seed);
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

  const std::vector<operand>& operands() const noexcept;
  /// Address of element 0 of each parameter.
  const std::vector<void*>& data() const noexcept;
  /// Strides of each parameter. // elements
  const std::vector<argument_layout>& layouts() const noexcept;
  /// Puts the outputs back to what they were before any call.
  void reset_outputs();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::search
