#pragma once

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include <tilewright/search/database/lookup.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {
namespace detail::lookup {

inline std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// What `a` has and `b` has not.
inline std::string missing(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string out;
  for (const std::string& item : a)
    if (!support::contains(b, item)) out += (out.empty() ? "" : " ") + item;
  return out;
}

inline std::string against(const std::string& wanted, const std::string& stored) {
  return "\"" + wanted + "\" is wanted, \"" + stored + "\" is stored";
}

/// Instruction sets are lists of features between colons (target::cpu::isa_key).
inline std::string isa_difference(const std::string& wanted, const std::string& stored) {
  const std::vector<std::string> w = split(wanted, ':'), s = split(stored, ':');
  if (w.size() != 3 || s.size() != 3 || w[0] != s[0])
    return "instruction set: " + against(wanted, stored);
  const std::vector<std::string> have = split(w[1], ','), needs = split(s[1], ',');
  std::string out;
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : "; ") + what; };
  if (const std::string m = missing(needs, have); !m.empty())
    add("the stored schedule was made for " + m + ", which is not there");
  if (const std::string m = missing(have, needs); !m.empty())
    add(m + " is there, and the stored schedule was made without");
  if (w[2] != s[2]) add("vector registers have " + w[2] + " bits, " + s[2] + " in the record");
  return "instruction set: " + out;
}

/// "r" and so on, as dispatch::layout_class writes them, in words.
inline std::string layout_in_words(const std::string& text) {
  const std::size_t device = text.find("@g16");
  if (device != std::string::npos)
    return layout_in_words(text.substr(0, device)) + " in the memory of a GPU";
  if (text == "i32" || text == "i64") return "the width of indices, " + text.substr(1) + " bits";
  if (text == "r") return "row-major";
  if (text == "bound") return "a bound weight";
  if (text == "u-") return "without a dimension of stride 1";
  if (text[0] == 'u') return "padded, stride 1 in dimension " + text.substr(1);
  if (text[0] == 'd') return "dense, dimensions from slow to fast " + text.substr(1);
  return "\"" + text + "\"";
}

inline std::string arguments_difference(const std::string& wanted, const std::string& stored) {
  const std::vector<std::string> w = split(wanted, ' '), s = split(stored, ' ');
  if (w.empty() || w.size() != s.size()) return "arguments: " + against(wanted, stored);
  std::string out;
  for (std::size_t i = 0; i < w.size(); ++i)
    if (w[i] != s[i])
      out += (out.empty() ? "number " : "; number ") + std::to_string(i) + " is " +
             layout_in_words(w[i]) + ", " + layout_in_words(s[i]) + " in the record";
  return "arguments: " + out;
}

inline bool same_kernel(const record& wanted, const record& stored) {
  return !wanted.family.empty() && wanted.family == stored.family;
}

inline std::string workload_difference(const record& wanted, const record& stored) {
  if (!same_kernel(wanted, stored))
    return "workload: another program, " + against(wanted.key.workload, stored.key.workload);
  const std::string w = write_numbers(wanted.extents), s = write_numbers(stored.extents);
  if (w != s)
    return "workload: the same kernel at other extents, [" + w + "] is wanted, [" + s +
           "] is stored";
  return "workload: a kernel of the same names with another body, " +
         against(wanted.key.workload, stored.key.workload);
}

inline near_record compare(const record& wanted, const record& stored) {
  near_record out{stored, {}, 0};
  const record_key w = by_position(wanted.key), s = by_position(stored.key);
  const auto differ = [&](const std::string& how, double distance) {
    out.differences.push_back(how);
    out.distance += distance;
  };
  if (w.workload != s.workload)
    differ(workload_difference(wanted, stored),
           same_kernel(wanted, stored)
               ? 2 + std::min(50.0, extent_distance(wanted.extents, stored.extents))
               : 100);
  if (w.isa != s.isa) differ(isa_difference(w.isa, s.isa), 1);
  if (w.arguments != s.arguments) differ(arguments_difference(w.arguments, s.arguments), 1);
  if (w.threads != s.threads)
    differ("threads: " + std::to_string(w.threads) + " wanted, " + std::to_string(s.threads) +
               " stored",
           1);
  return out;
}

