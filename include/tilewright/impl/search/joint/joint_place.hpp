// One of the workloads of a joint session: its arguments, its default schedule, and what candidates are there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/check/expected_outputs.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/joint/joint_session.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

class joint_place {
 public:
  /// The task outlives the place.
  /// @throws build_error when its default schedule cannot be compiled or does not run
  joint_place(const joint_task& t, std::uint64_t seed)
      : what(*t.what),
        weight(t.weight),
        data_(std::make_unique<runner>(what.function, what.layouts, *what.exec, seed, what.given)),
        seed_(seed) {
    const schedule first = default_schedule(what.function, what.space, where(), seed);
    standard_trace = first.trace().print();
    standard_key = ir::workload_key(first.function());
    standard = build(first.function(), what.machine);
    if (!standard) throw build_error("the default schedule cannot be compiled: " + standard.error);
    const measurement once = data_->run(*standard.code, patience);
    if (!once.ok()) throw build_error("the default schedule does not run: " + once.detail);
    expected_ = expected_outputs(what.function, *data_, needs_of(what.function), data_->outputs(),
                                 {}, non_finite::apart);
  }

  /// What the trace of another extent becomes here; nothing where it does not fit.
  std::optional<candidate> adapted(const trace& t, std::string* why) const {
    finisher finish;
    if (what.space.has_postprocs()) finish = [this](schedule& s) { what.space.finish(s, where()); };
    return replay(t, what.function, seed_, why, finish);
  }

  measurement measure(const built& b, const measure_options& o) {
    return data_->measure(*b.code, o);
  }
  /// How the outputs of a call differ from those of the default schedule, or why it ended; empty: they do not.
  std::string difference(const built& b) {
    const measurement once = data_->run(*b.code, patience);
    if (!once.ok()) return once.detail;
    return expected_.difference(*data_, false);
  }

  const workload& what;
  const double weight;
  std::string standard_trace;
  support::hash128 standard_key;  // of the program of the default schedule
  built standard;                 // its code

 private:
  static constexpr double patience = 3600;  // s
  space::context where() const { return {what.machine, what.exec->threads}; }

  std::unique_ptr<runner> data_;
  std::uint64_t seed_;
  expected_outputs expected_;
};

}  // namespace tilewright::search::detail
