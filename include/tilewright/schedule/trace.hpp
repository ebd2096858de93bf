// Traces: the history of a schedule as a program that can be replayed, printed, parsed and changed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

class schedule;

/// A primitive refused during a replay.
class replay_error : public schedule_error {
 public:
  replay_error(const schedule_error& cause, std::size_t instruction);
  /// Position in the trace, from 0.
  std::size_t instruction() const noexcept { return instruction_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::size_t instruction_;
  std::string what_;
};

/// Chooses the decision of a sampling instruction in a replay: given its position, the instruction
/// and the stored decision (empty: none). An empty result draws anew.
using decision_provider =
    std::function<decision(std::size_t index, const instruction& what, const decision& stored)>;

/// Instructions in order, with the decisions of the sampling ones.
class trace {
 public:
  struct step {
    support::ref<const instruction> what;
    decision choice;
  };

  trace() = default;

  bool empty() const noexcept { return steps_.empty(); }
  std::size_t size() const noexcept { return steps_.size(); }
  const std::vector<step>& steps() const noexcept { return steps_; }
  const step& operator[](std::size_t i) const { return steps_[i]; }

  void append(support::ref<const instruction> what, decision choice = {});

  /// Runs the instructions on `s`, which need not be fresh. A stored decision is used, a missing
  /// one is drawn from the schedule's stream; `provider` overrides both. What ran before an error
  /// stays, like calls made by hand; replay on a copy to be able to drop it.
  /// @throws replay_error when a primitive refuses
  /// @throws argument_error when the trace does not fit the schedule, e.g. a loop count differs
  /// `done`, if given, is called after each instruction with what was recorded.
  void apply_to(schedule& s, const decision_provider& provider = {},
                const std::function<void(const step&)>& done = {}) const;

  /// The trace in TVM's printed form, one statement a line, "pass" when empty:
  /// ```
  /// b0 = sch.get_block(name="C", func_name="main")
  /// l1, l2, l3 = sch.get_loops(block=b0)
  /// v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[8, 16])
  /// l6, l7 = sch.split(loop=l1, factors=[v4, v5], preserve_unit_iters=True,
  /// disable_predication=False)
  /// ```
  std::string print() const;
  /// Inverse of `print`. Comments, blank lines, a leading `def` line, indentation and get_sblock
  /// are accepted too; arguments with a default may be left out.
  /// @throws ir::parse_error (an argument_error) with line, column and what was expected
  static trace parse(std::string_view text);
  /// TVM's form for databases: `[[[name, inputs, attributes, outputs], ...], [[index, decision],
  /// ...]]`, where random variables and expressions are strings and strings are quoted twice.
  std::string to_json() const;
  /// Inverse of `to_json`.
  /// @throws argument_error for what is no such list, an unknown instruction or a wrong number of
  ///         inputs
  static trace from_json(std::string_view text);
  /// The trace as statements of C++ on a schedule `s`; decisions are pinned. For reading and
  /// pasting.
  std::string print_cpp() const;

  /// Natural logarithm of the probability that a replay without decisions on `start` draws those of
  /// this trace: the sum over its sampling instructions. Minus infinity when a decision is never
  /// drawn, as one that was made for another program.
  /// @throws replay_error when a primitive refuses
  double log_probability(const schedule& start) const;

  /// The same instructions with one decision replaced.
  /// @throws argument_error when instruction `index` takes no decision
  trace with_decision(std::size_t index, decision value) const;
  /// The design space without choices: replaying it draws every decision anew, except those that
  /// are fixed.
  trace without_decisions() const;
  /// True when a later `assert_(condition=v == literal)` fixes what instruction `index` draws, as
  /// it does for draws that decide which instructions follow: the decision belongs to the sketch,
  /// and search leaves it alone.
  bool is_fixed(std::size_t index) const;
  /// The part before enter_postproc.
  trace without_postproc() const;
  /// Without pure instructions whose outputs nobody uses.
  trace simplified(bool remove_postproc = false) const;

  /// Same instructions with the same arguments and decisions, up to the numbering of variables.
  friend bool operator==(const trace& a, const trace& b);

 private:
  std::vector<step> steps_;
};

/// The part of `trace::log_probability` that the last step of the trace of `s` makes; 0 where it
/// draws nothing. For a schedule that has just made this step.
double log_probability_of_last_step(const schedule& s);

}  // namespace tilewright
