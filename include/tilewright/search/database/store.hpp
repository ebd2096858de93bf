// One connection to a database file: statements, schema, and the classes of failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/search/database/sqlite.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {

/// Schema version that this library writes. Older files are migrated when they are opened for
/// writing, newer ones are left alone.
///
/// The table `seal` holds a digest of the version and of the description of the tables, so that
/// damage to either is noticed: one page says where all tables lie. Later versions keep it.
inline constexpr int schema_version = 5;

/// Columns of a record's row in the order of record's fields, `digest` last. Files of versions before
/// 5 have no column `checked`.
inline constexpr const char* record_columns =
    "workload, isa, arguments, threads, family, extents, trace, seconds, cpu, llvm, date, revision,"
    " chosen, checked, digest";
inline constexpr const char* unchecked_record_columns =
    "workload, isa, arguments, threads, family, extents, trace, seconds, cpu, llvm, date, revision,"
    " chosen, '', digest";

/// Columns of a failed candidate's row in the order of failed_candidate's fields, `digest` last.
inline constexpr const char* failed_columns =
    "workload, isa, arguments, threads, trace, kind, detail, cpu, llvm, date, revision, digest";

/// Digest under which compiled code is stored.
std::string code_digest(const std::vector<std::byte>& bytes);

/// What went wrong with a file. `damaged` can be salvaged, `later` may pass by itself; `foreign` is
/// what nobody can take for a database of this library, and what is never touched.
enum class store_failure { no_library, not_writable, later, damaged, newer, foreign };

class store_error : public error {
 public:
  store_error(store_failure kind, const std::string& what) : error(what), kind_(kind) {}
  store_failure kind() const noexcept { return kind_; }

 private:
  store_failure kind_;
};

/// Not thread-safe; not usable across fork. Members throw store_error.
class store {
 public:
  enum class access { read_write, read_only };
  /// Opens the file. For writing it is created with its directories where there is none; for
  /// reading it is left exactly as it is, whoever owns it.
  explicit store(const std::string& path, access how = access::read_write);
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  bool read_only() const noexcept { return how_ == access::read_only; }

  /// Condition of rows of one key, with ?1 to ?4 for `key_values`.
  const char* key_condition() const noexcept;
  std::vector<std::string> key_values(const record_key& key) const;

  void add(const record& r);
  /// Records that match; `where` is SQL over the columns with ?1.. bound to `values`. Rows that
  /// fail their digest are counted in `skipped`.
  std::vector<record> select(const std::string& where, const std::vector<std::string>& values);
  /// Counts candidates that gave no time; `detail` of the last one is kept.
  void add_failures(const record_key& key, const failure_count& f);
  std::vector<failure_count> failures(const record_key& key);
  void add_failed(const failed_candidate& f);
  /// Failed candidates that match, as `select`.
  std::vector<failed_candidate> select_failed(const std::string& where,
                                              const std::vector<std::string>& values);
  void add_workload(const std::string& workload, const std::string& script);
  std::optional<std::string> workload(const std::string& key);
  void add_code(const record_key& key, const std::string& trace, const provenance& from,
                const std::vector<std::byte>& bytes);
  /// Bytes and their stored digest.
  std::optional<std::pair<std::vector<std::byte>, std::string>> code(const record_key& key,
                                                                     const std::string& trace,
                                                                     int revision);
  /// Lowering revisions for which there is code of a schedule, ascending.
  std::vector<std::int64_t> code_revisions(const record_key& key, const std::string& trace);
  bool lease(const record_key& key, const std::string& owner, double seconds);
  void release(const record_key& key, const std::string& owner);

  /// Result of SQLite's own check of the file's structure; reads all of it.
  bool intact();

  /// True when the path no longer names the file that was opened, or names it with other contents
  /// where those were taken to stay; or when this process was forked since.
  bool stale() const;
  /// Leaves the connection open for ever: what a forked child must do with its parent's.
  void abandon() noexcept { db_ = nullptr; }

  std::size_t skipped = 0;

 private:
  friend class store_statement;
  friend class store_transaction;
  void create_file() const;
  void open(int flags, const std::string& name);
  void open_for_reading();
  void open_unchanging();
  bool has_schema();
  bool sealed();
  void seal();
  std::string schema_digest();
  void open_schema();
  void migrate();
  void take_names_from_keys();
  void use_write_ahead_log();
  void execute(const char* sql);
  std::int64_t pragma(const char* sql);
  [[noreturn]] void fail(int code, const std::string& doing) const;

  std::string path_;
  access how_ = access::read_write;
  std::int64_t version_ = schema_version;  // of the file; 0: it has no tables
  bool ours_ = false;                      // as its first bytes say
  bool unchanging_ = false;                // SQLite was told that nobody writes the file
  const sqlite_api* api_ = nullptr;
  sqlite3* db_ = nullptr;
  std::uint64_t inode_ = 0;
  std::pair<std::int64_t, std::int64_t> written_{};  // time and size, of an unchanging file
  long pid_ = 0;
};

/// Copies every readable row of a damaged file into a new one that takes its place; the old one is
/// kept beside it as PATH.damaged (or .damaged.2, ...). Returns a sentence that says what was
/// saved.
/// @throws store_error `foreign` for a file that is not of this library, which stays as it is
std::string salvage(const std::string& path);

}  // namespace tilewright::search
