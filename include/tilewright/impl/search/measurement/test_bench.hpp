// Where a session builds, runs and times its candidates, as its options say.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/compile_worker.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search::detail {

/// Arguments of one form, and the process that computes with them, where there is one.
class bench_place {
 public:
  bench_place(std::unique_ptr<runner> data, bool in_worker, int threads,
              const std::atomic<bool>* cancelled)
      : data_(std::move(data)) {
    data_->watch(cancelled);
    if (!in_worker) return;
    worker_ = std::make_unique<worker>(data_->memory(), threads);
    worker_->watch(cancelled);
  }

  runner& data() noexcept { return *data_; }
  measurement run(const built& b, double deadline) {
    if (!worker_) return data_->run(*b.code, deadline);
    data_->reset_outputs();
    return worker_->run(b.artifact, deadline);
  }
  measurement measure(const built& b, const measure_options& o) {
    data_->reset_outputs();
    return worker_ ? worker_->measure(b.artifact, o) : data_->measure(*b.code, o);
  }

 private:
  std::unique_ptr<runner> data_;
  std::unique_ptr<worker> worker_;
};

/// Calls take a form where an algorithm takes its arguments in another one than the workload; null: those
/// of the workload.
class test_bench {
 public:
  /// @param cancelled ends what runs when it becomes true; null: never
  test_bench(const workload& w, const measuring_options& o, std::uint64_t seed,
             const std::atomic<bool>* cancelled)
      : machine_(w.machine),
        options_(o),
        exec_(*w.exec),
        seed_(seed),
        cancelled_(cancelled),
        plain_(std::make_unique<runner>(w.function, w.layouts, *w.exec, seed, w.given, sharing()),
               in_worker(), w.exec->threads, cancelled) {
    // NVRTC can be stopped at a deadline, and several of its threads compile at the same time
    if (in_worker() && !machine_.gpu)
      compilers_ = std::make_unique<compile_workers>(o.build_deadline);
    if (o.runner) measurer_ = o.runner(w);
  }

  /// The arguments, and what the last `run` left in the outputs.
  runner& data(const argument_form* form = nullptr) { return place_of(form).data(); }
  const std::vector<operand>& operands() { return plain_.data().operands(); }
  /// The arguments of `plain` in another form.
  /// @throws argument_error when these have no such form
  std::unique_ptr<runner> in_form(const argument_form& form, const runner& plain) const {
    const formed_arguments all = form.make(plain);
    return std::make_unique<runner>(all.function, all.layouts, exec_, seed_, all.given, sharing());
  }

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
    const int free = machine_.gpu ? cores : std::max(cores - exec_.threads, 0);
    return {
        std::move(programs), machine_,
        options_.builds > 0 ? build_threads{options_.builds, 0} : build_threads{free, cores - free},
        chosen_builder(), options_.build_deadline};
  }

  /// True where the first call of a measurement is what `run` does.
  bool runs_as_timed() const { return !measurer_ && options_.where == caches::warm; }

  /// One call on fresh outputs. // deadline: s
  measurement run(const built& b, double deadline = patience, const argument_form* form = nullptr) {
    if (options_.call) return called(b, data(form), deadline);
    return place_of(form).run(b, deadline);
  }
  /// The same on arguments of `r`, which `sharing` says how to make.
  measurement run(const built& b, runner& r) const {
    if (options_.call) return called(b, r, patience);
    if (!in_worker()) return r.run(*b.code, patience);
    worker beside(r.memory(), exec_.threads);
    r.reset_outputs();
    return beside.run(b.artifact, patience);
  }
  argument_memory::sharing sharing() const {
    return in_worker() ? argument_memory::sharing::possible : argument_memory::sharing::none;
  }

  /// Afterwards the outputs are as one call leaves them where `leaves_outputs` says so.
  measurement measure(const built& b, measure_options o, const argument_form* form = nullptr) {
    o.where = options_.where;
    o.hopeless = options_.hopeless;
    if (measurer_) return measurer_(b, o);
    return place_of(form).measure(b, o);
  }
  /// @param seconds of a call: short ones are timed many at a time
  bool leaves_outputs(double seconds) const {
    constexpr double surely_alone = 1e-3;  // s
    return !measurer_ && options_.where != caches::rotating && seconds >= surely_alone;
  }

 private:
  /// What runs on a GPU always does: a fault there is the end of all driver calls of its process.
  bool in_worker() const { return options_.run_in == isolation::worker || machine_.gpu; }

  measurement called(const built& b, runner& r, double deadline) const {
    r.reset_outputs();
    return options_.call(b, r.memory(), deadline);
  }

  static constexpr double patience = 3600;  // s; what is right may be slow

  /// The user's own, or one that asks workers; null: `build`.
  builder chosen_builder() const {
    if (options_.build || !compilers_) return options_.build;
    return [this](const ir::function& f, const target::machine& where) {
      return compilers_->make(f, where, cancelled_);
    };
  }

  /// Made when it is asked for first.
  bench_place& place_of(const argument_form* form) {
    if (!form) return plain_;
    std::unique_ptr<bench_place>& out = formed_[form->algorithm];
    if (!out)
      out = std::make_unique<bench_place>(in_form(*form, plain_.data()), in_worker(), exec_.threads,
                                          cancelled_);
    return *out;
  }

  target::machine machine_;
  const measuring_options& options_;
  const backend::executor& exec_;
  std::uint64_t seed_;
  const std::atomic<bool>* cancelled_;
  bench_place plain_;
  std::map<std::string, std::unique_ptr<bench_place>> formed_;  // by algorithm
  std::unique_ptr<compile_workers> compilers_;
  measurer measurer_;
};

}  // namespace tilewright::search::detail
