#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <tuple>

#include <tilewright/impl/search/fork_mutex.hpp>
#include <tilewright/search/database.hpp>
#include <tilewright/search/store.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {
namespace detail {

using database_code_key = std::tuple<record_key, std::string, int>;

/// What could not be written to the file, or never will be.
struct database_overlay {
  std::vector<record> records;
  std::map<std::string, std::string> workloads;
  std::map<database_code_key, std::pair<provenance, std::vector<std::byte>>> code;
  std::vector<std::pair<record_key, failure_count>> failures;

  bool empty() const {
    return records.empty() && workloads.empty() && code.empty() && failures.empty();
  }
  void add(const record& r) {
    if (r.chosen)
      for (record& old : records)
        if (old.key == r.key) old.chosen = false;
    records.push_back(r);
  }
};

/// "host/pid/nonce": names this process among those that share a file.
inline std::string lease_owner() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  static const unsigned nonce = std::random_device{}();
  return std::string(host) + "/" + std::to_string(::getpid()) + "/" + std::to_string(nonce);
}

/// Empty when only this user can have written `path`, else the reason.
inline std::string untrusted(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  for (const std::string& p : {folder, path}) {
    struct stat s {};
    if (::stat(p.c_str(), &s) != 0) return p + " cannot be examined";
    if (s.st_uid != ::geteuid()) return p + " belongs to another user";
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return p + " can be written by others; run chmod go-w on it";
  }
  return {};
}

}  // namespace detail

struct database::state {
  using clock = std::chrono::steady_clock;

  mutable detail::fork_mutex mutex;
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
    } catch (const store_error&) {  // not even that
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
    if (only_read) {
      for_good = true;
      return;
    }
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

  std::optional<record> chosen(const record_key& key);
  std::optional<std::vector<std::byte>> code(const record_key& key, const std::string& trace,
                                             int revision, std::string& why);

  std::vector<record> of_key(const record_key& k) {
    return records("where workload=?1 and isa=?2 and arguments=?3 and threads=cast(?4 as integer)",
                   {k.workload, k.isa, k.arguments, std::to_string(k.threads)},
                   [&](const record& r) { return r.key == k; });
  }
};

TILEWRIGHT_INLINE std::string default_database_path() {
  const auto variable = [](const char* name) -> std::string {
    const char* v = std::getenv(name);
    return v ? v : "";
  };
  if (const std::string v = variable("TILEWRIGHT_DB"); !v.empty()) return v;
  if (const std::string v = variable("XDG_CACHE_HOME"); !v.empty() && v[0] == '/')
    return v + "/tilewright/tuning.db";
  if (const std::string v = variable("HOME"); !v.empty()) return v + "/.cache/tilewright/tuning.db";
  return {};
}

TILEWRIGHT_INLINE database::database(std::string path) : state_(std::make_unique<state>()) {
  if (path.empty()) path = default_database_path();
  for (std::size_t colon;
       path != ":memory:" && (colon = path.find_last_of(':')) != std::string::npos;
       path.resize(colon)) {
    if (colon + 1 == path.size()) continue;
    auto other = std::make_shared<database>(":memory:");
    state& s = *other->state_;
    s.path = path.substr(colon + 1);
    s.only_read = true;
    s.for_good = false;
    state_->behind.insert(state_->behind.begin(), std::move(other));
    if (path.substr(0, colon) == ":memory") break;
  }
  if (path.compare(0, 8, ":memory:") == 0) path = ":memory:";
  state_->path = path;
  if (path.empty() || path == ":memory:") {
    state_->for_good = true;
    if (path.empty())
      state_->trouble =
          "no directory for the database is known: set HOME, XDG_CACHE_HOME or TILEWRIGHT_DB";
    return;
  }
  state_->open();
}

TILEWRIGHT_INLINE database::~database() {
  const std::lock_guard lock(state_->mutex);
  state_->retry_at = {};
  if (!state_->kept.empty() && !state_->for_good) state_->write([](store&) {});
}

TILEWRIGHT_INLINE std::shared_ptr<database> database::shared(const std::string& path) {
  static std::mutex mutex;
  static auto* open =
      new std::map<std::string, std::weak_ptr<database>>;  // outlives static destruction
  const std::string name = path.empty() ? default_database_path() : path;
  if (name == ":memory:") return std::make_shared<database>(name);
  const std::lock_guard lock(mutex);
  std::weak_ptr<database>& slot = (*open)[name];
  if (auto there = slot.lock()) return there;
  auto fresh = std::make_shared<database>(name);
  slot = fresh;
  return fresh;
}

