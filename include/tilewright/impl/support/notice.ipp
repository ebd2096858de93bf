#pragma once

#include <cstdio>
#include <mutex>
#include <set>

#include <tilewright/support/files/file_size_signal.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/notice.hpp>

namespace tilewright::support {

TILEWRIGHT_INLINE void notice(const std::string& text) {
  {
    static constinit fork_mutex mutex;
    const std::lock_guard lock(mutex);
    static auto* told = new std::set<std::string>;  // outlives static destruction
    if (!told->insert(text).second) return;
  }
  write_stderr("tilewright: " + text + "\n");
}

TILEWRIGHT_INLINE void write_stderr(const std::string& text) {
  const file_size_signal_block limit;  // where stderr is a file
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace tilewright::support
