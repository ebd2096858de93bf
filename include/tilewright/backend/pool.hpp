// Worker threads for parallel loops.
//
// The caller claims chunks beside the workers, so a loop ends even when every worker is preempted
// or asleep, and any number of callers make progress at the same time. Workers spin for a while
// after work, then sleep on a futex (measurements: waking one costs its caller about 10 us, a
// spinning one under 1 us).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend {

/// A set of worker threads. A loop that a chunk starts runs inline on its thread. A forked child
/// starts workers of its own with its first parallel loop.
class pool {
 public:
  /// @param threads that work on a loop, the caller included; below 1 counts as 1, above
  /// most_threads() as that
  explicit pool(int threads);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  int threads() const noexcept;
  /// How many of them the machine gave, the caller included; `threads()` before the first loop.
  int started() const noexcept;

  /// For `call::exec`; valid as long as the pool.
  const executor& view() const noexcept;
  /// At most `threads` of the pool's threads; valid as long as the pool.
  /// @throws argument_error when `threads` is not in [1, threads()]
  const executor& view(int threads) const;

  /// The pool of the process: TILEWRIGHT_NUM_THREADS threads, or one per core this process may use.
  /// Its workers start with the first parallel loop.
  /// @throws argument_error when TILEWRIGHT_NUM_THREADS is no number
  static pool& shared();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Largest number of threads of a pool: four per core of the machine, and 64 anywhere. More would
/// only wait for each other.
int most_threads();

/// What a value of TILEWRIGHT_NUM_THREADS asks for; 0, or nothing: one thread per core.
/// @throws argument_error for anything but a number from 0 on
int threads_asked_for(std::string_view text);

}  // namespace tilewright::backend
