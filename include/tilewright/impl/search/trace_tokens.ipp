#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/search/trace_tokens.hpp>

namespace tilewright::search {
namespace detail {

/// Where a loop or block of a trace comes from.
struct token_origin {
  float place = 0;     // among what was made together with it
  float together = 0;  // how many these are
  float block = 0;     // number of its block
};

/// Reads a trace from its start and makes the tokens.
class token_reader {
 public:
  /// @param values what the random variables of `t` stand for
  token_reader(const trace& t, const schedule_state& values)
      : trace_(t), values_(values), origins_(values.symbols.size()) {}

  std::vector<cost::trace_token> run() {
    std::vector<cost::trace_token> out;
    out.reserve(trace_.size());
    for (const trace::step& step : trace_.steps()) {
      if (has_token(*step.what->kind)) out.push_back(token(step));
      enter_outputs(*step.what);
    }
    return out;
  }

 private:
  static constexpr std::size_t most_integers = 8, count_at = 8, numbers_at = 9, most_numbers = 3,
                               inputs_at = 12, origin_at = 13;

  /// What is pure and draws nothing is a query.
  static bool has_token(const instruction_kind& kind) {
    if (kind.choice != decision_shape::none) return true;
    return !kind.pure && kind.name != "assert_" && kind.name != "enter_postproc" &&
           kind.name != "work_on";
  }

  static float logarithm(double x) {
    return static_cast<float>(std::copysign(std::log2(std::abs(x) + 1), x));
  }

  cost::trace_token token(const trace::step& step) {
    out_ = {};
    integers_ = numbers_ = 0;
    const instruction_kind& kind = *step.what->kind;
    out_.kind = static_cast<std::uint8_t>(&kind - instruction_kinds().data());
    if (kind.choice == decision_shape::none) {
      for (const argument& a : step.what->args) add(a);
    } else {
      add_drawn(step);
    }
    out_.numbers[count_at] = static_cast<float>(integers_);
    return out_;
  }

  /// What was drawn, in the place of what it was drawn from.
  void add_drawn(const trace::step& step) {
    for (const argument& a : step.what->args)
      if (!std::holds_alternative<std::vector<std::int64_t>>(a)) add(a);
    for (const rv& v : step.what->outputs)
      if (v.kind == rv_class::integer) integer(values_.at(v).value);
    if (step.what->outputs.empty() || step.what->outputs[0].kind == rv_class::integer) return;
    for (const std::int64_t place : step.choice) integer(place);
  }

  void add(const argument& a) {
    if (const auto* v = std::get_if<rv>(&a)) return input(*v);
    if (const auto* list = std::get_if<std::vector<rv>>(&a)) {
      for (const rv& v : *list) input(v);
    } else if (const auto* factors = std::get_if<std::vector<factor>>(&a)) {
      for (const factor& f : *factors) integer(f);
    } else if (const auto* one = std::get_if<factor>(&a)) {
      integer(*one);
    } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&a)) {
      for (const std::int64_t i : *integers) integer(i);
    } else if (const auto* flag = std::get_if<bool>(&a)) {
      number(*flag ? 1 : 0);
    } else if (const auto* i = std::get_if<std::int64_t>(&a)) {
      number(static_cast<double>(*i));
    } else if (const auto* x = std::get_if<double>(&a)) {
      number(*x);
    } else if (const auto* text = std::get_if<std::string>(&a)) {
      word(*text);
    } else if (const auto* note = std::get_if<annotation_value>(&a)) {
      add_note(*note);
    } else if (const auto* buffer = std::get_if<buffer_selector>(&a)) {
      number(buffer->index);
      number(buffer->in == buffer_selector::list::write ? 1 : 0);
      word(buffer->name);
    } else if (const auto* map = std::get_if<map_argument>(&a)) {
      number(static_cast<double>(map->map.outputs.size()));
      for (const auto& [var, v] : map->variables) input(v);
    }
  }

