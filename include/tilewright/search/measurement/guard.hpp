// Keeps a faulty candidate from taking the program down: guarded memory and guarded calls.
//
// Code under test may be wrong: a schedule of the user's, an artifact of a future code generator. It runs
// between two inaccessible pages, under handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL that jump back to
// the thread that ran it. Faults elsewhere go to the handler that was there before.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// Where data begin: `beyond` bytes after a multiple of `alignment`, a power of two up to a page.
struct placement {
  std::size_t alignment = 64;
  std::size_t beyond = 0;
};

/// Memory between inaccessible pages. The data end as near to the upper ones as their placement
/// allows.
class guarded_buffer {
 public:
  guarded_buffer() = default;
  /// @throws build_error when there is not enough memory
  explicit guarded_buffer(std::size_t bytes, placement at = {});
  /// Maps `mapped_for(bytes)` bytes of a file, from `offset` on; whoever maps the same with the same
  /// arguments sees the same data.
  guarded_buffer(std::size_t bytes, placement at, int descriptor, std::size_t offset);
  ~guarded_buffer();
  guarded_buffer(guarded_buffer&& other) noexcept;
  guarded_buffer& operator=(guarded_buffer&& other) noexcept;
  guarded_buffer(const guarded_buffer&) = delete;
  guarded_buffer& operator=(const guarded_buffer&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  /// From now on writing to it is a fault.
  void make_read_only() noexcept;
  /// Whether the pages around the data may be touched, too, as those around the arrays of a caller may:
  /// a processor takes hundreds of cycles for a vector that begins or ends in a page that is not there, even
  /// where a mask keeps all lanes from it. What is timed is timed so, after a call between inaccessible pages.
  void open_guards(bool open) const noexcept;
  /// Bytes of memory that a buffer takes, a multiple of the page size.
  static std::size_t mapped_for(std::size_t bytes);

 private:
  void place(placement at, int descriptor, std::size_t offset);

  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// While one lives, the fault handlers are installed. Counted; any thread.
class fault_handlers {
 public:
  fault_handlers();
  ~fault_handlers();
  fault_handlers(const fault_handlers&) = delete;
  fault_handlers& operator=(const fault_handlers&) = delete;
};

/// Name of a signal that a guarded call may end with: "SIGSEGV".
const char* fault_name(int signal);

/// Calls `body(context)`; a fault inside it on this thread ends the call. Frames of `body` are not unwound,
/// so it holds nothing that needs a destructor. Nests.
/// @returns 0, or the number of the signal
int run_guarded(void (*body)(void*), void* context);

}  // namespace tilewright::search
