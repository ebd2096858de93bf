#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include <tilewright/ir/key.hpp>
#include <tilewright/search/enumeration.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE enumeration::enumeration(ir::function f, const std::vector<trace>& sketches,
                                           finisher finish)
    : f_(std::move(f)), finish_(std::move(finish)) {
  for (const trace& t : sketches)
    sketches_.push_back(t.without_decisions().simplified(finish_ != nullptr));
}

TILEWRIGHT_INLINE std::optional<candidate> enumeration::next(const std::function<bool()>& over) {
  while (!at_end() && !(over && over())) {
    std::optional<candidate> found;
    if (open_.empty()) {
      ++sketch_;
      found = run(schedule(f_), 0, 0);
    } else if (open_.back().next == open_.back().options.size()) {
      open_.pop_back();
    } else {
      draw& last = open_.back();
      schedule s = last.before;
      const std::size_t at = last.at;
      double prior = last.log_prior;
      try {
        s.apply(sketches_[sketch_ - 1][at].what, last.options[last.next++]);
        prior += log_probability_of_last_step(s);
        found = run(std::move(s), at + 1, prior);
      } catch (const schedule_error&) {
        ++refused_;
      }
    }
    if (found) return found;
  }
  return std::nullopt;
}

/// Goes on until the next draw, which is opened, or to the end.
TILEWRIGHT_INLINE std::optional<candidate> enumeration::run(schedule s, std::size_t at,
                                                            double log_prior) {
  const trace& sketch = sketches_[sketch_ - 1];
  try {
    for (; at < sketch.size(); ++at) {
      const trace::step& step = sketch[at];
      if (step.what->kind->choice != decision_shape::none && step.choice.empty()) {
        std::vector<decision> options = possible_decisions(s.state(), *step.what);
        open_.push_back({std::move(s), at, std::move(options), 0, log_prior});
        return std::nullopt;
      }
      s.apply(step.what, step.choice);
    }
    if (finish_) finish_(s);
  } catch (const internal_error&) {
    throw;
  } catch (const error&) {  // of a schedule, or a sketch whose number of loops follows from a draw
    ++refused_;
    return std::nullopt;
  }
  ++met_;
  const support::hash128 identity = ir::workload_key(s.function());
  return candidate{std::move(s), identity, log_prior};
}

TILEWRIGHT_INLINE space_size count_members(const ir::function& f,
                                           const std::vector<trace>& sketches,
                                           const finisher& finish, std::size_t most,
                                           const std::function<bool()>& over) {
  enumeration all(f, sketches, finish);
  std::set<support::hash128> programs;
  while (all.met() < most) {
    const std::optional<candidate> c = all.next(over);
    if (!c) break;
    programs.insert(c->identity);
  }
  return {sketches.size(), all.met(), programs.size(), all.refused(), all.at_end()};
}

}  // namespace tilewright::search
