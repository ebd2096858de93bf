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

namespace bench {

/// A measured candidate, in the order of the file.
struct timed_trace {
  tilewright::support::hash128 key;
  std::string trace;
  double seconds;  // infinity: it failed
  bool drawn;      // from the prior
};

class recorded_workload {
 public:
  recorded_workload(std::string name, tilewright::ir::function f);

  const std::string& name() const { return name_; }
  const tilewright::search::search_task& task() const { return task_; }
  const std::vector<timed_trace>& all() const { return all_; }
  bool knows(const tilewright::search::candidate& c) const { return times_.count(c.identity) > 0; }
  /// Known, or measured and written to `to`; `drawn` says that the prior made it.
  double seconds(const tilewright::search::candidate& c, bool drawn, std::ofstream& to);
  void add(timed_trace t);
  /// Takes the times of the `count` fastest again, which chance may have made fast, and puts them in
  /// the place of the old ones.
  void measure_again(std::size_t count);
  /// All times as lines of a file.
  void write(std::ostream& to) const;

 private:
  double measure(const tilewright::search::candidate& c);
  void write(const timed_trace& t, std::ostream& to) const;

  std::string name_;
  tilewright::search::search_task task_;
  std::map<tilewright::support::hash128, double> times_;
  std::vector<timed_trace> all_;
  std::unique_ptr<tilewright::search::runner> runner_;
  double best_ = 1e30;
};

/// The workloads, with the times that lie in `file` (which need not exist).
std::vector<recorded_workload> recorded_workloads(const std::string& file);

}  // namespace bench
