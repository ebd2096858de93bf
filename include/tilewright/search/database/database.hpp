// The tuning database: measurements, chosen schedules, compiled code and leases, shared by
// processes.
//
// An SQLite file in WAL mode; every measurement is committed as it is made. Whatever is wrong with
// the file (no library, no permission, disk full, locked, damaged, made by a newer version) the
// database keeps working in memory, says why in `status()`, and writes what it kept as soon as that
// is possible. A file that is no database of this library, by whatever mistake its name came here,
// stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/support/owned.hpp>

namespace tilewright::search {

/// Path of the default file: TILEWRIGHT_DB, else tilewright/tuning.db under XDG_CACHE_HOME or
/// ~/.cache. Empty when no such directory is known.
std::string default_database_path();

/// All members may be called from any thread; none throws for a reason outside the program.
///
/// A class of one's own may derive from it, to keep records elsewhere. What it does not override
/// works on what the base holds, which is nothing on disk for ":memory:". `add` and `chosen`
/// are enough for finding again what was tuned; `top` and `failed` let sessions resume, `all` lets
/// models learn, `add_code` and `code` save compiling.
class database {
 public:
  /// Opens or creates the file; an empty path means the default one, ":memory:" none. Several files
  /// separated by ':' (the user's, the team's, what was shipped) are read in that order, and only
  /// the first is written.
  explicit database(std::string path = {});
  virtual ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  /// The process's one handle to the file at `path`.
  static std::shared_ptr<database> shared(const std::string& path = {});

  /// A handle that reads the files at `path`, a list as above, and leaves them exactly as they are,
  /// damaged or not: of a damaged one, it holds what can be read. It makes no file and no folder,
  /// except for the index that SQLite keeps beside a log that was not written back. What is added
  /// stays in memory.
  static std::shared_ptr<database> reading(const std::string& path = {});

  /// Of the file that is written.
  const std::string& path() const noexcept;
  /// Of all files, in the order in which they are read.
  std::vector<std::string> paths() const;
  /// True when the last operation on the file worked.
  virtual bool persistent() const;
  /// Why the file is not used, or what had to be repaired; empty when all is well.
  virtual std::string status() const;

  /// Stores a measurement. A chosen one takes the mark from the one chosen before.
  virtual void add(const record& r);
  /// The chosen record of a key.
  virtual std::optional<record> chosen(const record_key& key) const;
  /// The `count` fastest measurements of a key, one per trace.
  virtual std::vector<record> top(const record_key& key, std::size_t count) const;
  /// The chosen record of the same kernel, instruction set and thread count with the nearest
  /// extents.
  virtual std::optional<record> nearest(const std::string& family,
                                        const std::vector<std::int64_t>& extents,
                                        const record_key& key) const;
  /// Every record, oldest first; `keep` may be null.
  virtual std::vector<record> all(const std::function<bool(const record&)>& keep = {}) const;
  /// Rows that were skipped since opening because their digest did not match.
  virtual std::size_t skipped() const;

  /// Keeps a candidate that gave no time, so that later sessions need not try it.
  virtual void add_failed(const failed_candidate& f);
  /// Those of a key, oldest first.
  virtual std::vector<failed_candidate> failed(const record_key& key) const;
  /// Those of all keys, oldest first.
  virtual std::vector<failed_candidate> all_failed() const;
  /// Counts candidates that gave no time and that nothing is kept of, by kind.
  virtual void add_failures(const record_key& key, const failure_count& f);
  /// How many gave no time, by kind: those that were kept, and those that were only counted.
  virtual std::vector<failure_count> failures(const record_key& key) const;

  /// Text of a workload, for people and tools.
  virtual void add_workload(const std::string& workload, const std::string& script);
  virtual std::optional<std::string> workload(const std::string& key) const;

  /// Compiled code of one schedule. `code` gives it back only when its digest matches and file and
  /// directory belong to the user and nobody else may write them; else `why` says what is wrong.
  virtual void add_code(const record_key& key, const std::string& trace, const provenance& from,
                        const std::vector<std::byte>& bytes);
  virtual std::optional<std::vector<std::byte>> code(const record_key& key,
                                                     const std::string& trace, int revision,
                                                     std::string* why = nullptr) const;

  /// Claims the tuning of a key for `seconds`; false while it is claimed, by this process or
  /// another live one.
  virtual bool lease(const record_key& key, double seconds);
  /// Prolongs a claim of this process.
  virtual void renew(const record_key& key, double seconds);
  virtual void release(const record_key& key);

  /// explain_lookup (search/database/lookup.hpp) on this database.
  std::string why(const record& wanted) const;

 private:
  static std::shared_ptr<database> unopened(const std::string& path);

  struct state;
  support::owned<state> state_;
};

}  // namespace tilewright::search
