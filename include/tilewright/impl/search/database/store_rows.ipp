// What a database file keeps, row by row: records, failures, workloads, code and leases.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/store_file.hpp>
#include <tilewright/impl/search/database/store_row.hpp>
#include <tilewright/impl/search/database/store_statement.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::search {
namespace detail {

inline std::string store_text_digest(const std::string& text) {
  support::hasher h;
  h.add(std::string_view(text));
  return h.finish().hex();
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

}  // namespace tilewright::search