  void add_note(const annotation_value& note) {
    if (const auto* f = std::get_if<factor>(&note.value)) return integer(*f);
    if (const auto* list = std::get_if<annotation_value::list>(&note.value)) {
      for (const annotation_value& each : *list) add_note(each);
      return;
    }
    const auto* constant = std::get_if<ir::attr>(&note.value);
    if (!constant) return;
    if (const auto* i = std::get_if<std::int64_t>(&constant->value)) integer(*i);
    if (const auto* text = std::get_if<std::string>(&constant->value)) word(*text);
  }

  void integer(const factor& f) { integer(values_.value(f)); }
  void integer(std::int64_t value) {
    if (integers_ < most_integers && value != inferred_value)
      out_.numbers[integers_] = logarithm(static_cast<double>(value));
    ++integers_;
  }
  void number(double value) {
    if (numbers_ < most_numbers) out_.numbers[numbers_at + numbers_++] = logarithm(value);
  }
  /// FNV-1a, which is the same on every machine.
  void word(std::string_view text) {
    if (out_.word != 0 || text.empty()) return;
    std::uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    out_.word = static_cast<std::uint8_t>(1 + hash % (cost::token_words - 1));
  }
  void input(const rv& v) {
    if (v.kind == rv_class::integer) return integer(values_.at(v).value);
    if (out_.numbers[inputs_at]++ > 0) return;
    const token_origin& from = origins_[v.number];
    out_.numbers[origin_at] = from.place;
    out_.numbers[origin_at + 1] = from.together;
    out_.numbers[origin_at + 2] = from.block;
  }

  /// A block has a number of its own, a loop that of the block or loop it was made of.
  void enter_outputs(const instruction& what) {
    const float of = first_block(what);
    for (std::size_t i = 0; i < what.outputs.size(); ++i) {
      const rv& v = what.outputs[i];
      origins_[v.number] = {static_cast<float>(i), static_cast<float>(what.outputs.size()),
                            v.kind == rv_class::block ? static_cast<float>(blocks_++) : of};
    }
  }
  float first_block(const instruction& what) const {
    for (const argument& a : what.args) {
      if (const auto* v = std::get_if<rv>(&a)) return origins_[v->number].block;
      if (const auto* list = std::get_if<std::vector<rv>>(&a); list && !list->empty())
        return origins_[list->front().number].block;
    }
    return 0;
  }

  const trace& trace_;
  const schedule_state& values_;
  std::vector<token_origin> origins_;  // [random variables]
  cost::trace_token out_;
  std::size_t integers_ = 0, numbers_ = 0;
  int blocks_ = 0;
};

/// What the random variables of `like` would stand for with the decisions of `t`.
inline schedule_state with_decisions(const trace& t, const schedule& like) {
  schedule_state out = like.state();
  for (std::size_t i = 0; i < t.size(); ++i) {
    const trace::step& step = t[i];
    if (step.choice.empty() || step.what->outputs.empty() ||
        step.what->outputs[0].kind != rv_class::integer)
      continue;
    const std::vector<std::int64_t>* candidates = nullptr;
    if (step.what->outputs.size() == 1 && step.choice.size() == 1)
      for (const argument& a : step.what->args)
        if (!candidates) candidates = std::get_if<std::vector<std::int64_t>>(&a);
    for (std::size_t k = 0; k < step.what->outputs.size() && k < step.choice.size(); ++k) {
      std::int64_t value = step.choice[k];
      if (candidates) {
        if (value < 0 || value >= static_cast<std::int64_t>(candidates->size())) continue;
        value = (*candidates)[static_cast<std::size_t>(value)];
      } else if (value < 0) {
        value = inferred_value;
      }
      out.symbols[step.what->outputs[k].number].value = value;
    }
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<cost::trace_token> tokens_of(const schedule& s) {
  return detail::token_reader(s.trace(), s.state()).run();
}

TILEWRIGHT_INLINE std::vector<cost::trace_token> tokens_of(const trace& t, const schedule& like) {
  return detail::token_reader(t, detail::with_decisions(t, like)).run();
}

TILEWRIGHT_INLINE cost::trace_tokens token_cache::of(const candidate& c) {
  if (known_.size() > limit_) known_.clear();
  cost::trace_tokens& out = known_[c.identity];
  if (!out) out = std::make_shared<const std::vector<cost::trace_token>>(tokens_of(c.scheduled));
  return out;
}

}  // namespace tilewright::search
