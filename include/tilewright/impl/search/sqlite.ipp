#pragma once

#include <exception>

#include <tilewright/search/sqlite.hpp>
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
  const support::fork_pass inside;
  static const detail::sqlite_library& library =
      *new detail::sqlite_library;  // outlives static destruction
  if (!library.opened && why) *why = library.reason;
  return library.opened ? &library.table : nullptr;
}

}  // namespace tilewright::search
