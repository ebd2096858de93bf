#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include <tilewright/impl/search/database/store_file.hpp>
#include <tilewright/impl/search/database/store_statement.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/numbers/number_text.hpp>

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

inline std::string store_text_digest(const std::string& text) {
  support::hasher h;
  h.add(std::string_view(text));
  return h.finish().hex();
}

inline record read_record(const store_statement& q) {
  record r;
  r.key = {q.column(0), q.column(1), q.column(2), static_cast<int>(q.column_number(3))};
  r.family = q.column(4);
  r.extents = read_integers(q.column(5));
  r.trace = q.column(6);
  r.seconds = read_reals(q.column(7));
  r.from = {q.column(8), q.column(9), q.column(10), static_cast<int>(q.column_number(11))};
  r.chosen = q.column_number(12) != 0;
  r.checked = q.column(13);
  return r;
}

inline failed_candidate read_failed(const store_statement& q) {
  failed_candidate f;
  f.key = {q.column(0), q.column(1), q.column(2), static_cast<int>(q.column_number(3))};
  f.trace = q.column(4);
  f.kind = q.column(5);
  f.detail = q.column(6);
  f.from = {q.column(7), q.column(8), q.column(9), static_cast<int>(q.column_number(10))};
  return f;
}

/// True when `owner` ("host/pid/...") is a process of this machine that has ended.
inline bool lease_owner_ended(const std::string& owner, const std::string& me) {
  const std::size_t host = owner.find('/');
  if (host == std::string::npos || me.compare(0, host + 1, owner, 0, host + 1) != 0) return false;
  const std::string_view rest = std::string_view(owner).substr(host + 1);
  const auto pid = support::read_number<pid_t>(rest.substr(0, rest.find('/')));
  return pid && *pid > 0 && kill(*pid, 0) != 0 && errno == ESRCH;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string code_digest(const std::vector<std::byte>& bytes) {
  support::hasher h;
  h.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return h.finish().hex();
}

TILEWRIGHT_INLINE store::store(const std::string& path, access how)
    : path_(path), how_(how), pid_(getpid()) {
  using kind = detail::store_file::kind;
  const support::file_size_signal_block limit;
  const detail::store_file found = detail::examine_store_file(path);
  if (found.is == kind::foreign)
    throw store_error(store_failure::foreign, path + " is " + found.what +
                                                  ": it is no tuning database and is left as it "
                                                  "is; name another file");
  ours_ = found.ours;
  std::string why;
  api_ = sqlite(&why);
  if (!api_) throw store_error(store_failure::no_library, why);
  if (how == access::read_write)
    create_file();
  else if (found.is == kind::absent)
    throw store_error(store_failure::not_writable, "there is no file " + path);
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) inode_ = file.st_ino;
  try {
    if (how == access::read_only) {
      open_for_reading();
    } else {
      open(sqlite_api::open_read_write, path);
      open_schema();
    }
    if (found.odd && !intact())
      throw store_error(store_failure::damaged, path + ": its header does not fit its pages");
  } catch (const store_error& e) {
    api_->close_v2(db_);
    if (e.kind() != store_failure::damaged || ours_) throw;
    throw store_error(store_failure::foreign,
                      path +
                          " is a damaged database, of another program as far as can be seen, "
                          "and is left as it is (" +
                          e.what() + ")");
  } catch (...) {
    api_->close_v2(db_);
    throw;
  }
}

TILEWRIGHT_INLINE void store::open(int flags, const std::string& name) {
  const int code = api_->open_v2(name.c_str(), &db_, flags | sqlite_api::open_full_mutex, nullptr);
  if (code != sqlite_api::ok) fail(code, "opening");
  api_->busy_timeout(db_, 2000);
}

namespace detail {

/// When a file was last written, and its size in bytes.
inline std::pair<std::int64_t, std::int64_t> store_written(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  return {static_cast<std::int64_t>(time),
          static_cast<std::int64_t>(std::filesystem::file_size(path, error))};
}

/// Whether a process has written into the log of a file and not yet, or never, back into the file.
inline bool store_has_log(const std::string& path) {
  struct stat log {};
  return ::stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;
}

}  // namespace detail

