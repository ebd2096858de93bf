// What is saved is decided row by row: SQLite reads rows by their number, so that one bad page costs the
// rows on it and no others.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include <tilewright/search/store.hpp>

namespace tilewright::search {
namespace detail {

/// A damaged file, opened for reading what can be read.
class salvage_source {
 public:
  salvage_source(const sqlite_api& api, const std::string& path) : api_(api) {
    if (api.open_v2(path.c_str(), &db_, sqlite_api::open_read_write | sqlite_api::open_full_mutex,
                    nullptr) != sqlite_api::ok) {
      api.close_v2(db_);
      db_ = nullptr;
    }
  }
  ~salvage_source() {
    if (db_) api_.close_v2(db_);
  }
  salvage_source(const salvage_source&) = delete;
  salvage_source& operator=(const salvage_source&) = delete;

  /// Calls `row` for each readable row of `table`, in order of rowid; gives up after 10,000 unreadable
  /// numbers in a row. A damaged page may lead back to rows that came before, and round for ever: numbers
  /// only rise here.
  template <class Row>
  void each(const std::string& columns, const std::string& table, const Row& row) {
    if (!db_ || !known(columns, table)) return;
    std::int64_t id = 0;
    int misses = 0;
    while (misses < 10000 && id < INT64_MAX) {
      const int found =
          next(columns, table, " where rowid>? order by rowid limit 1", id, id + 1, id, row);
      if (found == sqlite_api::done) return;
      if (found == sqlite_api::row) {
        misses = 0;
        continue;
      }
      // the way to the next row is damaged: step over it number by number
      if (next(columns, table, " where rowid=?", id + 1, id + 1, id, row) != sqlite_api::row) {
        ++misses;
        ++id;
      }
    }
  }

 private:
  /// False where the description of the table is lost, and no row can be asked for.
  bool known(const std::string& columns, const std::string& table) {
    sqlite3_stmt* q = nullptr;
    const std::string sql = "select " + columns + " from " + table;
    const int code = api_.prepare_v2(db_, sql.c_str(), -1, &q, nullptr);
    api_.finalize(q);
    return code == sqlite_api::ok;
  }

  template <class Row>
  int next(const std::string& columns, const std::string& table, const char* where,
           std::int64_t from, std::int64_t least, std::int64_t& id, const Row& row) {
    sqlite3_stmt* q = nullptr;
    const std::string sql = "select rowid, " + columns + " from " + table + where;
    if (api_.prepare_v2(db_, sql.c_str(), -1, &q, nullptr) != sqlite_api::ok)
      return sqlite_api::corrupt;
    api_.bind_int64(q, 1, from);
    int code = api_.step(q);
    if (code == sqlite_api::row && api_.column_int64(q, 0) < least) code = sqlite_api::corrupt;
    if (code == sqlite_api::row) {
      id = api_.column_int64(q, 0);
      row(api_, q);
    }
    api_.finalize(q);
    return code;
  }

  const sqlite_api& api_;
  sqlite3* db_ = nullptr;
};

inline std::string salvage_text(const sqlite_api& api, sqlite3_stmt* q, int i) {
  const auto* s = reinterpret_cast<const char*>(api.column_text(q, i));
  return s ? std::string(s, static_cast<std::size_t>(api.column_bytes(q, i))) : std::string();
}

inline record salvage_record(const sqlite_api& api, sqlite3_stmt* q) {
  const auto text = [&](int i) { return salvage_text(api, q, i); };
  record r;
  r.key = {text(1), text(2), text(3), static_cast<int>(api.column_int64(q, 4))};
  r.family = text(5);
  r.extents = read_integers(text(6));
  r.trace = text(7);
  r.seconds = read_reals(text(8));
  r.from = {text(9), text(10), text(11), static_cast<int>(api.column_int64(q, 12))};
  r.chosen = api.column_int64(q, 13) != 0;
  return r;
}

inline std::string salvage_kept_name(const std::string& path) {
  std::string name = path + ".damaged";
  for (int i = 2; ::access(name.c_str(), F_OK) == 0; ++i)
    name = path + ".damaged." + std::to_string(i);
  return name;
}

/// Holds the lock file beside a database, so that one process repairs at a time.
class salvage_lock {
 public:
  explicit salvage_lock(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~salvage_lock() {
    if (file_ >= 0) ::close(file_);
  }
  salvage_lock(const salvage_lock&) = delete;
  salvage_lock& operator=(const salvage_lock&) = delete;

 private:
  int file_;
};

/// True when another process repaired the file while this one waited for the lock.
inline bool salvage_unneeded(const std::string& path) {
  try {
    store s(path);
    return s.intact();
  } catch (const store_error&) {
    return false;
  }
}

inline std::size_t salvage_rows(const sqlite_api& api, const std::string& from, store& to,
                                std::size_t& lost) {
  salvage_source source(api, from);
  std::size_t saved = 0;
  source.each(record_columns, "record", [&](const sqlite_api& a, sqlite3_stmt* q) {
    const record r = salvage_record(a, q);
    if (r.digest() != salvage_text(a, q, 14) || r.seconds.empty()) {
      ++lost;
      return;
    }
    to.add(r);
    ++saved;
  });
  source.each("key, script", "workload", [&](const sqlite_api& a, sqlite3_stmt* q) {
    to.add_workload(salvage_text(a, q, 1), salvage_text(a, q, 2));
  });
  return saved;  // code is not saved: it can be made again from the traces
}

}  // namespace detail

TILEWRIGHT_INLINE std::string salvage(const std::string& path) {
  const detail::salvage_lock lock(path + ".lock");
  if (detail::salvage_unneeded(path)) return {};
  const sqlite_api* api = sqlite();
  const std::string kept = detail::salvage_kept_name(path), fresh = path + ".salvage";
  for (const char* tail : {"", "-wal", "-shm"}) ::unlink((fresh + tail).c_str());
  std::size_t saved = 0, lost = 0;
  {
    store to(fresh);
    saved = detail::salvage_rows(*api, path, to, lost);
  }  // closing the last connection writes its log back into the file
  for (const char* tail : {"-wal", "-shm", ""})
    if (::rename((path + tail).c_str(), (kept + tail).c_str()) != 0 && *tail == '\0')
      throw store_error(store_failure::not_writable, "cannot rename the damaged file " + path);
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    throw store_error(store_failure::not_writable,
                      "cannot put the repaired file in the place of " + path);
  return path + " was damaged: " + std::to_string(saved) + " records were saved" +
         (lost ? ", " + std::to_string(lost) + " were not readable" : "") +
         "; the old file is kept as " + kept;
}

}  // namespace tilewright::search
