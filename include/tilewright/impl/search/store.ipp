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

#include <tilewright/impl/search/store_statement.hpp>
#include <tilewright/search/store.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/number_text.hpp>

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
    " cpu text, llvm text, date text, revision integer, digest text);"
    "create index if not exists record_by_key on record(workload, isa, arguments, threads, chosen);"
    "create index if not exists record_by_family on record(family, isa, threads, chosen);"
    "create table if not exists workload(key text primary key, script text);"
    "create table if not exists code(workload text, isa text, arguments text, threads integer,"
    " trace_digest text, revision integer, llvm text, date text, digest text, object blob,"
    " primary key(workload, isa, arguments, threads, trace_digest, revision));"
    "create table if not exists lease(workload text, isa text, arguments text, threads integer,"
    " owner text, expires integer, primary key(workload, isa, arguments, threads));";

/// What brings a file of version 1 + i to the next one.
inline constexpr const char* store_migrations[schema_version - 1] = {
    "create table failure(workload text, isa text, arguments text, threads integer,"
    " kind text, count integer, detail text, primary key(workload, isa, arguments, threads, "
    "kind));",
    "create table failed(id integer primary key, workload text, isa text, arguments text,"
    " threads integer, trace text, kind text, detail text, cpu text, llvm text, date text,"
    " revision integer, digest text);"
    "create index failed_by_key on failed(workload, isa, arguments, threads);"};

inline constexpr int store_application_id = 0x54574442;  // "TWDB"

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
  std::string why;
  api_ = sqlite(&why);
  if (!api_) throw store_error(store_failure::no_library, why);
  if (how == access::read_write) create_file();
  try {
    if (how == access::read_only) {
      open_for_reading();
    } else {
      open(sqlite_api::open_read_write, path);
      open_schema();
    }
  } catch (...) {
    api_->close_v2(db_);
    throw;
  }
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) inode_ = file.st_ino;
}

TILEWRIGHT_INLINE void store::open(int flags, const std::string& name) {
  const int code = api_->open_v2(name.c_str(), &db_, flags | sqlite_api::open_full_mutex, nullptr);
  if (code != sqlite_api::ok) fail(code, "opening");
  api_->busy_timeout(db_, 2000);
}

TILEWRIGHT_INLINE void store::open_for_reading() {
  const auto examine = [&] {
    if (!has_schema() && version_ < 1)
      throw store_error(store_failure::foreign, path_ + " is no tuning database");
  };
  try {
    open(sqlite_api::open_read_only, path_);
    return examine();
  } catch (const store_error& e) {
    if (e.kind() != store_failure::not_writable || ::access(path_.c_str(), R_OK) != 0) throw;
  }
  // where the log's index cannot be made: a file that nobody changes can do without
  api_->close_v2(db_);
  db_ = nullptr;
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path_).string())
    name += c == '%'   ? std::string("%25")
            : c == '?' ? std::string("%3f")
            : c == '#' ? std::string("%23")
                       : std::string(1, c);
  open(sqlite_api::open_read_only | sqlite_api::open_uri, name + "?immutable=1");
  examine();
}

TILEWRIGHT_INLINE store::~store() {
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
    if (reason == EACCES || reason == EROFS || reason == EPERM) {
      if (::access(path_.c_str(), R_OK) == 0) return;  // reading still works
    }
    throw store_error(reason == ENOSPC || reason == EDQUOT || reason == EMFILE
                          ? store_failure::later
                          : store_failure::not_writable,
                      "cannot create " + path_ + ": " + std::strerror(reason));
  }
  ::close(file);
}

