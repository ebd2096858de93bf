#pragma once

#include <cmath>
#include <istream>
#include <ostream>
#include <set>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/database/exchange.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/json.hpp>

namespace tilewright::search {
namespace detail::exchange {

inline const support::json& member(const support::json& object, const char* name,
                                   support::json::kind kind) {
  const support::json* found = object.find(name);
  if (!found || found->is != kind)
    throw argument_error(std::string("\"") + name + "\" is missing or of another kind");
  return *found;
}
inline const std::string& text(const support::json& object, const char* name) {
  return member(object, name, support::json::kind::text).text;
}
inline std::int64_t integer(const support::json& object, const char* name) {
  return member(object, name, support::json::kind::integer).integer;
}
inline int small_integer(const support::json& object, const char* name) {
  const std::int64_t value = integer(object, name);
  if (value != static_cast<int>(value))
    throw argument_error(std::string("\"") + name + "\" is too large");
  return static_cast<int>(value);
}

/// A workload has one script, and the first one stays: one of another workload must not come first.
inline void check_script(const std::string& workload, const std::string& script) {
  try {
    if (ir::has_workload_key(ir::parse(script), workload)) return;
  } catch (const error& e) {
    throw argument_error(std::string("the script of a workload: ") + e.what());
  }
  throw argument_error("the script is not that of workload " + workload);
}

inline std::string list(std::string numbers) {
  for (char& c : numbers)
    if (c == ' ') c = ',';
  return "[" + numbers + "]";
}

inline std::string key_text(const record_key& k) {
  using support::json_text;
  return "\"workload\":" + json_text(k.workload) + ",\"isa\":" + json_text(k.isa) +
         ",\"arguments\":" + json_text(k.arguments) + ",\"threads\":" + std::to_string(k.threads);
}
inline record_key key_of(const support::json& object) {
  return {text(object, "workload"), text(object, "isa"), text(object, "arguments"),
          small_integer(object, "threads")};
}

inline std::string provenance_text(const provenance& p) {
  using support::json_text;
  return "\"cpu\":" + json_text(p.cpu) + ",\"llvm\":" + json_text(p.llvm) +
         ",\"date\":" + json_text(p.date) + ",\"revision\":" + std::to_string(p.revision);
}
inline provenance provenance_of(const support::json& object) {
  return {text(object, "cpu"), text(object, "llvm"), text(object, "date"),
          small_integer(object, "revision")};
}

/// Adds records to a database that may have them.
class adder {
 public:
  explicit adder(database& to) : to_(to) {
    for (const record& r : to.all()) there_.insert(r.digest());
    for (const failed_candidate& f : to.all_failed()) there_.insert(f.digest());
  }
  void add(const failed_candidate& f) {
    if (!there_.insert(f.digest()).second) return;
    to_.add_failed(f);
    ++result.failed;
  }
  void add(record r) {
    if (!there_.insert(r.digest()).second) {
      ++result.known;
      return;
    }
    const auto old = r.chosen ? to_.chosen(r.key) : std::nullopt;
    if (old && old->best() <= r.best()) r.chosen = false;
    to_.add(r);
    ++result.added;
  }
  import_result result;

