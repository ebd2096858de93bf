#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include <tilewright/impl/search/database/database_state.hpp>
#include <tilewright/search/database/lookup.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

/// Adds to the count of a kind.
inline void count_failures(std::vector<failure_count>& all, const failure_count& f) {
  const auto same = support::find(all, [&](const failure_count& o) { return o.kind == f.kind; });
  if (same == all.end()) {
    all.push_back(f);
  } else {
    same->count += f.count;
    same->detail = f.detail;
  }
}

}  // namespace detail

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

namespace detail {

/// The files that a list names, from the one that is written on.
struct database_list {
  std::string first;  // empty: none
  std::vector<std::string> behind;
  std::string mistake;  // in how the list is written

  explicit database_list(const std::string& text) {
    constexpr std::string_view memory = ":memory:";
    std::string_view rest = text;
    if (rest.substr(0, memory.size()) == memory) {
      first = memory;
      rest.remove_prefix(memory.size());
    } else {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      first = rest.substr(0, colon);
      rest.remove_prefix(colon);
    }
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) behind.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    if (!first.empty()) return;
    mistake = text.empty() ? "no directory for the database is known: set HOME, XDG_CACHE_HOME or "
                             "TILEWRIGHT_DB"
                           : "the list \"" + text +
                                 "\" begins with ':', and the file before the first ':' "
                                 "is the one that is written: name one there, or write \":memory" +
                                 text + "\" to keep new records in memory";
  }
};

}  // namespace detail

// NOLINTNEXTLINE(performance-unnecessary-value-param)
TILEWRIGHT_INLINE database::database(std::string path) : state_(new state()) {
  const support::fork_pass inside;
  const detail::database_list files(path.empty() ? default_database_path() : path);
  for (const std::string& file : files.behind) state_->behind.push_back(unopened(file));
  state_->path = files.first;
  state_->trouble = files.mistake;
  state_->for_good = files.first.empty() || files.first == ":memory:";
  state_->open();
}

TILEWRIGHT_INLINE database::~database() {
  const std::lock_guard lock(state_->mutex);
  state_->retry_at = {};
  if (!state_->kept.empty() && !state_->for_good) state_->write([](store&) {});
  if (state_->file && state_->file->stale()) state_->file->abandon();
  state_->file.reset();
}

TILEWRIGHT_INLINE std::shared_ptr<database> database::shared(const std::string& path) {
  const std::string name = path.empty() ? default_database_path() : path;
  if (name == ":memory:") return std::make_shared<database>(name);
  static constinit support::fork_mutex mutex;
  const std::lock_guard lock(mutex);
  static auto* open =
      new std::map<std::string, std::weak_ptr<database>>;  // outlives static destruction
  std::weak_ptr<database>& slot = (*open)[name];
  if (auto there = slot.lock()) return there;
  auto fresh = std::make_shared<database>(name);
  slot = fresh;
  return fresh;
}

/// For reading alone; opened at the first use.
TILEWRIGHT_INLINE std::shared_ptr<database> database::unopened(const std::string& path) {
  auto out = std::make_shared<database>(":memory:");
  out->state_->path = path;
  out->state_->only_read = true;
  out->state_->for_good = false;
  return out;
}

TILEWRIGHT_INLINE std::shared_ptr<database> database::reading(const std::string& path) {
  const detail::database_list files(path.empty() ? default_database_path() : path);
  const bool none = files.first.empty() || files.first == ":memory:";
  std::shared_ptr<database> out =
      none ? std::make_shared<database>(":memory:") : unopened(files.first);
  out->state_->path = files.first;
  out->state_->trouble = files.mistake;
  for (const std::string& file : files.behind) out->state_->behind.push_back(unopened(file));
  const std::lock_guard lock(out->state_->mutex);
  out->state_->open();
  return out;
}

TILEWRIGHT_INLINE const std::string& database::path() const noexcept { return state_->path; }

TILEWRIGHT_INLINE std::vector<std::string> database::paths() const {
  std::vector<std::string> out{state_->path};
  for (const auto& other : state_->behind) out.push_back(other->path());
  return out;
}

TILEWRIGHT_INLINE bool database::persistent() const {
  const std::lock_guard lock(state_->mutex);
  return state_->usable() && state_->trouble.empty();
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

// Keys come in by the doors below; behind them, arguments have no names.

TILEWRIGHT_INLINE void database::add(const record& named) {
  record r = named;
  r.key = by_position(named.key);
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& f) { f.add(r); })) state_->kept.add(r);
}

TILEWRIGHT_INLINE std::optional<record> database::chosen(const record_key& named) const {
  const record_key key = by_position(named);
  std::optional<record> out = state_->chosen(key);
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->chosen(key);
  return out;
}