inline std::string made(const record& r) {
  const char* compiler = target::machine::is_gpu(r.key.isa) ? " with " : " with LLVM ";
  return "measured " + r.from.date + " on " + r.from.cpu + compiler + r.from.llvm +
         ", lowering revision " + std::to_string(r.from.revision);
}

inline std::string microseconds(const record& r) {
  return support::general_text(r.best() * 1e6, 4) + " us";
}

inline std::string hit(const database& db, const record& found, const record& wanted) {
  std::string out = "a schedule is stored: best " + microseconds(found) + ", " + made(found) + "\n";
  const provenance &here = wanted.from, &there = found.from;
  if (!here.cpu.empty() && here.cpu != there.cpu)
    out += std::string("  it was measured on another ") +
           (target::machine::is_gpu(found.key.isa) ? "GPU: " : "CPU model: ") +
           against(here.cpu, there.cpu) +
           "; the same instruction set runs it, another schedule may be faster here\n";
  if (here.revision == 0) return out;
  std::string why;
  if (db.code(found.key, found.trace, here.revision, &why))
    return out + "  its code is stored for lowering revision " + std::to_string(here.revision) +
           "\n";
  return out + "  its code has to be made again: " + why + "\n";
}

/// What is known about a key of which no record is chosen.
inline std::string unchosen(const database& db, const record_key& key) {
  std::string out;
  const std::size_t measured =
      db.all([&](const record& r) { return r.key == by_position(key); }).size();
  if (measured > 0)
    out += "  " + std::to_string(measured) +
           " measurements are stored for it and none is chosen: its tuning has not finished\n";
  for (const failure_count& f : db.failures(key))
    out += "  " + std::to_string(f.count) + " candidates failed (" + f.kind + ")\n";
  if (const std::size_t n = db.skipped(); n > 0)
    out += "  " + std::to_string(n) + " damaged records of the file were skipped\n";
  return out;
}

}  // namespace detail::lookup

TILEWRIGHT_INLINE std::vector<near_record> nearest_records(const database& db, const record& wanted,
                                                           std::size_t most) {
  std::vector<near_record> out;
  std::set<record_key> met;
  std::vector<record> all = db.all([](const record& r) { return r.chosen; });
  // of the files behind the first the nearer one counts, as in a lookup
  for (const record& r : all)
    if (met.insert(r.key).second) out.push_back(detail::lookup::compare(wanted, r));
  const auto rank = [&](const near_record& n) {
    const provenance &here = wanted.from, &there = n.stored.from;
    return std::tuple(n.distance, here.cpu != there.cpu, here.llvm != there.llvm,
                      here.revision != there.revision);
  };
  support::stable_sort(out, [&](const near_record& a, const near_record& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.stored.from.date > b.stored.from.date;
  });
  if (out.size() > most) out.resize(most);
  return out;
}

TILEWRIGHT_INLINE std::string explain_lookup(const database& db, const record& wanted) {
  if (const auto found = db.chosen(wanted.key)) return detail::lookup::hit(db, *found, wanted);
  std::string out = "no schedule is stored for this key";
  if (const std::string s = db.status(); !s.empty()) out += " (" + s + ")";
  out += "\n" + detail::lookup::unchosen(db, wanted.key);
  const std::vector<near_record> near = nearest_records(db, wanted, 3);
  if (near.empty()) return out + "the database holds no chosen schedule\n";
  out += "the nearest stored keys differ in:\n";
  for (std::size_t i = 0; i < near.size(); ++i) {
    out += "  " + std::to_string(i + 1) + ". " + detail::lookup::microseconds(near[i].stored) +
           ", " + detail::lookup::made(near[i].stored) + "\n";
    for (const std::string& line : near[i].differences) out += "     " + line + "\n";
  }
  return out;
}

}  // namespace tilewright::search
