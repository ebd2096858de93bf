#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/model/in_place.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::network {
namespace detail {

/// Equal kernels of a network, and what they lose there.
struct placed_task {
  const search::workload* what = nullptr;
  std::vector<std::size_t> launches;
  std::vector<const search::workload*> tasks;  // [launches], with the weights of each
  double alone = 0, in_place = 0;              // s, of a call
  double loss() const { return static_cast<double>(launches.size()) * (in_place - alone); }
};

class in_place_tuner {
 public:
  in_place_tuner(const executable& program, double seconds, std::uint64_t seed,
                 search::database& db, const std::atomic<bool>* cancelled)
      : program_(program),
        seed_(seed),
        db_(db),
        cancelled_(cancelled),
        run_(program),
        until_(seconds) {}

  in_place_summary run() {
    if (program_.launches().empty()) return {};
    run_();  // warms
    std::vector<std::vector<double>> runs;
    do runs.push_back(run_());
    while (runs.size() < 7 && !over(0.1));
    const std::vector<double> times = least_times(runs);
    in_place_summary out;
    out.before = out.after = sum(times);
    std::vector<placed_task> slow;
    for (placed_task& t : tasks(times))
      if (t.alone > 0 && t.in_place > slower * t.alone) slow.push_back(std::move(t));
    out.slower = slow.size();
    std::sort(slow.begin(), slow.end(), [](const placed_task& a, const placed_task& b) {
      return a.loss() != b.loss() ? a.loss() > b.loss() : a.launches < b.launches;
    });
    for (std::size_t k = 0; k < slow.size() && !over(0.9); ++k) {
      ++out.tuned;
      // those that lose less get less: half of what is left goes to the first
      const double share = k + 1 < slow.size() ? 0.5 : 1;
      if (tune_again(slow[k], share * (until_ - elapsed()), out.after)) ++out.kept;
    }
    return out;
  }

 private:
  static constexpr double slower = 1.1;
  static constexpr std::size_t candidates = 8;  // of a task, the fastest alone
  using clock = std::chrono::steady_clock;

  double elapsed() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  bool over(double share) const {
    return elapsed() > share * until_ ||
           (cancelled_ && cancelled_->load(std::memory_order_relaxed));
  }
  static double sum(const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

  std::vector<placed_task> tasks(const std::vector<double>& times) const {
    std::vector<placed_task> out;
    for (std::size_t k = 0; k < times.size(); ++k) {
      const search::workload& w = program_.task(k);
      auto at = support::find(out, [&](const placed_task& t) { return t.what->key == w.key; });
      if (at == out.end()) {
        out.push_back({&w, {}, {}, 0, 0});
        at = out.end() - 1;
        if (const std::optional<search::record> r = db_.chosen(w.key)) at->alone = r->best();
      }
      at->launches.push_back(k);
      at->tasks.push_back(&w);
      at->in_place += times[k];
    }
    for (placed_task& t : out) t.in_place /= static_cast<double>(t.launches.size());
    return out;
  }

  /// Code for all launches of a task.
  struct placed_code {
    std::vector<stand_in> kernels;
    executable::timed_run::stand_ins instead;
  };
  static placed_code place(const placed_task& t, const search::built& b) {
    placed_code out;
    out.kernels.reserve(t.launches.size());
    for (std::size_t i = 0; i < t.launches.size(); ++i) {
      out.kernels.emplace_back(*t.tasks[i], b.code);
      out.instead[t.launches[i]] = &out.kernels.back();
    }
    return out;
  }

  /// Mean time of a call of the task's code in the network; runs in which others interrupt a kernel
  /// count for nothing.
  double time_in_place(const placed_task& t, const placed_code& code, int runs) const {
    std::vector<std::vector<double>> all;
    do all.push_back(run_(code.instead));
    while (static_cast<int>(all.size()) < runs && !over(1));
    const std::vector<double> times = least_times(all);
    double out = 0;
    for (const std::size_t k : t.launches) out += times[k];
    return out / static_cast<double>(t.launches.size());
  }

  search::measurer measurer_of(const placed_task& t) const {
    return [this, &t](const search::built& b, const search::measure_options& o) {
      search::measurement out;
      if (over(1)) {
        out.failed = search::failure::cancelled;
        out.detail = "the time is over";
        return out;
      }
      const placed_code code = place(t, b);
      // the first run warms pages, and is enough where a candidate is hopeless
      const double first = time_in_place(t, code, 1);
      const bool enough = first > o.hopeless * o.best || o.most_repeats == 0;
      out.seconds.push_back(enough ? first : std::min(first, time_in_place(t, code, 2)));
      return out;
    };
  }

  /// Whether a winner was found that makes the network faster.
  bool tune_again(const placed_task& t, double seconds, double& whole) {
    search::workload placed = *t.what;
    placed.key.arguments += " in place";
    std::vector<trace> known;
    for (const search::record& r : db_.top(t.what->key, candidates)) try {
        known.push_back(search::by_name(trace::parse(r.trace), placed.function));
      } catch (const error&) {  // of another version: it need not fit
      }
    search::session_options o;
    o.seconds = seconds;
    o.seed = seed_;
    o.cancelled = cancelled_;
    o.method = [known](std::uint64_t) { return search::given_traces(known); };
    o.measuring.runner = [this, &t](const search::workload&) { return measurer_of(t); };
    search::tuning_result won;
    try {
      won = search::tune(placed, o, db_);
    } catch (const error&) {  // the kernel stays as it is
      return false;
    }
    if (won.end == search::session_end::cancelled || won.code.object.empty()) return false;
    search::built b;
    b.artifact = won.code;
    b.code = backend::link(won.code);
    const placed_code code = place(t, b);
    std::vector<std::vector<double>> with, without;
    for (int turn = 0; turn < 7; ++turn) {
      without.push_back(run_());
      with.push_back(run_(code.instead));
    }
    const double now = sum(least_times(without)), then = sum(least_times(with));
    if (!(then < now)) return false;
    const std::optional<search::record> record = db_.chosen(placed.key);
    if (!record) return false;
    search::record chosen = *record;
    chosen.key = t.what->key;
    // times under this key are of kernels alone, so that alternatives of the graph can be compared
    for (const search::record& r : db_.top(chosen.key, std::numeric_limits<int>::max()))
      if (r.trace == chosen.trace) chosen.seconds = r.seconds;
    db_.add_code(chosen.key, chosen.trace, chosen.from, backend::serialize(won.code));
    db_.add(chosen);
    whole += then - now;
    return true;
  }

  const executable& program_;
  std::uint64_t seed_;
  search::database& db_;
  const std::atomic<bool>* cancelled_;
  executable::timed_run run_;
  double until_;  // s
  clock::time_point begin_ = clock::now();
};

}  // namespace detail

TILEWRIGHT_INLINE in_place_summary tune_in_place(const executable& program, double seconds,
                                                 std::uint64_t seed, search::database& db,
                                                 const std::atomic<bool>* cancelled) {
  return detail::in_place_tuner(program, seconds, seed, db, cancelled).run();
}

}  // namespace tilewright::network
