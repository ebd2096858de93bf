// What can be read of a damaged file, row by row: SQLite reads rows by their number, so that one bad page
// costs the rows on it and no others.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <tilewright/search/store.hpp>

namespace tilewright::search::detail {

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
  /// @returns how many numbers between rows were not readable
  template <class Row>
  std::size_t each(const std::string& columns, const std::string& table, const Row& row) {
    std::size_t lost = 0;
    if (!db_ || !known(columns, table)) return lost;
    std::int64_t id = 0;
    int misses = 0;
    while (misses < 10000 && id < INT64_MAX) {
      const int found =
          next(columns, table, " where rowid>? order by rowid limit 1", id, id + 1, id, row);
      if (found == sqlite_api::done) break;
      if (found == sqlite_api::row) {
        lost += static_cast<std::size_t>(misses);
        misses = 0;
        continue;
      }
      // the way to the next row is damaged: step over it number by number
      if (next(columns, table, " where rowid=?", id + 1, id + 1, id, row) != sqlite_api::row) {
        ++misses;
        ++id;
      } else {
        lost += static_cast<std::size_t>(misses);
        misses = 0;
      }
    }
    return lost;
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

inline failed_candidate salvage_failed(const sqlite_api& api, sqlite3_stmt* q) {
  const auto text = [&](int i) { return salvage_text(api, q, i); };
  failed_candidate f;
  f.key = {text(1), text(2), text(3), static_cast<int>(api.column_int64(q, 4))};
  f.trace = text(5);
  f.kind = text(6);
  f.detail = text(7);
  f.from = {text(8), text(9), text(10), static_cast<int>(api.column_int64(q, 11))};
  return f;
}

/// Records of a damaged file.
struct salvage_counts {
  std::size_t saved = 0, lost = 0;  // what lay behind the last readable one is in neither

  /// "12 records were saved, 3 were not readable".
  std::string text(const std::string& done) const {
    return std::to_string(saved) + " records were " + done +
           (lost ? ", " + std::to_string(lost) + " were not readable" : "");
  }
};

/// Gives what can be read to `to`, which has the members add, add_failed and add_workload. Code is left: it can
/// be made again from the traces.
template <class To>
salvage_counts salvage_rows(const sqlite_api& api, const std::string& from, To& to) {
  salvage_source source(api, from);
  salvage_counts out;
  out.lost = source.each(record_columns, "record", [&](const sqlite_api& a, sqlite3_stmt* q) {
    const record r = salvage_record(a, q);
    if (r.digest() != salvage_text(a, q, 14) || r.seconds.empty()) {
      ++out.lost;
      return;
    }
    to.add(r);
    ++out.saved;
  });
  source.each(failed_columns, "failed", [&](const sqlite_api& a, sqlite3_stmt* q) {
    const failed_candidate f = salvage_failed(a, q);
    if (f.digest() == salvage_text(a, q, 12)) to.add_failed(f);
  });
  source.each("key, script", "workload", [&](const sqlite_api& a, sqlite3_stmt* q) {
    to.add_workload(salvage_text(a, q, 1), salvage_text(a, q, 2));
  });
  return out;
}

/// A copy of a database file, with its log, that ends with this object.
class salvage_copy {
 public:
  /// @throws std::filesystem::filesystem_error
  explicit salvage_copy(const std::string& path) {
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
    if (!::mkdtemp(folder.data()))
      throw fs::filesystem_error("no temporary directory", folder,
                                 std::error_code(errno, std::generic_category()));
    folder_ = folder;
    try {
      fs::copy_file(path, file());
      if (fs::exists(path + "-wal")) fs::copy_file(path + "-wal", file() + "-wal");
      for (const char* tail : {"", "-wal"}) {
        std::error_code ignored;
        fs::permissions(file() + tail, fs::perms::owner_read | fs::perms::owner_write, ignored);
      }
    } catch (...) {
      remove();
      throw;
    }
  }
  ~salvage_copy() { remove(); }
  salvage_copy(const salvage_copy&) = delete;
  salvage_copy& operator=(const salvage_copy&) = delete;

  std::string file() const { return folder_ + "/copy.db"; }

 private:
  void remove() const noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string folder_;
};

}  // namespace tilewright::search::detail