TILEWRIGHT_INLINE const std::string& database::path() const noexcept { return state_->path; }

TILEWRIGHT_INLINE bool database::persistent() const {
  const std::lock_guard lock(state_->mutex);
  return state_->file && state_->trouble.empty();
}

TILEWRIGHT_INLINE std::string database::status() const {
  const std::lock_guard lock(state_->mutex);
  std::string out = state_->trouble.empty() ? state_->repaired
                    : state_->only_read     ? "not read: " + state_->trouble
                                            : "records are kept in memory: " + state_->trouble;
  for (const auto& other : state_->behind)
    if (const std::string more = other->status(); !more.empty())
      out += (out.empty() ? "" : "; ") + more;
  return out;
}

TILEWRIGHT_INLINE void database::add(const record& r) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& f) { f.add(r); })) state_->kept.add(r);
}

TILEWRIGHT_INLINE std::optional<record> database::chosen(const record_key& key) const {
  std::optional<record> out = state_->chosen(key);
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->chosen(key);
  return out;
}

TILEWRIGHT_INLINE std::optional<record> database::state::chosen(const record_key& key) {
  const std::lock_guard lock(mutex);
  std::optional<record> out;
  for (record& r :
       records("where workload=?1 and isa=?2 and arguments=?3 and threads=cast(?4 as integer)"
               " and chosen=1",
               {key.workload, key.isa, key.arguments, std::to_string(key.threads)},
               [&](const record& k) { return k.chosen && k.key == key; }))
    out = std::move(r);
  return out;
}

TILEWRIGHT_INLINE std::vector<record> database::top(const record_key& key,
                                                    std::size_t count) const {
  std::vector<record> all;
  {
    const std::lock_guard lock(state_->mutex);
    all = state_->of_key(key);
  }
  for (const auto& other : state_->behind)
    for (record& r : other->top(key, count)) all.push_back(std::move(r));
  std::stable_sort(all.begin(), all.end(),
                   [](const record& a, const record& b) { return a.best() < b.best(); });
  std::vector<record> out;
  for (record& r : all) {
    if (out.size() == count) break;
    if (std::none_of(out.begin(), out.end(), [&](const record& o) { return o.trace == r.trace; }))
      out.push_back(std::move(r));
  }
  return out;
}

TILEWRIGHT_INLINE std::optional<record> database::nearest(const std::string& family,
                                                          const std::vector<std::int64_t>& extents,
                                                          const record_key& key) const {
  std::vector<record> all;
  {
    const std::lock_guard lock(state_->mutex);
    all = state_->records("where family=?1 and isa=?2 and threads=cast(?3 as integer) and chosen=1",
                          {family, key.isa, std::to_string(key.threads)}, [&](const record& k) {
                            return k.chosen && k.family == family && k.key.isa == key.isa &&
                                   k.key.threads == key.threads;
                          });
  }
  for (const auto& other : state_->behind)
    if (auto r = other->nearest(family, extents, key)) all.push_back(std::move(*r));
  std::optional<record> out;
  double least = INFINITY;
  for (record& r : all) {
    const double d =
        extent_distance(r.extents, extents) + (r.key.arguments == key.arguments ? 0 : 0.5);
    if (!r.trace.empty() && d < least) {
      least = d;
      out = std::move(r);
    }
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<record> database::all(
    const std::function<bool(const record&)>& keep) const {
  std::vector<record> out;
  {
    const std::lock_guard lock(state_->mutex);
    out = state_->records("where 1", {}, [](const record&) { return true; });
  }
  for (const auto& other : state_->behind)
    for (record& r : other->all()) out.push_back(std::move(r));
  if (keep)
    out.erase(std::remove_if(out.begin(), out.end(), [&](const record& r) { return !keep(r); }),
              out.end());
  return out;
}

TILEWRIGHT_INLINE std::size_t database::skipped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->file ? state_->file->skipped : 0;
}

TILEWRIGHT_INLINE void database::add_failures(const record_key& key, const failure_count& f) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& s) { s.add_failures(key, f); }))
    state_->kept.failures.emplace_back(key, f);
}

TILEWRIGHT_INLINE std::vector<failure_count> database::failures(const record_key& key) const {
  const std::lock_guard lock(state_->mutex);
  std::vector<failure_count> out;
  state_->on_file([&](store& s) { out = s.failures(key); });
  for (const auto& kept : state_->kept.failures) {
    const failure_count& f = kept.second;  // clang 14 captures no structured bindings
    if (kept.first != key) continue;
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const failure_count& o) { return o.kind == f.kind; });
    if (same == out.end()) {
      out.push_back(f);
    } else {
      same->count += f.count;
      same->detail = f.detail;
    }
  }
  return out;
}