TILEWRIGHT_INLINE std::vector<record> database::top(const record_key& named,
                                                    std::size_t count) const {
  const record_key key = by_position(named);
  std::vector<record> all;
  {
    const std::lock_guard lock(state_->mutex);
    all = state_->of_key(key);
  }
  for (const auto& other : state_->behind)
    for (record& r : other->top(key, count)) all.push_back(std::move(r));
  support::stable_sort(all, [](const record& a, const record& b) { return a.best() < b.best(); });
  std::vector<record> out;
  for (record& r : all) {
    if (out.size() == count) break;
    if (support::none(out, [&](const record& o) { return o.trace == r.trace; }))
      out.push_back(std::move(r));
  }
  return out;
}

TILEWRIGHT_INLINE std::optional<record> database::nearest(const std::string& family,
                                                          const std::vector<std::int64_t>& extents,
                                                          const record_key& named) const {
  const record_key key = by_position(named);
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

TILEWRIGHT_INLINE void database::add_failures(const record_key& named, const failure_count& f) {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& s) { s.add_failures(key, f); }))
    state_->kept.failures.emplace_back(key, f);
}

TILEWRIGHT_INLINE std::vector<failure_count> database::failures(const record_key& named) const {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  std::vector<failure_count> out;
  for (const record_key& k : detail::database_keys(key)) {
    std::vector<failure_count> counted;
    state_->on_file([&](store& s) { counted = s.failures(k); });
    for (const failure_count& f : counted) detail::count_failures(out, f);
    for (const auto& kept : state_->kept.failures)
      if (kept.first == k) detail::count_failures(out, kept.second);
  }
  for (const failed_candidate& f : state_->failed(&key))
    detail::count_failures(out, {f.kind, 1, f.detail});
  return out;
}

TILEWRIGHT_INLINE void database::add_failed(const failed_candidate& named) {
  failed_candidate f = named;
  f.key = by_position(named.key);
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& s) { s.add_failed(f); })) state_->kept.failed.push_back(f);
}

TILEWRIGHT_INLINE std::vector<failed_candidate> database::failed(const record_key& named) const {
  const record_key key = by_position(named);
  std::vector<failed_candidate> out;
  {
    const std::lock_guard lock(state_->mutex);
    out = state_->failed(&key);
  }
  for (const auto& other : state_->behind)
    for (failed_candidate& f : other->failed(key)) out.push_back(std::move(f));
  return out;
}

TILEWRIGHT_INLINE std::vector<failed_candidate> database::all_failed() const {
  std::vector<failed_candidate> out;
  {
    const std::lock_guard lock(state_->mutex);
    out = state_->failed(nullptr);
  }
  for (const auto& other : state_->behind)
    for (failed_candidate& f : other->all_failed()) out.push_back(std::move(f));
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
    state_->on_file([&](store& f) { out = f.workload(key); });  // which may come to be kept
    if (const auto at = state_->kept.workloads.find(key); at != state_->kept.workloads.end())
      return at->second;
  }
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->workload(key);
  return out;
}

TILEWRIGHT_INLINE void database::add_code(const record_key& named, const std::string& trace,
                                          const provenance& from,
                                          const std::vector<std::byte>& bytes) {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  if (!state_->write([&](store& f) { f.add_code(key, trace, from, bytes); }))
    state_->kept.code[{key, trace, from.revision}] = {from, bytes};
}

TILEWRIGHT_INLINE std::optional<std::vector<std::byte>> database::code(const record_key& named,
                                                                       const std::string& trace,
                                                                       int revision,
                                                                       std::string* why) const {
  const record_key key = by_position(named);
  std::string reason;
  std::optional<std::vector<std::byte>> out = state_->code(key, trace, revision, reason);
  if (why) *why = reason;
  for (std::size_t i = 0; i < state_->behind.size() && !out; ++i)
    out = state_->behind[i]->code(key, trace, revision);
  return out;
}

TILEWRIGHT_INLINE bool database::lease(const record_key& named, double seconds) {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  if (const auto mine = state_->leases.find(key);
      mine != state_->leases.end() && mine->second == ::getpid())
    return false;
  bool got = true;  // without a file there is nobody else to share with
  state_->write([&](store& f) { got = f.lease(key, detail::lease_owner(), seconds); });
  if (got) state_->leases[key] = ::getpid();
  return got;
}

TILEWRIGHT_INLINE void database::renew(const record_key& named, double seconds) {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  state_->write([&](store& f) { f.lease(key, detail::lease_owner(), seconds); });
}

TILEWRIGHT_INLINE void database::release(const record_key& named) {
  const record_key key = by_position(named);
  const std::lock_guard lock(state_->mutex);
  state_->leases.erase(key);
  state_->write([&](store& f) { f.release(key, detail::lease_owner()); });
}

TILEWRIGHT_INLINE std::string database::why(const record& wanted) const {
  return explain_lookup(*this, wanted);
}

}  // namespace tilewright::search