 private:
  database& to_;
  std::set<std::string> there_;
};

}  // namespace detail::exchange

TILEWRIGHT_INLINE std::string write_record(const record& r) {
  using support::json_text;
  return "{" + detail::exchange::key_text(r.key) + ",\"family\":" + json_text(r.family) +
         ",\"extents\":" + detail::exchange::list(write_numbers(r.extents)) +
         ",\"seconds\":" + detail::exchange::list(write_numbers(r.seconds)) +
         ",\"chosen\":" + (r.chosen ? "true" : "false") +
         (r.checked.empty() ? "" : ",\"checked\":" + json_text(r.checked)) + "," +
         detail::exchange::provenance_text(r.from) + ",\"trace\":" + json_text(r.trace) +
         ",\"digest\":" + json_text(r.digest()) + "}";
}

TILEWRIGHT_INLINE std::string write_failed(const failed_candidate& f) {
  using support::json_text;
  return "{" + detail::exchange::key_text(f.key) + ",\"failed\":" + json_text(f.kind) +
         ",\"detail\":" + json_text(f.detail) + "," + detail::exchange::provenance_text(f.from) +
         ",\"trace\":" + json_text(f.trace) + ",\"digest\":" + json_text(f.digest()) + "}";
}

TILEWRIGHT_INLINE failed_candidate read_failed(const std::string& line) {
  namespace x = detail::exchange;
  const support::json j = support::parse_json(line);
  failed_candidate f{x::key_of(j), x::text(j, "trace"), x::text(j, "failed"), x::text(j, "detail"),
                     x::provenance_of(j)};
  if (x::text(j, "digest") != f.digest()) throw argument_error("the digest does not match");
  f.key = by_position(f.key);
  return f;
}

TILEWRIGHT_INLINE record read_record(const std::string& line) {
  namespace x = detail::exchange;
  using kind = support::json::kind;
  const support::json j = support::parse_json(line);
  record r;
  r.key = x::key_of(j);
  r.family = x::text(j, "family");
  for (const support::json& e : x::member(j, "extents", kind::list).items)
    r.extents.push_back(e.integer);
  for (const support::json& s : x::member(j, "seconds", kind::list).items)
    r.seconds.push_back(s.number);
  r.trace = x::text(j, "trace");
  r.from = x::provenance_of(j);
  r.chosen = x::member(j, "chosen", kind::boolean).boolean;
  if (j.find("checked")) r.checked = x::text(j, "checked");
  if (r.seconds.empty() || !(r.best() > 0) || !std::isfinite(r.mean()))
    throw argument_error("\"seconds\" are no times");
  if (x::text(j, "digest") != r.digest()) throw argument_error("the digest does not match");
  r.key = by_position(r.key);
  return r;
}

TILEWRIGHT_INLINE void export_text(const database& from, std::ostream& to) {
  to << "{\"format\":\"tilewright records\",\"version\":1}\n";
  std::set<std::string> workloads;
  for (const record& r : from.all()) {
    if (workloads.insert(r.key.workload).second)
      if (const auto script = from.workload(r.key.workload))
        to << "{\"workload\":" << support::json_text(r.key.workload)
           << ",\"script\":" << support::json_text(*script) << "}\n";
    to << write_record(r) << "\n";
  }
  for (const failed_candidate& f : from.all_failed()) to << write_failed(f) << "\n";
}

TILEWRIGHT_INLINE import_result import_text(std::istream& from, database& to) {
  detail::exchange::adder all(to);
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    if (line.empty()) continue;
    try {
      const support::json j = support::parse_json(line);
      if (j.find("format")) {
        if (j.find("format")->text != "tilewright records" ||
            detail::exchange::integer(j, "version") != 1)
          throw argument_error("records of an unknown format");
      } else if (j.find("script")) {
        const std::string &workload = detail::exchange::text(j, "workload"),
                          &script = detail::exchange::text(j, "script");
        detail::exchange::check_script(workload, script);
        to.add_workload(workload, script);
      } else if (j.find("failed")) {
        all.add(read_failed(line));
      } else {
        all.add(read_record(line));
      }
    } catch (const argument_error& e) {
      all.result.refused.push_back("line " + std::to_string(number) + ": " + e.what());
    }
  }
  return all.result;
}

TILEWRIGHT_INLINE import_result merge(const database& from, database& to) {
  detail::exchange::adder all(to);
  std::set<std::string> workloads;
  for (record& r : from.all()) {
    const std::string workload = r.key.workload;
    all.add(std::move(r));
    const auto script = from.workload(workload);
    if (!workloads.insert(workload).second || !script) continue;
    try {
      detail::exchange::check_script(workload, *script);
      to.add_workload(workload, *script);
    } catch (const argument_error& e) {
      all.result.refused.push_back(e.what());
    }
  }
  for (const failed_candidate& f : from.all_failed()) all.add(f);
  return all.result;
}

}  // namespace tilewright::search
