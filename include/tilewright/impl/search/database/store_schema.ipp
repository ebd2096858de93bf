// The tables of a database file: which version they are of, whether they are whole, and how those of an
// earlier version become today's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/store_file.hpp>
#include <tilewright/impl/search/database/store_row.hpp>
#include <tilewright/impl/search/database/store_statement.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {
namespace detail {

inline constexpr const char* store_schema =
    "create table if not exists failure(workload text, isa text, arguments text, threads integer,"
    " kind text, count integer, detail text, primary key(workload, isa, arguments, threads, kind));"
    "create table if not exists failed(id integer primary key, workload text, isa text, arguments "
    "text, threads integer, trace text, kind text, detail text, cpu text, llvm text, date text,"
    " revision integer, digest text);"
    "create index if not exists failed_by_key on failed(workload, isa, arguments, threads);"
    "create table if not exists record(id integer primary key, workload text, isa text, arguments "
    "text,"
    " threads integer, family text, extents text, trace text, seconds text, best real, chosen "
    "integer,"
    " cpu text, llvm text, date text, revision integer, digest text, checked text default '');"
    "create index if not exists record_by_key on record(workload, isa, arguments, threads, chosen);"
    "create index if not exists record_by_family on record(family, isa, threads, chosen);"
    "create table if not exists workload(key text primary key, script text);"
    "create table if not exists code(workload text, isa text, arguments text, threads integer,"
    " trace_digest text, revision integer, llvm text, date text, digest text, object blob,"
    " primary key(workload, isa, arguments, threads, trace_digest, revision));"
    "create table if not exists lease(workload text, isa text, arguments text, threads integer,"
    " owner text, expires integer, primary key(workload, isa, arguments, threads));"
    "create table if not exists seal(schema text);";

/// What brings a file of version 1 + i to the next one.
inline constexpr const char* store_migrations[schema_version - 1] = {
    "create table failure(workload text, isa text, arguments text, threads integer,"
    " kind text, count integer, detail text, primary key(workload, isa, arguments, threads, "
    "kind));",
    "create table failed(id integer primary key, workload text, isa text, arguments text,"
    " threads integer, trace text, kind text, detail text, cpu text, llvm text, date text,"
    " revision integer, digest text);"
    "create index failed_by_key on failed(workload, isa, arguments, threads);",
    "create table seal(schema text);", "alter table record add column checked text default '';"};

}  // namespace detail

/// False for a file without tables and for one of an older version. In a transaction, since other
/// processes make and migrate tables.
TILEWRIGHT_INLINE bool store::has_schema() {
  const auto damaged = [&](const char* what) {
    return store_error(store_failure::damaged, path_ + ": " + what);
  };
  const std::int64_t version = pragma("pragma user_version"),
                     application = pragma("pragma application_id"),
                     tables = pragma("select count(*) from sqlite_master");
  version_ = 0;
  if (application == 0 && tables == 0 && version == 0) return false;
  if (application != detail::store_application_id) {
    if (ours_) throw damaged("its application number is damaged");
    throw store_error(store_failure::foreign,
                      path_ + " is a database of another program and is left as it is");
  }
  ours_ = true;
  version_ = version;
  const bool fits = sealed();  // also by later versions
  if (version > schema_version && fits)
    throw store_error(store_failure::newer,
                      path_ + " has schema version " + std::to_string(version) +
                          ", this library knows " + std::to_string(schema_version) +
                          "; it was written by a newer Tilewright and is left as it is");
  if (version == schema_version && fits) return true;
  constexpr int first_sealed = 4;
  if (version >= first_sealed && version < schema_version && fits) return false;
  if (version >= first_sealed || version < 1 ||
      pragma("select count(*) from sqlite_master where name='seal'") != 0)
    throw damaged("the description of its tables is damaged");
  return false;
}

/// Digest of the version and of the tables, and of where they lie.
TILEWRIGHT_INLINE std::string store::schema_digest() {
  support::hasher tables, places;
  tables.add(static_cast<std::uint64_t>(pragma("pragma application_id")));
  tables.add(static_cast<std::uint64_t>(pragma("pragma user_version")));
  store_statement q(
      *this, "select type, name, tbl_name, sql, rootpage, rowid from sqlite_master order by name");
  while (q.step()) {
    for (int i = 0; i < 4; ++i) tables.add(std::string_view(q.column(i)));
    for (int i = 4; i < 6; ++i) places.add(std::string_view(q.column(i)));
  }
  return tables.finish().hex() + " " + places.finish().hex();
}

