// Where a session builds, runs and times its candidates, as its options say.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/compile_worker.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search::detail {

class test_bench {
 public:
  /// @param cancelled ends what runs when it becomes true; null: never
  test_bench(const workload& w, const measuring_options& o, std::uint64_t seed,
             const std::atomic<bool>* cancelled)
      : machine_(w.machine),
        options_(o),
        threads_(w.exec->threads),
        cancelled_(cancelled),
        runner_(w.function, w.layouts, *w.exec, seed, w.given,
                in_worker() ? argument_memory::sharing::possible : argument_memory::sharing::none) {
    runner_.watch(cancelled);
    if (in_worker()) {
      worker_ = std::make_unique<worker>(runner_.memory(), w.exec->threads);
      worker_->watch(cancelled);
      // NVRTC can be stopped at a deadline, and several of its threads compile at the same time
      if (!machine_.gpu) compilers_ = std::make_unique<compile_workers>(o.build_deadline);
    }
    if (o.runner) measurer_ = o.runner(w);
  }

  /// The arguments, and what the last `run` left in the outputs.
  runner& data() noexcept { return runner_; }
  const std::vector<operand>& operands() const noexcept { return runner_.operands(); }

  /// Not cancelled: without a default schedule there is nothing to go on with.
  built make(const ir::function& scheduled) const {
    if (options_.build) return options_.build(scheduled, machine_);
    return compilers_ ? compilers_->make(scheduled, machine_)
                      : build(scheduled, machine_, options_.build_deadline);
  }
  /// Builds on all cores, while a measurement runs on those that it leaves free.
  build_queue queue(std::vector<ir::function> programs) const {
    // a GPU leaves all of them free
    const int cores = target::host().cores;
    const int free = machine_.gpu ? cores : std::max(cores - threads_, 0);
    return {
        std::move(programs), machine_,
        options_.builds > 0 ? build_threads{options_.builds, 0} : build_threads{free, cores - free},
        chosen_builder(), options_.build_deadline};
  }

  /// True where the first call of a measurement is what `run` does.
  bool runs_as_timed() const { return !measurer_ && options_.where == caches::warm; }

  /// One call on fresh outputs. // deadline: s
  measurement run(const built& b, double deadline = patience) {
    if (!worker_) return runner_.run(*b.code, deadline);
    runner_.reset_outputs();
    return worker_->run(b.artifact, deadline);
  }
  /// The same on arguments of `r`, which `sharing` says how to make.
  measurement run(const built& b, runner& r) const {
    if (!worker_) return r.run(*b.code, patience);
    worker beside(r.memory(), threads_);
    r.reset_outputs();
    return beside.run(b.artifact, patience);
  }
  argument_memory::sharing sharing() const {
    return worker_ ? argument_memory::sharing::possible : argument_memory::sharing::none;
  }

  /// Afterwards the outputs are as one call leaves them where `leaves_outputs` says so.
  measurement measure(const built& b, measure_options o) {
    o.where = options_.where;
    o.hopeless = options_.hopeless;
    if (measurer_) return measurer_(b, o);
    runner_.reset_outputs();
    if (!worker_) return runner_.measure(*b.code, o);
    return worker_->measure(b.artifact, o);
  }
  /// @param seconds of a call: short ones are timed many at a time
  bool leaves_outputs(double seconds) const {
    constexpr double surely_alone = 1e-3;  // s
    return !measurer_ && options_.where != caches::rotating && seconds >= surely_alone;
  }

 private:
  /// What runs on a GPU always does: a fault there is the end of all driver calls of its process.
  bool in_worker() const { return options_.run_in == isolation::worker || machine_.gpu; }

  static constexpr double patience = 3600;  // s; what is right may be slow

  /// The user's own, or one that asks workers; null: `build`.
  builder chosen_builder() const {
    if (options_.build || !compilers_) return options_.build;
    return [this](const ir::function& f, const target::machine& where) {
      return compilers_->make(f, where, cancelled_);
    };
  }

  target::machine machine_;
  const measuring_options& options_;
  int threads_;  // of a measurement
  const std::atomic<bool>* cancelled_;
  runner runner_;
  std::unique_ptr<worker> worker_;
  std::unique_ptr<compile_workers> compilers_;
  measurer measurer_;
};

}  // namespace tilewright::search::detail