// Readers of a file with a log make an index of that log beside the file. A file without one is
// opened as one that nobody writes, which makes nothing; `stale` says when somebody does.
TILEWRIGHT_INLINE void store::open_for_reading() {
  const auto examine = [&] {
    store_transaction reading(*this, store_transaction::access::read);
    has_schema();
    reading.commit();
  };
  if (!detail::store_has_log(path_)) {
    open_unchanging();
    return examine();
  }
  try {
    open(sqlite_api::open_read_only, path_);
    return examine();
  } catch (const store_error& e) {
    if (e.kind() != store_failure::not_writable || ::access(path_.c_str(), R_OK) != 0) throw;
  }
  // where the log's index cannot be made: a file that nobody changes can do without
  api_->close_v2(db_);
  db_ = nullptr;
  open_unchanging();
  examine();
}

TILEWRIGHT_INLINE void store::open_unchanging() {
  written_ = detail::store_written(path_);
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path_).string())
    name += c == '%'   ? std::string("%25")
            : c == '?' ? std::string("%3f")
            : c == '#' ? std::string("%23")
                       : std::string(1, c);
  open(sqlite_api::open_read_only | sqlite_api::open_uri, name + "?immutable=1");
  unchanging_ = true;
}

TILEWRIGHT_INLINE store::~store() {
  const support::file_size_signal_block limit;  // closing writes the log back
  if (db_) api_->close_v2(db_);
}

TILEWRIGHT_INLINE void store::create_file() const {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (!error)  // code is only loaded from a directory that nobody else may write
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    const int reason = errno;
    throw store_error(reason == ENOSPC || reason == EDQUOT || reason == EMFILE
                          ? store_failure::later
                          : store_failure::not_writable,
                      "cannot write " + path_ + ": " + std::strerror(reason));
  }
  ::close(file);
}

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

/// Files that are read as they are may still name the arguments: no class ends as another does, so a
/// pattern finds them.
TILEWRIGHT_INLINE const char* store::key_condition() const noexcept {
  return version_ < 4
             ? "workload=?1 and isa=?2 and arguments glob ?3 and threads=cast(?4 as integer)"
             : "workload=?1 and isa=?2 and arguments=?3 and threads=cast(?4 as integer)";
}

TILEWRIGHT_INLINE std::vector<std::string> store::key_values(const record_key& key) const {
  std::string arguments = key.arguments;
  if (version_ < 4) {
    arguments = "*";
    for (const char c : key.arguments)
      arguments += c == ' ' ? std::string(" *") : std::string(1, c);
  }
  return {key.workload, key.isa, arguments, std::to_string(key.threads)};
}

