#include <tilewright/search/database/sqlite.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace tilewright::search;

TEST_CASE("the library opens, or says what was tried") {
  std::string why;
  const sqlite_api* api = sqlite(&why);
  CHECK((api != nullptr) == why.empty());
  if (!api) {
    CHECK(why.find("libsqlite3.so.0") != std::string::npos);
    return;
  }
  sqlite3* db = nullptr;
  REQUIRE(api->open_v2(":memory:", &db, sqlite_api::open_read_write, nullptr) == sqlite_api::ok);
  CHECK(api->exec(db, "create table t(a); insert into t values (7)", nullptr, nullptr, nullptr) ==
        sqlite_api::ok);
  sqlite3_stmt* q = nullptr;
  REQUIRE(api->prepare_v2(db, "select a from t", -1, &q, nullptr) == sqlite_api::ok);
  CHECK(api->step(q) == sqlite_api::row);
  CHECK(api->column_int64(q, 0) == 7);
  CHECK(api->step(q) == sqlite_api::done);
  api->finalize(q);
  api->close_v2(db);
}

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

#define SAME(f) static_assert(std::is_same_v<decltype(sqlite_api::f), decltype(&sqlite3_##f)>)
SAME(open_v2);
SAME(close_v2);
SAME(busy_timeout);
SAME(exec);
SAME(prepare_v2);
SAME(step);
SAME(finalize);
SAME(bind_text);
SAME(bind_blob);
SAME(bind_int64);
SAME(bind_double);
SAME(column_text);
SAME(column_blob);
SAME(column_bytes);
SAME(column_int64);
SAME(column_double);
SAME(changes);
SAME(errmsg);
SAME(extended_errcode);
#undef SAME
static_assert(sqlite_api::ok == SQLITE_OK && sqlite_api::busy == SQLITE_BUSY &&
              sqlite_api::locked == SQLITE_LOCKED && sqlite_api::read_only == SQLITE_READONLY &&
              sqlite_api::io_error == SQLITE_IOERR && sqlite_api::corrupt == SQLITE_CORRUPT &&
              sqlite_api::full == SQLITE_FULL && sqlite_api::cannot_open == SQLITE_CANTOPEN &&
              sqlite_api::not_a_database == SQLITE_NOTADB && sqlite_api::row == SQLITE_ROW &&
              sqlite_api::done == SQLITE_DONE);
static_assert(sqlite_api::open_read_only == SQLITE_OPEN_READONLY &&
              sqlite_api::open_read_write == SQLITE_OPEN_READWRITE &&
              sqlite_api::open_create == SQLITE_OPEN_CREATE &&
              sqlite_api::open_full_mutex == SQLITE_OPEN_FULLMUTEX);
#endif
