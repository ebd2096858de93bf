#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include <tilewright/impl/search/session/first_sketch.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/gate.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {
namespace detail {

/// The state of `gate`.
class gatekeeper {
 public:
  gatekeeper(const workload& w, const session_options& o) : w_(w), o_(o) {}

  gate_result run(const std::function<void(const gate_result&)>& events) {
    start();
    while (!over()) {
      std::vector<candidate> batch = strategy_->propose(wanted(), [this] { return over(); });
      empty_rounds_ = batch.empty() ? empty_rounds_ + 1 : 0;
      if (empty_rounds_ >= empty_rounds_allowed) break;
      build_all(batch);
      out_.seconds = elapsed();
      if (events) events(out_);
    }
    if (const auto refused = static_cast<int>(strategy_->refused()))
      out_.failures[failure::schedule] += refused;
    out_.seconds = elapsed();
    return std::move(out_);
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr int empty_rounds_allowed =
      5;  // one may only have met what post-processing rejects

  double elapsed() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  bool over() const {
    return elapsed() > o_.seconds || tried_ >= o_.trials ||
           (o_.cancelled && o_.cancelled->load(std::memory_order_relaxed));
  }
  std::size_t wanted() const {
    return static_cast<std::size_t>(std::max(std::min(o_.batch, o_.trials - tried_), 0));
  }

  void start() {
    const space::context where{w_.machine, w_.exec->threads};
    const std::vector<schedule> sketches = w_.space.sketches(w_.function, where, o_.seed);
    const schedule first = first_of(sketches, w_.space, where, w_.function, o_.seed);
    const built b = build(first.function(), w_.machine, o_.measuring.build_deadline);
    if (!b) throw build_error("the default schedule cannot be built: " + b.error);
    out_.trace = first.trace().print();
    out_.built = 1;
    search_task task;
    task.function = w_.function;
    for (const schedule& s : sketches) task.sketches.push_back(s.trace().without_decisions());
    if (w_.space.has_postprocs())
      task.finish = [this, where](schedule& s) { w_.space.finish(s, where); };
    strategy_ = o_.method ? o_.method(o_.seed) : local_search();
    strategy_->start(task, o_.seed);
  }

  /// What can be built counts as equally fast: nothing is known of it.
  void build_all(const std::vector<candidate>& batch) {
    std::vector<ir::function> programs;
    for (const candidate& c : batch) programs.push_back(c.scheduled.function());
    build_queue queue(std::move(programs), w_.machine, {target::host().cores, 0},
                      o_.measuring.build, o_.measuring.build_deadline);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < batch.size() && !over(); ++i) {
      const built b = queue.take(i);
      ++tried_;
      seconds.push_back(b ? 1.0 : std::numeric_limits<double>::infinity());
      if (b) {
        ++out_.built;
        continue;
      }
      ++out_.failures[b.late ? failure::timeout : b.rejected ? failure::resources : failure::build];
      out_.last_error = b.error;
    }
    strategy_->learn(std::span(batch).first(seconds.size()), seconds);
  }

  const workload& w_;
  const session_options& o_;
  clock::time_point begin_ = clock::now();
  std::unique_ptr<strategy> strategy_;
  gate_result out_;
  int tried_ = 0, empty_rounds_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE gate_result gate(const workload& w, const session_options& options,
                                   const std::function<void(const gate_result&)>& events) {
  return detail::gatekeeper(w, options).run(events);
}

}  // namespace tilewright::search
