// Memory that a thread lends to the calls that it makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <tilewright/config.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/threads/thread_end.hpp>

namespace tilewright::dispatch::detail {

/// The workspace of calls on this thread: grows, and is given back when the thread ends. It needs no
/// destructor itself: destructors of static objects may still call.
class workspace_lease {
 public:
  static std::byte* get(std::int64_t size);

  static void poison() noexcept;

 private:
  void close() {
    std::free(std::exchange(data_, nullptr));
    size_ = 0;
  }
  void grow(std::int64_t size) {
    const support::fork_pass inside;
    static const support::thread_end end(
        [](void* lease) { static_cast<workspace_lease*>(lease)->close(); });
    end.ask(this);  // what a call takes after that is left to the process
    std::free(data_);
    size_ = (size + 4095) / 4096 * 4096;
    data_ = static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(size_)));
    if (data_) return;
    size_ = 0;
    throw build_error("no memory for a workspace of " + std::to_string(size) + " bytes");
  }
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};
inline constinit thread_local workspace_lease leased_workspace{};

inline void workspace_lease::poison() noexcept {
  if (leased_workspace.data_)
    std::memset(leased_workspace.data_, 0xa5, static_cast<std::size_t>(leased_workspace.size_));
}

inline std::byte* workspace_lease::get(std::int64_t size) {
  workspace_lease& mine = leased_workspace;
  if (size > mine.size_) mine.grow(size);
  return mine.data_;
}

}  // namespace tilewright::dispatch::detail
