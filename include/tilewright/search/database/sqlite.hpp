// The part of SQLite's C interface that the database uses, as a table of prototypes.
//
// No SQLite header is included and nothing is linked: the library is opened at first use. A test compares
// the prototypes and constants with sqlite3.h where that is installed.
#pragma once

#include <string>

#include <tilewright/config.hpp>

struct sqlite3;  // as sqlite3.h declares them, so that the types of the prototypes are the same
struct sqlite3_stmt;  //

namespace tilewright::search {

/// Functions of libsqlite3, each named as there without the prefix `sqlite3_`.
struct sqlite_api {
  using destructor = void (*)(void*);
  int (*open_v2)(const char* path, sqlite3** db, int flags, const char* vfs);
  int (*close_v2)(sqlite3* db);
  int (*busy_timeout)(sqlite3* db, int milliseconds);
  int (*exec)(sqlite3* db, const char* sql, int (*row)(void*, int, char**, char**), void* context,
              char** message);
  int (*prepare_v2)(sqlite3* db, const char* sql, int bytes, sqlite3_stmt** statement,
                    const char** tail);
  int (*step)(sqlite3_stmt* statement);
  int (*finalize)(sqlite3_stmt* statement);
  int (*bind_text)(sqlite3_stmt* statement, int index, const char* text, int bytes, destructor d);
  int (*bind_blob)(sqlite3_stmt* statement, int index, const void* data, int bytes, destructor d);
  int (*bind_int64)(sqlite3_stmt* statement, int index, long long value);
  int (*bind_double)(sqlite3_stmt* statement, int index, double value);
  const unsigned char* (*column_text)(sqlite3_stmt* statement, int column);
  const void* (*column_blob)(sqlite3_stmt* statement, int column);
  int (*column_bytes)(sqlite3_stmt* statement, int column);
  long long (*column_int64)(sqlite3_stmt* statement, int column);
  double (*column_double)(sqlite3_stmt* statement, int column);
  int (*changes)(sqlite3* db);
  const char* (*errmsg)(sqlite3* db);
  int (*extended_errcode)(sqlite3* db);

  /// Calls f(name, function) for every function.
  template <class F>
  void visit(F&& f) {
    f("open_v2", open_v2);
    f("close_v2", close_v2);
    f("busy_timeout", busy_timeout);
    f("exec", exec);
    f("prepare_v2", prepare_v2);
    f("step", step);
    f("finalize", finalize);
    f("bind_text", bind_text);
    f("bind_blob", bind_blob);
    f("bind_int64", bind_int64);
    f("bind_double", bind_double);
    f("column_text", column_text);
    f("column_blob", column_blob);
    f("column_bytes", column_bytes);
    f("column_int64", column_int64);
    f("column_double", column_double);
    f("changes", changes);
    f("errmsg", errmsg);
    f("extended_errcode", extended_errcode);
  }

  static constexpr int ok = 0, busy = 5, locked = 6, read_only = 8, io_error = 10, corrupt = 11,
                       full = 13, cannot_open = 14, not_a_database = 26, row = 100, done = 101;
  static constexpr int open_read_only = 1, open_read_write = 2, open_create = 4, open_uri = 0x40,
                       open_full_mutex = 0x10000;
};

/// The table, filled at the first call; null when no library could be opened, and then `why` says what was
/// tried. The library stays open for the rest of the process. Never throws.
const sqlite_api* sqlite(std::string* why = nullptr);

}  // namespace tilewright::search
