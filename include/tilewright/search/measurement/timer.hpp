// Calls compiled code, with a deadline, under a guard, and times it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

/// Runs code on one set of sealed arguments. Not thread-safe but for `cancel`.
class timer {
 public:
  /// Both references must outlive the timer.
  timer(argument_memory& arguments, const backend::executor& exec);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  measurement measure(const backend::loaded& code, const measure_options& options);
  /// One call on fresh outputs, untimed. // deadline: s
  measurement run(const backend::loaded& code, double deadline);
  /// Ends the call in progress, from another thread; later calls are cancelled too.
  void cancel();
  /// From now on caches::rotating means for calls what it means in a network: these arguments, its
  /// weights, and packed copies of them come from memory, since they are flushed before each timed
  /// call; all others are where the call before left them.
  /// @param weights positions of arguments; where there are none, all arguments rotate
  void take_from_memory(std::vector<std::size_t> weights);
  /// From now on calls end when `cancelled` is true; it is looked at every 10 ms. Null: never.
  void watch(const std::atomic<bool>* cancelled);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::search
