// Which algorithm a trace schedules: its first instructions, up to `work_on`, say it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::search::detail {

struct chosen_algorithm_of_trace {
  std::string name;        // with the numbers of its format; "": the trace names none
  std::size_t length = 0;  // instructions up to and with `work_on`; 0: there is none
};

/// What a draw among candidates gave; nothing for other instructions.
inline std::optional<std::int64_t> drawn_number(const trace::step& s) {
  if (s.what->kind->name != "sample_categorical" || s.choice.size() != 1) return std::nullopt;
  const auto* candidates = std::get_if<std::vector<std::int64_t>>(&s.what->args[0]);
  const auto at = static_cast<std::size_t>(s.choice[0]);
  return candidates && at < candidates->size() ? std::optional((*candidates)[at]) : std::nullopt;
}

/// The numbers that a list in front of `work_on` says, of which some were drawn by earlier steps.
inline std::vector<std::int64_t> sizes_of(const trace& t, const annotation_value& note) {
  std::vector<std::int64_t> out;
  const auto* list = std::get_if<annotation_value::list>(&note.value);
  if (!list) return out;
  for (const annotation_value& each : *list) {
    if (const auto* constant = std::get_if<ir::attr>(&each.value))
      if (const auto* size = std::get_if<std::int64_t>(&constant->value)) out.push_back(*size);
    const auto* f = std::get_if<factor>(&each.value);
    if (!f) continue;
    if (f->kind() == factor::op::literal) out.push_back(f->value());
    for (std::size_t i = 0; f->kind() == factor::op::variable && i < t.size(); ++i)
      if (t[i].what->outputs.size() == 1 &&
          t[i].what->outputs[0].number == static_cast<std::uint32_t>(f->value()))
        if (const std::optional<std::int64_t> size = drawn_number(t[i])) out.push_back(*size);
  }
  return out;
}

inline chosen_algorithm_of_trace chosen_algorithm(const trace& t) {
  constexpr std::size_t most = 8;  // draws, the block and its annotation stand before
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < std::min(t.size(), most); ++i) {
    const instruction& what = *t[i].what;
    const auto* text = what.args.empty() ? nullptr : std::get_if<std::string>(&what.args[0]);
    if (what.kind->name == "work_on" && text) return {ir::sized_name(*text, sizes), i + 1};
    if (what.kind->name == "annotate" && what.args.size() == 3) {
      const auto* key = std::get_if<std::string>(&what.args[1]);
      const auto* note = std::get_if<annotation_value>(&what.args[2]);
      if (key && note && *key == ir::sizes_attribute) sizes = sizes_of(t, *note);
    } else if (what.kind->name != "sample_categorical" && what.kind->name != "get_block") {
      break;
    }
  }
  return {};
}

/// For each algorithm of `f` but that of `first`, a trace that schedules it: the first of the sketches that does,
/// with the numbers of its format.
inline std::vector<trace> first_of_each_algorithm(const ir::function& f, const trace& first,
                                                  const std::vector<schedule>& sketches) {
  std::vector<std::string> met{chosen_algorithm(first).name}, known = ir::algorithm_names(f);
  std::vector<trace> out;
  const auto add = [&](const trace& t) {
    const std::string name = chosen_algorithm(t).name;
    if (support::contains(met, name) || !support::contains(known, primitive::without_forms(name)))
      return;
    met.push_back(name);
    out.push_back(t);
  };
  for (const schedule& s : sketches) {
    std::vector<trace> sizes{s.trace()};
    for (std::size_t i = 0; i < chosen_algorithm(s.trace()).length; ++i) {
      const auto* candidates = std::get_if<std::vector<std::int64_t>>(&s.trace()[i].what->args[0]);
      if (!drawn_number(s.trace()[i]) || !candidates) continue;
      std::vector<trace> more;
      for (const trace& t : sizes)
        for (std::size_t c = 0; c < candidates->size(); ++c)
          more.push_back(t.with_decision(i, {static_cast<std::int64_t>(c)}));
      sizes = std::move(more);
    }
    for (const trace& t : sizes) add(t);
  }
  return out;
}

/// Traces of a few other sketches that schedule the algorithm of `first`, with the decisions that they have.
inline std::vector<trace> others_of_algorithm(const trace& first,
                                              const std::vector<schedule>& sketches) {
  constexpr std::size_t few = 4;
  const std::string name = chosen_algorithm(first).name, text = first.print();
  std::vector<trace> out;
  for (const schedule& s : sketches) {
    if (out.size() == few) break;
    if (chosen_algorithm(s.trace()).name == name && s.trace().print() != text)
      out.push_back(s.trace());
  }
  return out;
}

}  // namespace tilewright::search::detail
