#pragma once

#include <algorithm>
#include <cmath>
#include <istream>
#include <optional>
#include <string_view>

#include <tilewright/ir/expr.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/database/tvm_records.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/json.hpp>
#include <tilewright/support/refusal.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

inline constexpr support::refusal<argument_error> refuse_tvm_record{"record of TVM: "};

/// The text of each item of the list that `text` is. The text is JSON already.
inline std::vector<std::string_view> json_items(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = text.find('[') + 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if ((c == ',' && depth == 1) || ((c == ']' || c == '}') && depth == 0)) {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  return out;
}

inline const std::string& tvm_text(const support::json& object, const char* name) {
  const support::fork_pass inside;
  static const std::string none;
  const support::json* found = object.find(name);
  return found ? found->text : none;
}

inline std::vector<double> tvm_seconds(const support::json& list) {
  std::vector<double> out;
  for (const support::json& s : list.items) {
    // what failed has 1e10 s
    if (!(s.number > 0) || !(s.number < 1e9)) return {};
    out.push_back(s.number);
  }
  return out;
}

inline void read_tvm_target(const support::json& target, tvm_record& out) {
  if (target.is != support::json::kind::object) refuse_tvm_record("the target is no object");
  const std::string& cpu = tvm_text(target, "mcpu");
  out.target = tvm_text(target, "kind") + (cpu.empty() ? "" : " " + cpu);
  if (const support::json* cores = target.find("num-cores"))
    out.cores = static_cast<int>(std::clamp<std::int64_t>(cores->integer, 1, 1 << 16));
}

inline std::vector<tvm_record::argument> tvm_arguments(const support::json& list) {
  std::vector<tvm_record::argument> out;
  for (const support::json& a : list.items) {
    // ["TENSOR", type, shape]
    if (a.items.size() != 3 || a.items[0].text != "TENSOR")
      refuse_tvm_record("an argument is no tensor");
    tvm_record::argument one{a.items[1].text, {}};
    for (const support::json& extent : a.items[2].items) one.shape.push_back(extent.integer);
    out.push_back(std::move(one));
  }
  return out;
}

/// TVM keeps the old value where something is annotated twice, so the later instruction did nothing
/// there; here it would be refused.
inline trace without_repeated_annotations(trace t, const ir::function& f) {
  for (;;) {
    try {
      schedule s(f, 1);
      t.apply_to(s);
      return t;
    } catch (const replay_error& e) {
      if (e.primitive() != "annotate" || e.requirement() != 1) return t;
      trace shorter;
      for (std::size_t i = 0; i < t.size(); ++i)
        if (i != e.instruction()) shorter.append(t[i].what, t[i].choice);
      t = std::move(shorter);
    }
  }
}

inline std::string text_of(const tvm_record::argument& a) {
  return a.dtype + " [" + write_numbers(a.shape) + "]";
}

}  // namespace detail

TILEWRIGHT_INLINE tvm_record read_tvm_record(const std::string& line) {
  using kind = support::json::kind;
  const support::json whole = support::parse_json(line);
  if (whole.is != kind::list || whole.items.size() != 2 || whole.items[0].is != kind::integer ||
      whole.items[1].items.size() != 4)
    detail::refuse_tvm_record(
        "a line is [workload, [trace, seconds, target, arguments]], not this");
  tvm_record out;
  out.workload = static_cast<std::size_t>(std::max<std::int64_t>(whole.items[0].integer, 0));
  const std::string_view body = detail::json_items(line)[1];
  out.trace = trace::from_json(detail::json_items(body)[0]);
  const std::vector<support::json>& parts = whole.items[1].items;
  out.seconds = detail::tvm_seconds(parts[1]);
  detail::read_tvm_target(parts[2], out);
  out.arguments = detail::tvm_arguments(parts[3]);
  return out;
}

TILEWRIGHT_INLINE std::string mismatch(const tvm_record& r, const ir::function& f) {
  std::vector<tvm_record::argument> own;
  for (const ir::param& p : f.params) {
    if (!p.buffer) continue;
    tvm_record::argument a{std::string(name(p.buffer->type)), {}};
    for (const ir::expr& e : p.buffer->shape) a.shape.push_back(ir::as_int(e));
    own.push_back(std::move(a));
  }
  if (own.size() != r.arguments.size())
    return "it has " + std::to_string(r.arguments.size()) + " arguments, " + f.name + " has " +
           std::to_string(own.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != r.arguments[i])
      return "argument " + std::to_string(i) + " is " + detail::text_of(r.arguments[i]) +
             ", that of " + f.name + " is " + detail::text_of(own[i]);
  return {};
}

TILEWRIGHT_INLINE tvm_schedules read_tvm_records(std::istream& from, const ir::function& f,
                                                 std::size_t workload) {
  tvm_schedules out;
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    if (line.empty()) continue;
    std::string why;
    try {
      tvm_record r = read_tvm_record(line);
      if (r.workload != workload) {
        ++out.of_others;
        continue;
      }
      why = mismatch(r, f);
      std::optional<candidate> c;
      if (why.empty()) {
        r.trace = detail::without_repeated_annotations(std::move(r.trace), f);
        c = replay(r.trace, f, 1, &why);
      }
      if (c) out.usable.emplace_back(std::move(r), std::move(*c));
    } catch (const error& e) {
      why = e.what();
    }
    if (!why.empty()) out.refused.push_back("line " + std::to_string(number) + ": " + why);
  }
  const auto time = [](const tvm_record& r) {
    return r.seconds.empty() ? INFINITY : *std::min_element(r.seconds.begin(), r.seconds.end());
  };
  support::stable_sort(out.usable,
                       [&](const auto& a, const auto& b) { return time(a.first) < time(b.first); });
  return out;
}

TILEWRIGHT_INLINE record foreign_record(const tvm_record& r, const workload& w) {
  record out;
  out.key = {w.key.workload, "TVM: " + r.target, w.key.arguments, r.cores};
  out.family = w.family;
  out.extents = w.extents;
  out.trace = by_position(r.trace, w.function).print();
  out.seconds = r.seconds;
  out.from = {"measured by TVM on " + r.target, "", "", 0};
  return out;
}

}  // namespace tilewright::search
