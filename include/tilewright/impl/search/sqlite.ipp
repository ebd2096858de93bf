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
      fill(library);
      library.keep_open();
      opened = true;
    } catch (const std::exception& e) {
      reason = e.what();
    }
  }

  template <class F>
  static void take(const support::dynamic_library& library, F& slot, const char* symbol) {
    slot = reinterpret_cast<F>(library.get(symbol));
  }

  void fill(const support::dynamic_library& from) {
    take(from, table.open_v2, "sqlite3_open_v2");
    take(from, table.close_v2, "sqlite3_close_v2");
    take(from, table.busy_timeout, "sqlite3_busy_timeout");
    take(from, table.exec, "sqlite3_exec");
    take(from, table.prepare_v2, "sqlite3_prepare_v2");
    take(from, table.step, "sqlite3_step");
    take(from, table.finalize, "sqlite3_finalize");
    take(from, table.bind_text, "sqlite3_bind_text");
    take(from, table.bind_blob, "sqlite3_bind_blob");
    take(from, table.bind_int64, "sqlite3_bind_int64");
    take(from, table.bind_double, "sqlite3_bind_double");
    take(from, table.column_text, "sqlite3_column_text");
    take(from, table.column_blob, "sqlite3_column_blob");
    take(from, table.column_bytes, "sqlite3_column_bytes");
    take(from, table.column_int64, "sqlite3_column_int64");
    take(from, table.column_double, "sqlite3_column_double");
    take(from, table.changes, "sqlite3_changes");
    take(from, table.errmsg, "sqlite3_errmsg");
    take(from, table.extended_errcode, "sqlite3_extended_errcode");
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