TILEWRIGHT_INLINE void database::add_workload(const std::string& workload,
                                              const std::string& script) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& f) { f.add_workload(workload, script); }))
    state_->kept.workloads[workload] = script;
}

TILEWRIGHT_INLINE std::optional<std::string> database::workload(const std::string& key) const {
  std::optional<std::string> out;
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto at = state_->kept.workloads.find(key); at != state_->kept.workloads.end())
      return at->second;
    state_->on_file([&](store& f) { out = f.workload(key); });
  }
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->workload(key);
  return out;
}

TILEWRIGHT_INLINE void database::add_code(const record_key& key, const std::string& trace,
                                          const provenance& from,
                                          const std::vector<std::byte>& bytes) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& f) { f.add_code(key, trace, from, bytes); }))
    state_->kept.code[{key, trace, from.revision}] = {from, bytes};
}

TILEWRIGHT_INLINE std::optional<std::vector<std::byte>> database::code(const record_key& key,
                                                                       const std::string& trace,
                                                                       int revision,
                                                                       std::string* why) const {
  std::string reason;
  std::optional<std::vector<std::byte>> out = state_->code(key, trace, revision, reason);
  if (why) *why = reason;
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->code(key, trace, revision);
  return out;
}

TILEWRIGHT_INLINE std::optional<std::vector<std::byte>> database::state::code(
    const record_key& key, const std::string& trace, int revision, std::string& why) {
  const std::lock_guard lock(mutex);
  if (const auto at = kept.code.find({key, trace, revision}); at != kept.code.end())
    return at->second.second;
  std::optional<std::pair<std::vector<std::byte>, std::string>> found;
  on_file([&](store& f) { found = f.code(key, trace, revision); });
  const std::string others = found ? detail::untrusted(path) : std::string();
  if (!found)
    why = "no code is stored for this schedule";
  else if (!others.empty())
    why = "stored code is not used: " + others;
  else if (code_digest(found->first) != found->second)
    why = "stored code is not used: its digest does not match";
  else
    return std::move(found->first);
  return std::nullopt;
}

TILEWRIGHT_INLINE bool database::lease(const record_key& key, double seconds) {
  const std::lock_guard lock(state_->mutex);
  if (const auto mine = state_->leases.find(key);
      mine != state_->leases.end() && mine->second == ::getpid())
    return false;
  bool got = true;  // without a file there is nobody else to share with
  state_->write([&](store& f) { got = f.lease(key, detail::lease_owner(), seconds); });
  if (got) state_->leases[key] = ::getpid();
  return got;
}

TILEWRIGHT_INLINE void database::renew(const record_key& key, double seconds) {
  const std::lock_guard lock(state_->mutex);
  state_->write([&](store& f) { f.lease(key, detail::lease_owner(), seconds); });
}

TILEWRIGHT_INLINE void database::release(const record_key& key) {
  const std::lock_guard lock(state_->mutex);
  state_->leases.erase(key);
  state_->write([&](store& f) { f.release(key, detail::lease_owner()); });
}

TILEWRIGHT_INLINE std::string database::why(const record_key& key) const {
  if (const auto hit = chosen(key))
    return "a schedule is stored: best " + std::to_string(hit->best() * 1e6) + " us, measured " +
           hit->from.date + " on " + hit->from.cpu + " with LLVM " + hit->from.llvm + "\n";
  const std::vector<record> stored = all([](const record& r) { return r.chosen; });
  std::string out = "no schedule is stored for this key";
  if (const std::string s = status(); !s.empty()) out += " (" + s + ")";
  out += "\n";
  const record* nearest = nullptr;
  int least = 5;
  for (const record& r : stored) {
    const std::string d = difference(key, r.key);
    const int fields = static_cast<int>(std::count(d.begin(), d.end(), '\n')) +
                       (r.key.workload == key.workload ? 0 : 3);
    if (fields <= least) {
      least = fields;
      nearest = &r;
    }
  }
  if (!nearest)
    return out +
           (stored.empty() ? "the database holds no chosen schedule\n" : "no stored key is near\n");
  return out + "the nearest stored key differs in (wanted against stored):\n" +
         difference(key, nearest->key);
}

}  // namespace tilewright::search
