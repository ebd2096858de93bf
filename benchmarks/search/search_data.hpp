// Workloads whose candidates are measured once and then searched again and again: the times lie in
// a file, and what a strategy proposes beyond it is measured and added.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/target/cpu.hpp>

namespace bench {

/// Timings of a program.
inline constexpr std::size_t timings = 5;

/// A measured candidate, in the order of the file.
struct timed_trace {
  tilewright::support::hash128 key;
  std::string trace;
  std::vector<double> times;  // s, ascending; none where it failed
  std::string failed;         // how; empty where it did not
  bool drawn = false;         // from the prior

  /// The second fastest; infinity where it failed.
  double seconds() const;
  /// What another measurement might have given: one of the times by chance.
  double drawn_again(tilewright::support::random& r) const;
};

class recorded_workload {
 public:
  /// @param where what programs are made for and measured on; outlives the workload
  recorded_workload(std::string name, tilewright::ir::function f, bool held_out,
                    const tilewright::target::cpu& where);

  const std::string& name() const { return name_; }
  /// Whether it is of an operator that no training task has.
  bool held_out() const { return held_out_; }
  const tilewright::search::search_task& task() const { return task_; }
  const std::vector<timed_trace>& all() const { return all_; }
  /// What is known of a program; null: nothing.
  const timed_trace* find(const tilewright::support::hash128& key) const;
  /// Known, or measured and written to `to`; `drawn` says that the prior made it.
  double seconds(const tilewright::search::candidate& c, bool drawn, std::ofstream& to);
  void add(timed_trace t);
  /// Takes the times of the `count` fastest again, which chance may have made fast, and puts them in
  /// the place of the old ones.
  void measure_again(std::size_t count);
  /// All times as lines of a file.
  void write(std::ostream& to) const;

 private:
  timed_trace measure(const tilewright::search::candidate& c, bool drawn);
  void write(const timed_trace& t, std::ostream& to) const;

  std::string name_;
  bool held_out_;
  const tilewright::target::cpu* where_;
  tilewright::search::search_task task_;
  std::map<tilewright::support::hash128, std::size_t> times_;  // position in all_
  std::vector<timed_trace> all_;
  std::unique_ptr<tilewright::search::runner> runner_;
  double best_ = 1e30;
};

/// Which of the workloads of search_tasks.hpp.
enum class selection { all, training, held_out, curves };

/// The workloads, with the times that lie in `file` (which need not exist). What is no whole line of
/// times is passed over.
/// @param where the target of the file's programs: a file has those of one target
std::vector<recorded_workload> recorded_workloads(
    const std::string& file, selection which = selection::all,
    const tilewright::target::cpu& where = tilewright::target::host());

/// `file` to be gone on with, after the end of its last line.
std::ofstream appended(const std::string& file);

}  // namespace bench