// The switch needs the file alone and does not wait for it, unlike everything else.
TILEWRIGHT_INLINE void store::use_write_ahead_log() {
  for (int attempt = 0;; ++attempt) {
    const int code = api_->exec(db_, "pragma journal_mode=wal", nullptr, nullptr, nullptr);
    if (code == sqlite_api::ok) return;
    const int kind = code & 0xff;
    if ((kind != sqlite_api::busy && kind != sqlite_api::locked) || attempt == 200)
      fail(code, "preparing");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TILEWRIGHT_INLINE void store::execute(const char* sql) {
  const support::file_size_signal_block limit;
  const int code = api_->exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != sqlite_api::ok) fail(code, "preparing");
}

TILEWRIGHT_INLINE std::int64_t store::pragma(const char* sql) {
  store_statement q(*this, sql);
  return q.step() ? q.column_number(0) : 0;
}

TILEWRIGHT_INLINE void store::fail(int code, const std::string& doing) const {
  const int primary = code & 0xff;
  const std::string what = path_ + ": " + (db_ ? api_->errmsg(db_) : "cannot be opened") +
                           " (SQLite " + std::to_string(code) + ")";
  switch (primary) {
    case sqlite_api::corrupt:
    case sqlite_api::not_a_database: throw store_error(store_failure::damaged, what);
    case sqlite_api::read_only:
    case sqlite_api::cannot_open: throw store_error(store_failure::not_writable, what);
    case 1:  // SQLITE_ERROR: a table or column is missing although the version is ours, or the
             // header names a format that never was
      if (doing.find("preparing") == std::string::npos ||
          (version_ > 0 && version_ < schema_version) ||
          what.find("unsupported file format") != std::string::npos)
        throw store_error(store_failure::damaged, what);
      [[fallthrough]];
    default: throw store_error(store_failure::later, what);
  }
}

TILEWRIGHT_INLINE void store::add(const record& r) {
  store_transaction writing(*this, store_transaction::access::write);
  if (r.chosen)
    store_statement(
        *this,
        "update record set chosen=0 where workload=? and isa=? and arguments=? and threads=?"
        " and chosen=1")
        .key(r.key)
        .step();
  store_statement(
      *this,
      "insert into record(workload, isa, arguments, threads, family, extents, trace, seconds,"
      " best, chosen, cpu, llvm, date, revision, digest, checked)"
      " values(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
      .key(r.key)
      .text(r.family)
      .text(write_numbers(r.extents))
      .text(r.trace)
      .text(write_numbers(r.seconds))
      .real(r.best())
      .number(r.chosen ? 1 : 0)
      .text(r.from.cpu)
      .text(r.from.llvm)
      .text(r.from.date)
      .number(r.from.revision)
      .text(r.digest())
      .text(r.checked)
      .step();
  writing.commit();
}

TILEWRIGHT_INLINE std::vector<record> store::select(const std::string& where,
                                                    const std::vector<std::string>& values) {
  if (version_ < 1) return {};
  const std::string columns = version_ < 5 ? unchecked_record_columns : record_columns;
  store_statement q(*this, ("select " + columns + " from record " + where).c_str());
  for (const std::string& v : values) q.text(v);
  std::vector<record> out;
  while (q.step()) {
    record r = detail::read_record(q);
    if (r.digest() != q.column(14) || r.seconds.empty()) {
      ++skipped;
      continue;
    }
    r.key = by_position(std::move(r.key));
    out.push_back(std::move(r));
  }
  return out;
}

TILEWRIGHT_INLINE void store::add_failures(const record_key& key, const failure_count& f) {
  store_statement(*this,
                  "insert into failure values(?1,?2,?3,?4,?5,?6,?7) on conflict do update set "
                  "count=count+?6, detail=?7")
      .key(key)
      .text(f.kind)
      .number(f.count)
      .text(f.detail)
      .step();
}

TILEWRIGHT_INLINE std::vector<failure_count> store::failures(const record_key& key) {
  std::vector<failure_count> out;
  if (version_ < 2) return out;
  store_statement q(*this, ("select kind, sum(count), detail from failure where " +
                            std::string(key_condition()) + " group by kind order by kind")
                               .c_str());
  q.key(key);
  while (q.step()) out.push_back({q.column(0), q.column_number(1), q.column(2)});
  return out;
}

TILEWRIGHT_INLINE void store::add_failed(const failed_candidate& f) {
  store_statement(*this, ("insert into failed(" + std::string(failed_columns) +
                          ") values(?,?,?,?,?,?,?,?,?,?,?,?)")
                             .c_str())
      .key(f.key)
      .text(f.trace)
      .text(f.kind)
      .text(f.detail)
      .text(f.from.cpu)
      .text(f.from.llvm)
      .text(f.from.date)
      .number(f.from.revision)
      .text(f.digest())
      .step();
}

TILEWRIGHT_INLINE std::vector<failed_candidate> store::select_failed(
    const std::string& where, const std::vector<std::string>& values) {
  std::vector<failed_candidate> out;
  if (version_ < 3) return out;
  store_statement q(*this,
                    ("select " + std::string(failed_columns) + " from failed " + where).c_str());
  for (const std::string& v : values) q.text(v);
  while (q.step()) {
    failed_candidate f = detail::read_failed(q);
    if (f.digest() != q.column(11)) {
      ++skipped;
      continue;
    }
    f.key = by_position(std::move(f.key));
    out.push_back(std::move(f));
  }
  return out;
}

TILEWRIGHT_INLINE void store::add_workload(const std::string& workload, const std::string& script) {
  store_statement(*this, "insert or ignore into workload(key, script) values(?,?)")
      .text(workload)
      .text(script)
      .step();
}

TILEWRIGHT_INLINE std::optional<std::string> store::workload(const std::string& key) {
  if (version_ < 1) return std::nullopt;
  store_statement q(*this, "select script from workload where key=?");
  if (!q.text(key).step()) return std::nullopt;
  return q.column(0);
}

TILEWRIGHT_INLINE void store::add_code(const record_key& key, const std::string& trace,
                                       const provenance& from,
                                       const std::vector<std::byte>& bytes) {
  store_statement(*this, "insert or replace into code values(?,?,?,?,?,?,?,?,?,?)")
      .key(key)
      .text(detail::store_text_digest(trace))
      .number(from.revision)
      .text(from.llvm)
      .text(from.date)
      .text(code_digest(bytes))
      .blob(bytes)
      .step();
}

TILEWRIGHT_INLINE std::optional<std::pair<std::vector<std::byte>, std::string>> store::code(
    const record_key& key, const std::string& trace, int revision) {
  if (version_ < 1) return std::nullopt;
  store_statement q(*this, ("select object, digest from code where " +
                            std::string(key_condition()) + " and trace_digest=?5 and revision=?6")
                               .c_str());
  q.key(key).text(detail::store_text_digest(trace)).number(revision);
  if (!q.step()) return std::nullopt;
  return std::pair(q.column_blob(0), q.column(1));
}

TILEWRIGHT_INLINE std::vector<std::int64_t> store::code_revisions(const record_key& key,
                                                                  const std::string& trace) {
  if (version_ < 1) return {};
  store_statement q(*this, ("select revision from code where " + std::string(key_condition()) +
                            " and trace_digest=?5 order by revision")
                               .c_str());
  q.key(key).text(detail::store_text_digest(trace));
  std::vector<std::int64_t> out;
  while (q.step()) out.push_back(q.column_number(0));
  return out;
}

TILEWRIGHT_INLINE bool store::lease(const record_key& key, const std::string& owner,
                                    double seconds) {
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  const std::int64_t expires = now + static_cast<std::int64_t>(seconds) + 1;
  store_transaction writing(*this, store_transaction::access::write);
  bool free = true;
  {
    store_statement q(*this,
                      "select owner, expires from lease where workload=? and isa=? and "
                      "arguments=? and threads=?");
    if (q.key(key).step())
      free = q.column(0) == owner || q.column_number(1) < now ||
             detail::lease_owner_ended(q.column(0), owner);
  }
  if (free)
    store_statement(*this, "insert or replace into lease values(?,?,?,?,?,?)")
        .key(key)
        .text(owner)
        .number(expires)
        .step();
  writing.commit();
  return free;
}

TILEWRIGHT_INLINE void store::release(const record_key& key, const std::string& owner) {
  store_statement(
      *this,
      "delete from lease where workload=? and isa=? and arguments=? and threads=? and owner=?")
      .key(key)
      .text(owner)
      .step();
}

TILEWRIGHT_INLINE bool store::intact() {
  store_statement q(*this, "pragma quick_check(1)");
  return q.step() && q.column(0) == "ok";
}

TILEWRIGHT_INLINE bool store::stale() const {
  struct stat file {};
  if (pid_ != getpid() || stat(path_.c_str(), &file) != 0 || file.st_ino != inode_) return true;
  return unchanging_ && (detail::store_written(path_) != written_ || detail::store_has_log(path_));
}

}  // namespace tilewright::search
