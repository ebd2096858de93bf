// Compilations that are no longer wanted.
#pragma once

#include <atomic>
#include <utility>

namespace tilewright::backend::cuda::detail {

/// The flag that ends what this thread compiles when it becomes true; null: none.
inline constinit thread_local const std::atomic<bool>* stop_flag = nullptr;

/// While it lives, NVRTC gives up what this thread compiles as soon as it can, once the flag is true.
class compile_stop {
 public:
  explicit compile_stop(const std::atomic<bool>& flag) : before_(std::exchange(stop_flag, &flag)) {}
  ~compile_stop() { stop_flag = before_; }
  compile_stop(const compile_stop&) = delete;
  compile_stop& operator=(const compile_stop&) = delete;

 private:
  const std::atomic<bool>* before_;
};

}  // namespace tilewright::backend::cuda::detail
