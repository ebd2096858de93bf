// The law of primitives, and what happens when one breaks it.
//
// An accepted instruction keeps the program well formed and its results; a refused one leaves the
// program, the trace, the symbols and the random stream untouched; the trace prints, parses and
// replays to the same program; machine code agrees. Whoever breaks the law is reported as a program
// and a trace that the command-line tool can apply, with every step removed that the breach does
// not need.
#pragma once

#include <string>

#include <laws/random_programs.hpp>
#include <laws/random_steps.hpp>
#include <laws/running.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace laws {

enum class verdict { accepted, refused, broken };

/// A program, a schedule of it under the law, and what the program computes.
class trial {
 public:
  /// @throws error when the program itself is not in order
  trial(program p, std::uint64_t seed, bool by_machine_code = true);

  tilewright::schedule& schedule() { return schedule_; }
  /// Applies one instruction and judges it. One that changes what parameters mean, or promises
  /// something that a random one does not keep, is judged by its text and trace and taken back.
  verdict apply(const proposal& what);
  /// Judges the whole schedule: its trace, its text, its machine code if that is wanted.
  verdict judge();

  /// What is wrong, after a `broken` verdict.
  const std::string& complaint() const { return complaint_; }
  /// Writes the shrunk program and trace to NAME.py and NAME.trace in the current directory.
  /// @returns text for a failing test: the complaint, the two files' names and contents
  std::string report(const std::string& name) const;

 private:
  verdict broken(std::string why);
  bool changes_results(const proposal& what) const;
  std::string check_accepted(const proposal& what) const;
  std::string check_text() const;
  std::string check_trace() const;
  std::string check_code() const;
  trace shrunk() const;

  program program_;
  tilewright::schedule schedule_;
  memory expected_;
  std::uint64_t seed_;
  bool by_machine_code_;
  std::string complaint_;
  trace failing_;  // ends with the instruction that broke the law
};

}  // namespace laws