TILEWRIGHT_INLINE bool store::sealed() {
  std::string seal;
  try {
    store_statement q(*this, "select schema from seal");
    if (!q.step()) return false;
    seal = q.column(0);
  } catch (const store_error& e) {
    if (e.kind() != store_failure::damaged) throw;
    return false;  // there is no such table
  }
  const std::string now = schema_digest();
  if (seal == now) return true;
  const auto tables = [](const std::string& digest) { return digest.substr(0, digest.find(' ')); };
  return tables(seal) == tables(now) && intact();  // somebody has moved the tables: VACUUM does
}

TILEWRIGHT_INLINE void store::seal() {
  execute("delete from seal");
  store_statement(*this, "insert into seal values(?)").text(schema_digest()).step();
}

TILEWRIGHT_INLINE void store::open_schema() {
  using kind = store_transaction::access;
  bool there = false;
  {
    store_transaction reading(*this, kind::read);
    there = has_schema();
    reading.commit();
  }
  if (!there) {
    store_transaction making(*this, kind::write);  // another process may be making the tables now
    if (!has_schema()) {
      if (version_ > 0)
        migrate();
      else
        execute(detail::store_schema);
      execute(("pragma application_id=" + std::to_string(detail::store_application_id)).c_str());
      execute(("pragma user_version=" + std::to_string(schema_version)).c_str());
      version_ = schema_version;
      seal();
    }
    making.commit();
  }
  use_write_ahead_log();
  execute("pragma synchronous=normal");
}

TILEWRIGHT_INLINE void store::migrate() {
  if (!intact()) throw store_error(store_failure::damaged, path_ + ": its pages are damaged");
  const bool named = version_ < 4;
  for (; version_ < schema_version; ++version_) execute(detail::store_migrations[version_ - 1]);
  if (named) take_names_from_keys();
}

/// Until version 3, keys named the arguments.
TILEWRIGHT_INLINE void store::take_names_from_keys() {
  struct row {
    std::int64_t id;
    std::string arguments, digest;
  };
  std::vector<row> rows;
  const auto update = [&](const char* sql) {
    for (const row& r : rows)
      store_statement(*this, sql).text(r.arguments).text(r.digest).number(r.id).step();
    rows.clear();
  };
  {
    store_statement q(*this,
                      ("select " + std::string(record_columns) + ", id from record").c_str());
    while (q.step()) {
      record r = detail::read_record(q);
      if (r.digest() != q.column(14)) continue;
      r.key = by_position(r.key);
      rows.push_back({q.column_number(15), r.key.arguments, r.digest()});
    }
  }
  update("update record set arguments=?, digest=? where id=?");
  // keys that differed in names alone are one key now
  execute(
      "update record set chosen=0 where chosen=1 and exists(select 1 from record other where "
      "other.chosen=1 and other.workload=record.workload and other.isa=record.isa and "
      "other.arguments=record.arguments and other.threads=record.threads and "
      "(other.best < record.best or (other.best = record.best and other.id > record.id)))");
  {
    store_statement q(*this,
                      ("select " + std::string(failed_columns) + ", id from failed").c_str());
    while (q.step()) {
      failed_candidate f = detail::read_failed(q);
      if (f.digest() != q.column(11)) continue;
      f.key = by_position(f.key);
      rows.push_back({q.column_number(12), f.key.arguments, f.digest()});
    }
  }
  update("update failed set arguments=?, digest=? where id=?");
  {
    store_statement q(*this, "select arguments, digest, rowid from code");
    while (q.step())
      rows.push_back({q.column_number(2), arguments_by_position(q.column(0)), q.column(1)});
  }
  update("update or replace code set arguments=?, digest=? where rowid=?");
  std::vector<std::pair<record_key, failure_count>> counts;
  {
    store_statement q(*this,
                      "select workload, isa, arguments, threads, kind, count, detail from failure");
    while (q.step())
      counts.push_back({by_position({q.column(0), q.column(1), q.column(2),
                                     static_cast<int>(q.column_number(3))}),
                        {q.column(4), q.column_number(5), q.column(6)}});
  }
  execute("delete from failure; delete from lease");
  for (const auto& [key, count] : counts) add_failures(key, count);
}

}  // namespace tilewright::search