TILEWRIGHT_INLINE bool store::has_schema() {
  const std::int64_t version = pragma("pragma user_version");
  version_ = 0;
  const std::int64_t application = pragma("pragma application_id");
  if (application == detail::store_application_id) {
    version_ = version;
    if (version == schema_version) return true;
    if (version > schema_version)
      throw store_error(store_failure::newer,
                        path_ + " has schema version " + std::to_string(version) +
                            ", this library knows " + std::to_string(schema_version) +
                            "; it was written by a newer Tilewright and is left as it is");
  } else if (pragma("select count(*) from sqlite_master") != 0) {
    throw store_error(store_failure::foreign, path_ + " is a database of another program");
  }
  return false;
}

TILEWRIGHT_INLINE void store::open_schema() {
  if (pragma("pragma user_version") != schema_version || !has_schema()) {
    execute("begin immediate");  // another process may be making the tables now
    try {
      if (!has_schema()) {
        if (version_ > 0)
          migrate();
        else
          execute(detail::store_schema);
        execute(("pragma application_id=" + std::to_string(detail::store_application_id)).c_str());
        execute(("pragma user_version=" + std::to_string(schema_version)).c_str());
        version_ = schema_version;
      }
      execute("commit");
    } catch (...) {
      api_->exec(db_, "rollback", nullptr, nullptr, nullptr);
      throw;
    }
  }
  use_write_ahead_log();
  execute("pragma synchronous=normal");
}

TILEWRIGHT_INLINE void store::migrate() {
  for (; version_ < schema_version; ++version_) execute(detail::store_migrations[version_ - 1]);
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
          what.find("unsupported file format") != std::string::npos)
        throw store_error(store_failure::damaged, what);
      [[fallthrough]];
    default: throw store_error(store_failure::later, what);
  }
}

TILEWRIGHT_INLINE void store::add(const record& r) {
  execute("begin immediate");
  try {
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
        " best, chosen, cpu, llvm, date, revision, digest) values(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
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
        .step();
    execute("commit");
  } catch (...) {
    api_->exec(db_, "rollback", nullptr, nullptr, nullptr);
    throw;
  }
}

TILEWRIGHT_INLINE std::vector<record> store::select(const std::string& where,
                                                    const std::vector<std::string>& values) {
  store_statement q(*this,
                    ("select " + std::string(record_columns) + " from record " + where).c_str());
  for (const std::string& v : values) q.text(v);
  std::vector<record> out;
  while (q.step()) {
    record r = detail::read_record(q);
    if (r.digest() == q.column(13) && !r.seconds.empty())
      out.push_back(std::move(r));
    else
      ++skipped;
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
  store_statement q(*this,
                    "select kind, count, detail from failure where workload=? and isa=? and "
                    "arguments=? and threads=?"
                    " order by kind");
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
    if (f.digest() == q.column(11))
      out.push_back(std::move(f));
    else
      ++skipped;
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
  store_statement q(
      *this,
      "select object, digest from code where workload=? and isa=? and arguments=? and threads=?"
      " and trace_digest=? and revision=?");
  q.key(key).text(detail::store_text_digest(trace)).number(revision);
  if (!q.step()) return std::nullopt;
  return std::pair(q.column_blob(0), q.column(1));
}

TILEWRIGHT_INLINE std::vector<std::int64_t> store::code_revisions(const record_key& key,
                                                                  const std::string& trace) {
  store_statement q(*this,
                    "select revision from code where workload=? and isa=? and arguments=? and "
                    "threads=? and trace_digest=? order by revision");
  q.key(key).text(detail::store_text_digest(trace));
  std::vector<std::int64_t> out;
  while (q.step()) out.push_back(q.column_number(0));
  return out;
}

TILEWRIGHT_INLINE bool store::lease(const record_key& key, const std::string& owner,
                                    double seconds) {
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  const std::int64_t expires = now + static_cast<std::int64_t>(seconds) + 1;
  execute("begin immediate");
  try {
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
    execute("commit");
    return free;
  } catch (...) {
    api_->exec(db_, "rollback", nullptr, nullptr, nullptr);
    throw;
  }
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
  return pid_ != getpid() || stat(path_.c_str(), &file) != 0 || file.st_ino != inode_;
}

}  // namespace tilewright::search
