// Where a session builds, runs and times its candidates, as its options say.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/check/expected_outputs.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/compile_worker.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search::detail {

/// What computes candidates: this process, one beside it, or another machine.
struct computer {
  bool in_worker = false;
  int threads = 1;  // of a worker
  caller elsewhere = {};
  worker_code code = worker_code::of_cpu;
};

/// Arguments of one form, and what computes with them.
class bench_place {
 public:
  /// @param data the arguments, which outlive this
  /// @param cancelled ends what runs when it becomes true; null: never
  bench_place(runner& data, const computer& by, const std::atomic<bool>* cancelled)
      : data_(data), elsewhere_(by.elsewhere) {
    if (cancelled) data_.watch(cancelled);
    if (!by.in_worker) return;
    worker_ = std::make_unique<worker>(data_.memory(), by.threads, by.code);
    if (cancelled) worker_->watch(cancelled);
  }

  /// From now on outputs are to be these, which outlive this.
  /// @param gpu that compares large ones itself
  void expect(const expected_outputs& what, const target::gpu& gpu) {
    if (!worker_ || elsewhere_ || copies_outputs()) return;
    expected_ = &what;
    comparisons_ = what.comparisons(data_, gpu);
    told_ = -1;
  }

  /// One call on fresh outputs. // deadline: s
  /// @param compared set to whether outputs are known to be as expected, which then do not come here; null: they
  /// have to
  measurement run(const built& b, double deadline, bool* compared = nullptr) {
    if (compared) *compared = false;
    if (!worker_ && !elsewhere_) return data_.run(*b.code, deadline);
    if (compared && expects(b)) return worker_->run_compared(b.artifact, deadline, *compared);
    freshen(b);
    return elsewhere_ ? elsewhere_(b, data_.memory(), deadline)
                      : worker_->run(b.artifact, deadline);
  }
  /// Afterwards the outputs are as one call leaves them where `copies_outputs` says so.
  measurement measure(const built& b, const measure_options& o) {
    if (copies_outputs() || !b.artifact.launches.empty()) freshen(b);
    return worker_ ? worker_->measure(b.artifact, o) : data_.measure(*b.code, o);
  }

  /// Whether outputs are fresh before each measurement. Large ones take as long to copy as a call that writes them.
  bool copies_outputs() const {
    constexpr std::size_t large = std::size_t{4} << 20;  // bytes
    std::size_t written = 0;
    for (const argument_place& p : data_.memory().places()) written += p.written ? p.bytes : 0;
    return written < large;
  }

 private:
  /// Whether the worker compares outputs of that code. A process that begins is told what is expected once it has run
  /// something, since it takes the outputs of the host for fresh ones.
  bool expects(const built& b) {
    if (comparisons_.empty() || b.artifact.launches.empty() || worker_->pid() == 0) return false;
    if (told_ == worker_->restarts()) return true;
    told_ = worker_->restarts();
    expected_->put_into(data_);
    if (!worker_->expect(comparisons_, expected_->pieces(data_)).empty()) comparisons_.clear();
    return !comparisons_.empty();
  }

  /// Outputs of what runs on a GPU are made fresh there, and copied over those of the host as a whole. A process that
  /// begins takes those of the host for fresh.
  void freshen(const built& b) {
    const bool on_device =
        worker_ && worker_->pid() != 0 && !elsewhere_ && !b.artifact.launches.empty();
    if (!on_device) data_.reset_outputs();
  }

  runner& data_;
  caller elsewhere_;
  std::unique_ptr<worker> worker_;
  const expected_outputs* expected_ = nullptr;
  std::vector<output_comparison> comparisons_;  // with `expected_` on the GPU; none: on the host
  int told_ = -1;                               // the worker's restarts when it was told of them
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
        plain_(std::make_unique<runner>(w.function, w.layouts, *w.exec, seed, w.given, sharing())),
        place_(*plain_, computes(), cancelled) {
    // NVRTC can be stopped at a deadline, and several of its threads compile at the same time
    if (in_worker() && !machine_.gpu)
      compilers_ = std::make_unique<compile_workers>(o.build_deadline);
    if (o.runner) measurer_ = o.runner(w);
  }

