// Some of the workers of an executor.
#pragma once

#include <cstdint>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend {

/// Runs loops by another executor, on fewer workers: kernels have memory for each worker that an
/// executor speaks of, and one may speak of more than there are. Any number of threads may use it.
class narrow_executor {
 public:
  /// @param wide has to outlive this one
  /// @param workers at least 1, at most those of `wide`
  narrow_executor(const executor& wide, int workers) noexcept
      : wide_(wide), view_{&run, this, workers} {}
  narrow_executor(const narrow_executor&) = delete;
  narrow_executor& operator=(const narrow_executor&) = delete;

  /// For `call::exec`; valid as long as this.
  const executor& view() const noexcept { return view_; }

 private:
  static void run(void* self, std::int64_t chunks, chunk_body body, void* context);

  const executor& wide_;
  executor view_;
};

}  // namespace tilewright::backend
