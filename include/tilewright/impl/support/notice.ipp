#pragma once

#include <cstdio>
#include <mutex>
#include <set>

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
  std::fprintf(stderr, "tilewright: %s\n", text.c_str());
}

}  // namespace tilewright::support
