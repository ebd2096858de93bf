// A database file: how it is opened, for writing or as it is, and how it fails.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include <tilewright/impl/search/database/store_file.hpp>
#include <tilewright/impl/search/database/store_statement.hpp>
#include <tilewright/search/database/store.hpp>

namespace tilewright::search {

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
  const auto failed = [](int reason, const std::string& what) {
    const bool passes = reason == ENOSPC || reason == EDQUOT || reason == EMFILE;
    return store_error(passes ? store_failure::later : store_failure::not_writable,
                       what + ": " + std::strerror(reason));
  };
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (error)
      throw failed(error.value(),
                   "cannot make the folder of " + path_ +
                       "; TILEWRIGHT_DB or the option database has to name a file that can be "
                       "written");
    // code is only loaded from a directory that nobody else may write
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw failed(errno, "cannot write " + path_);
  ::close(file);
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
