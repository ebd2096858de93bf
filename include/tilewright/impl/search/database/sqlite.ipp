#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>

#include <tilewright/search/database/sqlite.hpp>
#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::search {
namespace detail {

struct sqlite_library {
  sqlite_api table{};
  bool opened = false;
  std::string reason;

  sqlite_library() {
    try {
      support::dynamic_library library({"SQLite",
                                        "TILEWRIGHT_SQLITE",
                                        {"libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"},
                                        "install it with: apt-get install libsqlite3-0"});
      library.fill(table, "sqlite3_");
      library.keep_open();
      opened = true;
    } catch (const std::exception& e) {
      reason = e.what();
    }
  }
};

}  // namespace detail

TILEWRIGHT_INLINE const sqlite_api* sqlite(std::string* why) {
  static constinit std::atomic<const detail::sqlite_library*> opened{nullptr};
  if (const detail::sqlite_library* there = opened.load()) return &there->table;
  const support::fork_pass inside;
  // at each call anew: a process that had no more descriptors may have some now
  auto fresh = std::make_unique<const detail::sqlite_library>();
  if (!fresh->opened) {
    if (why) *why = fresh->reason;
    return nullptr;
  }
  const detail::sqlite_library* there = nullptr;
  if (!opened.compare_exchange_strong(there, fresh.get())) return &there->table;
  return &fresh.release()->table;  // outlives static destruction
}

}  // namespace tilewright::search
