// One database file, and what could not be written to it: what every member of `database` works on.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <tuple>

#include <tilewright/impl/search/database/salvage_rows.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/files/trust.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::search {
namespace detail {

using database_code_key = std::tuple<record_key, std::string, int>;

/// What could not be written to the file, or never will be.
struct database_overlay {
  std::vector<record> records;
  std::map<std::string, std::string> workloads;
  std::map<database_code_key, std::pair<provenance, std::vector<std::byte>>> code;
  std::vector<std::pair<record_key, failure_count>> failures;
  std::vector<failed_candidate> failed;

  bool empty() const {
    return records.empty() && workloads.empty() && code.empty() && failures.empty() &&
           failed.empty();
  }
  void add(const record& r) {
    if (r.chosen)
      for (record& old : records)
        if (old.key == r.key) old.chosen = false;
    records.push_back(r);
  }
  void add_failed(const failed_candidate& f) { failed.push_back(f); }
  void add_failures(const record_key& key, const failure_count& f) {
    failures.emplace_back(key, f);
  }
  void add_workload(const std::string& workload, const std::string& script) {
    workloads.emplace(workload, script);
  }
};

/// The keys under which records of a key lie: before block names were left out of it, and since.
inline std::vector<record_key> database_keys(const record_key& key) {
  std::vector<record_key> out{key};
  if (key.named_workload.empty() || key.named_workload == key.workload) return out;
  out.insert(out.begin(), key);
  out.front().workload = key.named_workload;
  return out;
}

/// "host/pid/nonce": names this process among those that share a file.
inline std::string lease_owner() {
  const support::fork_pass inside;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  static const unsigned nonce = std::random_device{}();
  return std::string(host) + "/" + std::to_string(::getpid()) + "/" + std::to_string(nonce);
}

}  // namespace detail

struct database::state {
  using clock = std::chrono::steady_clock;

  mutable support::fork_mutex mutex;
  std::string path;
  std::unique_ptr<store> file;
  std::string trouble;     // why the file is not used now
  std::string repaired;    // what salvage said
  bool for_good = false;   // the file will not become usable: do not try again
  bool only_read = false;  // one of the files behind the first
  std::vector<std::shared_ptr<database>> behind;
  clock::time_point retry_at{};
  detail::database_overlay kept;
  std::map<record_key, long> leases;  // of threads of this handle, with the process that took them
  /// SQLite takes the locks of all its connections for those of this process: in a child they are not.
  support::fork_hook closing{[](void* self) { static_cast<state*>(self)->file.reset(); }, this};

  void open() {
    if (file || for_good || clock::now() < retry_at) return;
    try {
      file = std::make_unique<store>(
          path, only_read ? store::access::read_only : store::access::read_write);
      trouble.clear();
    } catch (const store_error& e) {
      failed(e);
      if (e.kind() == store_failure::not_writable && !only_read) open_for_reading();
    } catch (const std::exception& e) {
      trouble = e.what();
      for_good = true;
    }
  }

  /// What cannot be written may still be read; `trouble` stays.
  void open_for_reading() {
    try {
      file = std::make_unique<store>(path, store::access::read_only);
    } catch (const store_error& e) {  // not even that
      if (e.kind() == store_failure::damaged) read_damaged();
    }
  }

  /// Decides what a failure means for the next operations.
  void failed(const store_error& e) {
    trouble = e.what();
    switch (e.kind()) {
      case store_failure::no_library:
      case store_failure::newer:
      case store_failure::foreign: for_good = true; break;
      case store_failure::damaged: repair(); return;
      case store_failure::not_writable:
      case store_failure::later: break;
    }
    retry_at =
        clock::now() + std::chrono::seconds(5);  // a busy file costs its time-out at each try
  }

  void repair() {
    file.reset();
    if (only_read || ::access(path.c_str(), W_OK) != 0) return read_damaged();
    try {
      const std::string said = salvage(path);
      if (!said.empty()) repaired = said;
      file = std::make_unique<store>(path);
      trouble.clear();
    } catch (const std::exception& e) {
      trouble += std::string("; it could not be repaired: ") + e.what();
      for_good = true;
    }
  }

  /// A file that is not this handle's to repair: what it still holds is kept in memory.
  void read_damaged() {
    for_good = true;
    try {
      const detail::salvage_counts rows = detail::salvage_rows(path, kept);
      repaired = path + " is damaged and left as it is: " + rows.text("read");
      trouble.clear();
    } catch (const std::exception& e) {
      trouble += std::string("; it could not be read: ") + e.what();
    }
  }

  /// A file that can be used now, or null.
  store* usable() {
    if (file && file->stale()) {
      file->abandon();
      file.reset();
    }
    open();
    return file.get();
  }

