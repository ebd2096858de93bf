// The entry ABI of compiled kernels: one C function of one argument.
//
// Layout is part of the contract between generated code and the library: generated code reads these
// structures by offset. Append fields at the end; a change of what is there needs a new
// `lowering_revision` (backend/compile.hpp), since cached code outlives the library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tilewright/config.hpp>

namespace tilewright::backend {

/// Body of one chunk of a parallel loop. `worker` is in [0, executor::threads) and no two chunks
/// that run at the same time see the same worker.
using chunk_body = void (*)(void* context, std::int64_t chunk, int worker);

/// Who runs parallel loops. `run` calls `body` once for each chunk in [0, chunks), in any order and
/// on any thread, and returns when all have returned. It must not throw. A body does not call
/// `run`.
struct executor {
  void (*run)(void* self, std::int64_t chunks, chunk_body body, void* context);
  void* self;
  int threads;  // upper bound of `worker`; at least 1
};

/// Arguments of one call of a kernel.
struct call {
  /// One per parameter in order. A buffer: address of its first element (elem_offset is added by
  /// the code). A scalar: address of its value, booleans as one byte.
  void* const* data;
  /// Strides of all buffer parameters in order, rank entries each, in elements. Read only for the
  /// strides and where the function leaves them to run time; null when there is none.
  const std::int64_t* strides;
  /// At least the artifact's workspace_bytes, aligned to 64 bytes; contents undefined; null when 0.
  std::byte* workspace;
  /// Runs parallel loops; null means all chunks run on the calling thread as worker 0.
  const executor* exec;
  void* stream;  // GPU only
  /// Polled at outer loops and chunks; nonzero ends the kernel early, outputs undefined. May be
  /// null.
  const std::atomic<int>* cancel;
  /// The `loaded` whose entry is called. Read by entries of GPU code alone; others may get null.
  const void* code = nullptr;
};

/// What an entry returns.
inline constexpr int call_done = 0;
inline constexpr int call_cancelled = 1;

/// A compiled kernel.
using entry = int (*)(const call*);

static_assert(sizeof(void*) == 8, "tilewright: the entry ABI needs a 64-bit platform");
static_assert(sizeof(std::atomic<int>) == 4 && offsetof(call, data) == 0 &&
                  offsetof(call, strides) == 8 && offsetof(call, workspace) == 16 &&
                  offsetof(call, exec) == 24 && offsetof(call, stream) == 32 &&
                  offsetof(call, cancel) == 40 && offsetof(call, code) == 48 &&
                  offsetof(executor, run) == 0 && offsetof(executor, self) == 8 &&
                  offsetof(executor, threads) == 16,
              "tilewright: generated code reads these offsets; keep them");

/// An executor that runs every chunk on the calling thread.
const executor& serial_executor();

}  // namespace tilewright::backend
