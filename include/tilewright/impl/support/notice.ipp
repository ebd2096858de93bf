#pragma once

#include <cstdio>
#include <mutex>
#include <set>

#include <tilewright/support/file_size_signal.hpp>
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
  const file_size_signal_block limit;  // where stderr is a file
  std::fputs(("tilewright: " + text + "\n").c_str(), stderr);
}

}  // namespace tilewright::support