  /// Runs `work` on the file; once more after a repair. False when the file could not do it.
  template <class Work>
  bool on_file(const Work& work) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      store* f = usable();
      if (!f) return false;
      try {
        work(*f);
        return true;
      } catch (const store_error& e) {
        failed(e);
        if (e.kind() != store_failure::damaged) return false;
      }
    }
    return false;
  }

  /// Writes: what was kept before goes first, so that the order stays.
  template <class Work>
  bool write(const Work& work) {
    if (clock::now() < retry_at || only_read) return false;
    if (file && file->read_only()) file.reset();  // it may have become writable
    if (!usable() || file->read_only()) return false;
    if (!kept.empty() && !on_file([&](store& f) { flush(f); })) return false;
    if (!on_file(work)) return false;
    trouble.clear();
    return true;
  }

  void flush(store& f) {
    while (!kept.records.empty()) {
      f.add(kept.records.front());
      kept.records.erase(kept.records.begin());
    }
    for (; !kept.workloads.empty(); kept.workloads.erase(kept.workloads.begin()))
      f.add_workload(kept.workloads.begin()->first, kept.workloads.begin()->second);
    for (; !kept.code.empty(); kept.code.erase(kept.code.begin())) {
      const auto& [key, value] = *kept.code.begin();
      f.add_code(std::get<0>(key), std::get<1>(key), value.first, value.second);
    }
    for (; !kept.failures.empty(); kept.failures.erase(kept.failures.begin()))
      f.add_failures(kept.failures.front().first, kept.failures.front().second);
    for (; !kept.failed.empty(); kept.failed.erase(kept.failed.begin()))
      f.add_failed(kept.failed.front());
  }

  /// Records of file and memory that match, the newest last.
  template <class Keep>
  std::vector<record> records(const std::string& where, const std::vector<std::string>& values,
                              const Keep& keep) {
    std::vector<record> out;
    on_file([&](store& f) { out = f.select(where + " order by id", values); });
    for (const record& r : kept.records)
      if (keep(r)) out.push_back(r);
    return out;
  }

  /// Failed candidates of file and memory; null: of all keys.
  std::vector<failed_candidate> failed(const record_key* k) {
    std::vector<failed_candidate> out;
    if (!k) {
      on_file([&](store& f) { out = f.select_failed("order by id", {}); });
      out.insert(out.end(), kept.failed.begin(), kept.failed.end());
      return out;
    }
    for (const record_key& key : detail::database_keys(*k)) {
      std::vector<failed_candidate> found;
      on_file([&](store& f) {
        found = f.select_failed(std::string("where ") + f.key_condition() + " order by id",
                                f.key_values(key));
      });
      out.insert(out.end(), found.begin(), found.end());
      for (const failed_candidate& f : kept.failed)
        if (f.key == key) out.push_back(f);
    }
    return out;
  }

  std::optional<record> chosen(const record_key& key);
  std::optional<std::vector<std::byte>> code(const record_key& key, const std::string& trace,
                                             int revision, std::string& why);

  /// Tells of code that was made by other versions of the lowering.
  std::string other_revisions(const record_key& key, const std::string& trace, int revision) {
    std::vector<std::int64_t> there;
    on_file([&](store& f) {
      for (const record_key& k : detail::database_keys(key))
        for (const std::int64_t r : f.code_revisions(k, trace)) there.push_back(r);
    });
    if (there.empty()) return {};
    return " and lowering revision " + std::to_string(revision) + ", but for revision " +
           write_numbers(there);
  }

  /// Records of a key, of file and memory, the newest last.
  std::vector<record> of_key(const record_key& k, bool chosen_alone = false) {
    std::vector<record> out;
    for (const record_key& key : detail::database_keys(k)) {
      std::vector<record> found;
      on_file([&](store& f) {
        found = f.select(std::string("where ") + f.key_condition() +
                             (chosen_alone ? " and chosen=1" : "") + " order by id",
                         f.key_values(key));
      });
      for (const record& r : kept.records)
        if (r.key == key && (r.chosen || !chosen_alone)) found.push_back(r);
      for (record& r : found) out.push_back(std::move(r));
    }
    return out;
  }
};

inline std::optional<record> database::state::chosen(const record_key& key) {
  const std::lock_guard lock(mutex);
  std::optional<record> out;
  for (record& r : of_key(key, true)) out = std::move(r);
  return out;
}

inline std::optional<std::vector<std::byte>> database::state::code(const record_key& key,
                                                                   const std::string& trace,
                                                                   int revision, std::string& why) {
  const std::lock_guard lock(mutex);
  std::optional<std::pair<std::vector<std::byte>, std::string>> found;
  for (const record_key& k : detail::database_keys(key)) {
    if (const auto at = kept.code.find({k, trace, revision}); at != kept.code.end())
      return at->second.second;
    if (!found) on_file([&](store& f) { found = f.code(k, trace, revision); });
  }
  const std::string others = found ? support::untrusted(path) : std::string();
  if (!found)
    why = "no code is stored for this schedule" + other_revisions(key, trace, revision);
  else if (!others.empty())
    why = "stored code is not used: " + others;
  else if (code_digest(found->first) != found->second)
    why = "stored code is not used: its digest does not match";
  else
    return std::move(found->first);
  return std::nullopt;
}

}  // namespace tilewright::search
