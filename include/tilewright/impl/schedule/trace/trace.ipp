#pragma once

#include <algorithm>
#include <functional>

#include <tilewright/impl/schedule/trace/rv_renaming.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright {
namespace detail {

/// True for `assert_(condition=v == literal)`.
inline bool fixes(const instruction& what, const rv& v) {
  if (what.kind->name != "assert_" || v.kind != rv_class::integer) return false;
  const auto* condition = std::get_if<factor>(&what.args[0]);
  return condition && condition->kind() == factor::op::eq &&
         condition->left().kind() == factor::op::variable &&
         condition->left().value() == static_cast<std::int64_t>(v.number) &&
         condition->right().kind() == factor::op::literal;
}

}  // namespace detail

TILEWRIGHT_INLINE replay_error::replay_error(const schedule_error& cause, std::size_t instruction)
    : schedule_error(cause),
      instruction_(instruction),
      what_("instruction " + std::to_string(instruction) + ": " + cause.what()) {}

TILEWRIGHT_INLINE void trace::append(support::ref<const instruction> what, decision choice) {
  constexpr std::size_t least = 960 / sizeof(step);  // below 1 KB, as the variables of a schedule
  if (steps_.size() == steps_.capacity()) steps_.reserve(std::max(least, 2 * steps_.size()));
  steps_.push_back({std::move(what), std::move(choice)});
}

TILEWRIGHT_INLINE void trace::apply_to(schedule& s, const decision_provider& provider,
                                       const std::function<void(const step&)>& done) const {
  detail::rv_renaming names;
  const std::size_t count = steps_.size();  // `s` may be the schedule that owns this trace
  s.expect(*this);
  for (std::size_t i = 0; i < count; ++i) {
    const support::ref<const instruction> recorded = steps_[i].what;
    try {
      const bool asks = provider && recorded->kind->choice != decision_shape::none;
      const decision chosen = asks ? provider(i, *recorded, steps_[i].choice) : decision{};
      const auto what =
          names.identity() ? recorded : detail::with_arguments(*recorded, names.numbers());
      names.bind(recorded->outputs, s.apply(what, asks ? chosen : steps_[i].choice));
      if (done)
        done({what, steps_[i].choice.empty() ? s.trace().steps().back().choice : steps_[i].choice});
    } catch (const schedule_error& refusal) {
      throw replay_error(refusal, i);
    } catch (const argument_error& wrong) {
      const std::string name = std::string(recorded->kind->name) + ": ", why = wrong.what();
      throw argument_error("instruction " + std::to_string(i) + ": " +
                           (why.starts_with(name) ? why : name + why));
    }
  }
}

TILEWRIGHT_INLINE trace trace::with_decision(std::size_t index, decision value) const {
  if (index >= steps_.size() || steps_[index].what->kind->choice == decision_shape::none)
    throw argument_error("trace: instruction " + std::to_string(index) + " takes no decision");
  trace out = *this;
  out.steps_[index].choice = std::move(value);
  return out;
}

TILEWRIGHT_INLINE trace trace::without_decisions() const {
  trace out = *this;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (!steps_[i].choice.empty() && !is_fixed(i)) out.steps_[i].choice.clear();
  return out;
}

TILEWRIGHT_INLINE bool trace::is_fixed(std::size_t index) const {
  const std::vector<rv>& drawn = steps_[index].what->outputs;
  if (drawn.size() != 1) return false;
  return std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(index), steps_.end(),
                     [&](const step& s) { return detail::fixes(*s.what, drawn[0]); });
}

TILEWRIGHT_INLINE trace trace::without_postproc() const {
  const auto end =
      support::find(steps_, [](const step& s) { return s.what->kind->name == "enter_postproc"; });
  trace out;
  out.steps_.assign(steps_.begin(), end);
  return out;
}

TILEWRIGHT_INLINE trace trace::simplified(bool remove_postproc) const {
  trace out = remove_postproc ? without_postproc() : *this;
  std::vector<rv> used;  // by a kept later instruction
  std::vector<step> kept;
  for (std::size_t i = out.steps_.size(); i-- > 0;) {
    const instruction& what = *out.steps_[i].what;
    const bool needed =
        support::any(what.outputs, [&](const rv& v) { return support::contains(used, v); });
    if (what.kind->pure && !needed) continue;
    for (const argument& a : what.args) collect_rvs(a, used);
    kept.push_back(std::move(out.steps_[i]));
  }
  std::reverse(kept.begin(), kept.end());
  // a replay shares the instructions of a trace whose variables are numbered without gaps
  out.steps_ = kept.size() == steps_.size() ? std::move(kept) : detail::canonical_steps(kept);
  return out;
}

TILEWRIGHT_INLINE bool operator==(const trace& a, const trace& b) {
  if (a.size() != b.size()) return false;
  const auto x = detail::canonical_steps(a.steps_), y = detail::canonical_steps(b.steps_);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i].what->kind == y[i].what->kind && x[i].what->args == y[i].what->args &&
                      x[i].what->outputs == y[i].what->outputs && x[i].choice == y[i].choice;
    if (!same) return false;
  }
  return true;
}

}  // namespace tilewright