  /// The arguments, and what the last `run` left in the outputs.
  runner& data(const argument_form* form = nullptr) { return form ? *formed(*form).data : *plain_; }
  const std::vector<operand>& operands() { return plain_->operands(); }
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
  std::unique_ptr<build_queue> queue(std::vector<ir::function> programs) const {
    // a GPU leaves all of them free
    const int cores = target::host().cores;
    // NVRTC is at some candidates for minutes: of a deadline that nobody has named, less
    const bool named = options_.build_deadline != measuring_options{}.build_deadline;
    const double deadline = machine_.gpu && !named ? gpu_deadline : options_.build_deadline;
    const int free = machine_.gpu ? cores : std::max(cores - exec_.threads, 0);
    return std::make_unique<build_queue>(
        std::move(programs), machine_,
        options_.builds > 0 ? build_threads{options_.builds, 0} : build_threads{free, cores - free},
        chosen_builder(), deadline);
  }

  /// True where the first call of a measurement is what `run` does.
  bool runs_as_timed() const { return !measurer_ && options_.where == caches::warm; }

  static constexpr double patience = 3600;   // s; what is right may be slow
  static constexpr double gpu_deadline = 5;  // s, to compile a candidate

  /// As of a bench_place, of the workload's own form.
  void expect(const expected_outputs& what) {
    if (machine_.gpu) place_.expect(what, *machine_.gpu);
  }
  /// One call on fresh outputs. // deadline: s
  measurement run(const built& b, double deadline = patience, const argument_form* form = nullptr,
                  bool* compared = nullptr) {
    return place_of(form).run(b, deadline, compared);
  }
  /// What computes with the arguments of `r`, which outlive it; `sharing` says how to make them.
  bench_place place_for(runner& r) const {
    computer by = computes();
    if (by.elsewhere) by.in_worker = false;  // which would have nothing to do
    return {r, by, nullptr};
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
  bool leaves_outputs(double seconds, const argument_form* form = nullptr) {
    constexpr double surely_alone = 1e-3;  // s
    return !measurer_ && !machine_.gpu && options_.where != caches::rotating &&
           seconds >= surely_alone && place_of(form).copies_outputs();
  }

 private:
  /// What runs on a GPU always does: a fault there is the end of all driver calls of its process.
  bool in_worker() const { return options_.run_in == isolation::worker || machine_.gpu; }

  computer computes() const {
    return {in_worker(), exec_.threads, options_.call,
            machine_.gpu ? worker_code::of_gpu : worker_code::of_cpu};
  }

  /// The user's own, or one that asks workers; null: `build`.
  builder chosen_builder() const {
    if (options_.build || !compilers_) return options_.build;
    return [this](const ir::function& f, const target::machine& where) {
      return compilers_->make(f, where, cancelled_);
    };
  }

  /// Arguments in another form, and what computes with them.
  struct formed_place {
    std::unique_ptr<runner> data;
    bench_place place;
  };
  /// Made when it is asked for first.
  formed_place& formed(const argument_form& form) {
    std::unique_ptr<formed_place>& out = formed_[form.algorithm];
    if (!out) {
      std::unique_ptr<runner> data = in_form(form, *plain_);
      bench_place place(*data, computes(), cancelled_);
      out = std::make_unique<formed_place>(formed_place{std::move(data), std::move(place)});
    }
    return *out;
  }
  bench_place& place_of(const argument_form* form) { return form ? formed(*form).place : place_; }

  target::machine machine_;
  const measuring_options& options_;
  const backend::executor& exec_;
  std::uint64_t seed_;
  const std::atomic<bool>* cancelled_;
  std::unique_ptr<runner> plain_;
  bench_place place_;                                            // of `plain_`
  std::map<std::string, std::unique_ptr<formed_place>> formed_;  // by algorithm
  std::unique_ptr<compile_workers> compilers_;
  measurer measurer_;
};

}  // namespace tilewright::search::detail
