#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/check/default_check.hpp>
#include <tilewright/impl/search/check/examiner.hpp>
#include <tilewright/impl/search/check/expected_outputs.hpp>
#include <tilewright/impl/search/check/extreme_check.hpp>
#include <tilewright/impl/search/check/row_terms.hpp>
#include <tilewright/impl/search/measurement/final_timing.hpp>
#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/impl/search/session/candidate_batches.hpp>
#include <tilewright/impl/search/session/candidate_timing.hpp>
#include <tilewright/impl/search/session/earlier_results.hpp>
#include <tilewright/impl/search/session/final_standing.hpp>
#include <tilewright/impl/search/session/finalists.hpp>
#include <tilewright/impl/search/session/first_sketch.hpp>
#include <tilewright/impl/search/session/form_times.hpp>
#include <tilewright/impl/search/session/known_candidates.hpp>
#include <tilewright/impl/search/session/parent_list.hpp>
#include <tilewright/impl/search/session/search_start.hpp>
#include <tilewright/impl/search/session/session_checks.hpp>
#include <tilewright/impl/search/session/session_limits.hpp>
#include <tilewright/impl/search/session/session_records.hpp>
#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/impl/search/session/timed_bench.hpp>
#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/impl/search/session/unmeasured_schedules.hpp>
#include <tilewright/impl/search/session/vetoes.hpp>
#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/pass/vector/vectorize_unmarked.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::search {
namespace detail {

/// The state of `tune`.
class tuner {
 public:
  tuner(const workload& w, const session_options& o, database& db,
        const std::vector<argument_form>& forms, const std::vector<std::string>& known)
      : w_(w),
        o_(o),
        db_(db),
        forms_(forms),
        budget_(o.seconds),
        bench_(w, o.measuring, o.seed, o.cancelled),
        needs_(with_rows(needs_of(w.function), bench_.data())),
        extremes_(w, bench_, needs_, o.seed, result_.remarks),
        examiner_(w, forms_, budget_, o.seed, o.seconds),
        limits_(o, budget_, progress_),
        records_(w, o, db),
        batches_(w, o, bench_),
        finalists_(o.measuring.finalists),
        known_(known) {}

  tuning_result run() {
    const support::stage_clock::running timed(clock_);
    if (start_baseline()) {
      recall();
      await_alternatives();
      known_.put_before(pending_, w_, o_.seed, seen_);
      while (!limits_.over() && !limits_.exhausted()) round();
      batches_.end();
      result_.end = progress_.end = limits_.end();
      note_end();
      finish();
    } else if (cancelled()) {
      result_.end = session_end::cancelled;
      result_.remarks.push_back("cancelled before the default schedule was timed");
    }
    if (const auto refused = progress_.failures.find(failure::schedule);
        refused != progress_.failures.end())
      note_refused(refused->second);
    if (strategy_) keep_remark();
    result_.profile = clock_.times();
    result_.seconds = budget_.elapsed();
    result_.trials = progress_.trials;
    result_.failures = progress_.failures;
    return std::move(result_);
  }

 private:
  static constexpr double recall_share = 0.05;
  static constexpr double least_patience = 1;  // s that a first call may take in any budget

  using stage = support::stage;

  bool cancelled() const { return limits_.cancelled(); }

  /// Compiles, checks and times the default schedule, whose outputs are what candidates are
  /// compared with. False when it is cancelled before that.
  bool start_baseline() {
    const space::context where{w_.machine, w_.exec->threads};
    {
      const stage at("sketch");
      sketches_ = sketches_of(w_.space, where, w_.function, o_.seed, result_.remarks);
    }
    schedule first = first_of(sketches_, w_.space, where, w_.function, o_.seed);
    if (w_.space.has_postprocs())
      finish_ = [this, where](schedule& s) { w_.space.finish(s, where); };
    built b = build_unmeasured(first, sketches_, w_,
                               [this](const schedule& s) { return timed_.make(s.function()); });
    records_.from = made_on(w_.machine);
    result_.trace = first.trace().print();
    result_.code = b.artifact;
    default_check check(w_, bench_, needs_, o_.seed, result_.remarks);
    {
      const stage at("verify");
      check.at_small_extents(where);
      check.alternatives(forms_.all());
    }
    const measurement once = timed_.run(b, std::max(least_patience, budget_.left_at_most()));
    if (once.failed == failure::cancelled && cancelled()) return false;
    if (once.failed == failure::timeout) {
      result_.remarks.push_back("a call of the default schedule takes longer than the budget of " +
                                time_text(o_.seconds) + ": nothing was measured");
      return false;
    }
    if (!once.ok()) throw build_error("the default schedule does not run: " + once.detail);
    {
      const stage at("verify");
      std::vector<std::vector<std::byte>> outputs = bench_.data().outputs();
      spot_list spots = check.at_points(outputs, o_.seconds);
      expected_ = expected_outputs(w_.function, bench_.data(), needs_, std::move(outputs),
                                   std::move(spots), non_finite::apart);
      bench_.expect(expected_);
    }
    const measurement m =
        budget_.is_slow(once.best()) && bench_.runs_as_timed() ? once : timed_.measure(b, {});
    result_.baseline = result_.best = m.ok() ? m.median() : once.best();
    limits_.note_best(result_.best);
    progress_.baseline = progress_.best = result_.baseline;
    budget_.keep(wanted_for_finals(result_.baseline, result_.baseline, 1, 1));
    baseline_ = std::move(b);
    seen_.insert(ir::workload_key(first.function()));
    records_.keep(result_.trace, m.ok() ? m : once);
    parents_.add({first.trace(), result_.baseline});
    start_strategy();
    first_ = first.trace();
    if (const auto c = replay(first.trace(), w_.function, o_.seed))
      strategy_->learn(std::span(&*c, 1), std::span(&result_.baseline, 1));
    return true;
  }

  /// What earlier sessions measured: all of it is learned from and not measured again, as far as
  /// replaying it does not take the time to measure; the fastest, which come first, are parents.
  void recall() {
    const stage at("database");
    earlier_results earlier(w_, db_, o_.seed, seen_, result_.remarks);
    earlier.read_measured(parent_list::most, share_of_time(recall_share));
    earlier.read_failed(records_.from, share_of_time(recall_share));
    parents_.add_all(std::move(earlier.parents));
    if (!earlier.known.empty()) strategy_->learn(earlier.known, earlier.seconds);
    for (candidate& c : earlier.read_near(finish_)) pending_.push_back(std::move(c));
    parents_.keep_fastest();
  }

  /// The first sketch of every other algorithm is measured, whatever is expected of it: a model sees
  /// nothing of what a call of a library does. Where arguments have several forms, which share the candidates of a
  /// session, the other sketches of the workload's own algorithm come with their first decisions, too. What earlier
  /// sessions measured is known: in short ones the first algorithm would keep the others from their turn.
  void await_alternatives() {
    if (!ir::has_alternatives(w_.function)) return;
    std::vector<trace> awaited = first_of_each_algorithm(w_.function, first_, sketches_);
    if (forms_.any())
      for (trace& t : others_of_algorithm(first_, sketches_)) awaited.push_back(std::move(t));
    std::vector<candidate> nearby = std::exchange(pending_, {});
    for (const trace& t : awaited) {
      std::optional<candidate> c = replay(t, w_.function, o_.seed, nullptr, finish_);
      if (c && seen_.insert(c->identity).second) pending_.push_back(std::move(*c));
    }
    std::move(nearby.begin(), nearby.end(), std::back_inserter(pending_));
  }

  void start_strategy() {
    const bool has_postprocs = static_cast<bool>(finish_);
    strategy_ = strategy_of(w_, o_, db_, has_postprocs, share_of_time(0.25), result_.remarks);
    strategy_->start(task_of(w_, sketches_, finish_), o_.seed);
    keep_remark();
  }

  /// What the strategy has to say, at its start or by the end of the session.
  void keep_remark() {
    if (std::string text = strategy_->remark();
        !text.empty() && !support::contains(result_.remarks, text))
      result_.remarks.push_back(std::move(text));
  }

  /// What says when a share of the time that is left is over.
  std::function<bool()> share_of_time(double share) const {
    const double until = budget_.elapsed() + share * budget_.left_for_search();
    return [this, until] { return limits_.over() || budget_.elapsed() > until; };
  }

  std::vector<candidate> proposals(std::size_t count) {
    std::vector<candidate> out = std::move(pending_);
    pending_.clear();
    const std::size_t wanted = count * static_cast<std::size_t>(std::max(o_.model.oversample, 1));
    const std::size_t refused = strategy_->refused();
    std::vector<candidate> behind;  // of a form that others have left behind
    const auto is_behind = [&](const candidate& c) {
      return forms_.gets_no_more(forms_.of(c.scheduled.trace()), result_.best);
    };
    // half of what is left is for measuring what is found
    for (candidate& c :
         strategy_->propose(wanted - std::min(wanted, out.size()), share_of_time(0.5)))
      if (seen_.insert(c.identity).second) (is_behind(c) ? behind : out).push_back(std::move(c));
    if (out.empty()) out = std::move(behind);
    progress_.failures[failure::schedule] += static_cast<int>(strategy_->refused() - refused);
    if (progress_.failures[failure::schedule] == 0) progress_.failures.erase(failure::schedule);
    return best_scored(o_.model, std::move(out), count);
  }

  /// Candidates for a batch of `count`, without those that a callback drops.
  /// @param coming trials that come before these
  proposed_batch propose(std::size_t count, std::size_t coming) {
    const auto left = static_cast<std::size_t>(std::max(o_.trials - progress_.trials, 0));
    proposed_batch out;
    count = std::min(count, left - std::min(left, coming));
    if (count > 0) out.candidates = proposals(count);
    out.is_empty = out.candidates.empty();
    if (o_.callbacks.before_build)
      std::erase_if(out.candidates,
                    [&](const candidate& c) { return drops(o_.callbacks.before_build(c)); });
    return out;
  }

  void round() {
    const auto proposer = [this](std::size_t n, std::size_t coming) { return propose(n, coming); };
    limits_.note_round(!batches_.advance(proposer));
    std::vector<candidate> tried;
    std::vector<measurement> measured;
    while (batches_.left() > 0 && !limits_.stops()) {
      batches_.look_ahead(proposer);
      candidate_batches::taken next = take_next();
      measured.push_back(try_one(next.what, next.code));
      tried.push_back(std::move(next.what));
    }
    batches_.end_batch();
    drop_vetoed(tried, measured);
    // a model that nobody asks any more need not be trained
    if (!limits_.over() || o_.method) learn(tried, measured);
    if (o_.model.learn) o_.model.learn(tried, measured);
    parents_.keep_fastest();
    ++progress_.round;
  }

  candidate_batches::taken take_next() {
    const stage at("compile");
    return batches_.take();
  }

  /// Whether a callback drops the candidate that it was asked about.
  bool drops(verdict v) {
    if (v == verdict::stop) limits_.stop();
    if (v == verdict::veto) ++progress_.failures[failure::veto];
    return v != verdict::go_on;
  }

  /// Keeps and tells how many traces did not replay; a session without trials has told so.
  void note_refused(int count) {
    const std::string last = strategy_->last_refusal();
    records_.keep_refused(count, last);
    if (progress_.trials > 0)
      result_.remarks.push_back(std::to_string(count) +
                                " traces that were drawn beside the trials were refused" +
                                (last.empty() ? "" : ", the last one: " + last));
  }

  /// Tells why the search is over, and keeps no time for it that it does not use.
  void note_end() {
    if (progress_.trials == 0 && !cancelled())
      result_.remarks.push_back("no candidate was measured: " +
                                limits_.absence(sketches_.size(), *strategy_));
    if (progress_.trials > 0 && result_.end == session_end::space)
      result_.remarks.push_back(end_text(result_.end, progress_.trials) + ", " +
                                time_text(budget_.left()) + " before the end");
    if (progress_.trials == 0) return;
    if (result_.end == session_end::gain || result_.end == session_end::space) report();
    if (result_.end == session_end::gain) budget_.end_search();
  }

  void learn(const std::vector<candidate>& batch, const std::vector<measurement>& measured) {
    const stage at("learn");
    std::vector<double> seconds;
    for (const measurement& m : measured)
      seconds.push_back(m.ok() ? m.median() : std::numeric_limits<double>::infinity());
    strategy_->learn(std::span(batch).first(seconds.size()), seconds);
  }

  measurement try_one(const candidate& c, const built& b) {
    measurement m;
    const argument_form* form = forms_.of(c.scheduled.trace());
    double raw = 0;  // s, of a call without what is charged for its form
    ++progress_.since_best;
    if (!b) {
      m.failed = b.late ? failure::timeout : b.rejected ? failure::resources : failure::build;
      m.detail = b.error;
    } else if (o_.callbacks.before_run && drops(o_.callbacks.before_run(c, b))) {
      return vetoed();
    } else {
      const candidate_timing timing =
          timing_of_candidate(o_.measuring, budget_, result_.baseline, result_.best);
      m = timed_.measure(b, timing.options, form);
      if (m.ok()) raw = m.best();
      charge(m, form);
      if (timing.ends_with_session && m.failed == failure::timeout) m.failed = failure::cancelled;
    }
    if (o_.callbacks.after_run && drops(o_.callbacks.after_run(c, b, m))) return vetoed();
    if (m.ok() && (m.median() < result_.best || is_rival(m.median(), form) || known_.contains(c)))
      accept(c, b, m,
             bench_.leaves_outputs(raw, form) ? checked_call{m} : timed_.run_to_check(b, form));
    if (m.ok() && forms_.any()) forms_.note(form, m.median());
    ++progress_.trials;
    limits_.note_best(result_.best);
    progress_.last = m.ok() ? m.median() : 0;
    if (m.failed != failure::none) {
      ++progress_.failures[m.failed];
      if (m.failed != failure::cancelled) records_.keep_failed(c, m);
    } else {
      records_.keep(text_of(c), m);
      parents_.add({c.scheduled.trace(), m.median()});
    }
    report();
    return m;
  }

  /// The fastest of each form is timed with the finalists where it may win yet: no form that seemed faster once is
  /// to be slower than what needs none, and none is lost by one time that something disturbed.
  bool is_rival(double seconds, const argument_form* form) const {
    if (!forms_.any() || !(seconds < finalists_.seconds_of(form))) return false;
    return forms_.may_win(form, seconds, result_.best) && (form || seconds < result_.baseline);
  }

  /// A finalist must compute the same as the default schedule, on extreme values too, and as f64
  /// where that is known.
  /// @param call of what the outputs are
  void accept(const candidate& c, const built& b, measurement& m, const checked_call& call) {
    const stage at("verify");
    const argument_form* form = forms_.of(c.scheduled.trace());
    const measurement& done = call.what;
    std::string wrong =
        done.ok() ? expected_.difference(bench_.data(form), call.compared) : done.detail;
    if (wrong.empty() && !cancelled())
      wrong = extremes_.difference(baseline_, b, form, result_.baseline, o_.seconds);
    if (!wrong.empty()) {
      m.failed = done.ok() ? failure::wrong_result : done.failed;
      m.detail = wrong;
      if (m.failed != failure::cancelled)
        result_.remarks.push_back("a candidate was dropped: " + wrong);
      return;
    }
    if (m.median() < result_.best) progress_.since_best = 0;
    result_.best = progress_.best = std::min(result_.best, m.median());
    finalists_.add({text_of(c), b, m.median(), form, known_.contains(c)});
    budget_.keep(wanted_for_finals(result_.best, result_.baseline, finalists_.size(), 5));
  }

  void report() {
    progress_.elapsed = budget_.elapsed();
    progress_.left = budget_.left();
    progress_.rate = progress_.trials / std::max(progress_.elapsed, 1e-3);
    if (o_.events) o_.events(progress_);
  }

  /// Finalists of earlier sessions have to be built again: those that are faster than all of this one, the
  /// fastest of them however late it is.
  void revive() {
    const double best = result_.best;
    std::size_t revived = 0;
    for (const parent& p : parents_) {
      if (revived == finalists_.most() || p.seconds >= best) return;
      if (revived > 0 && budget_.left() <= 0) return;
      const auto c = replay(p.trace, w_.function, o_.seed);
      if (!c) continue;
      const built b = timed_.make(c->scheduled.function());
      measurement m;
      m.seconds = {p.seconds};
      if (!b) continue;
      accept(*c, b, m, timed_.run_to_check(b, forms_.of(p.trace)));
      revived += m.ok();
    }
  }

  void finish() {
    if (!cancelled()) revive();
    finalists_.leave_out([&](const argument_form* form) {
      return forms_.any() && forms_.is_behind(form, result_.best);
    });
    const std::vector<contestant> all =
        finalists_.beside({&baseline_, result_.baseline, result_.trace});
    final_standing standing(all, timed_.in_turn(all, budget_, [this] { return cancelled(); }));
    while (standing.improved() && !cancelled() && !holds(standing.leader().trace))
      standing.drop_leader();
    result_.noise = standing.noise();
    result_.improved = standing.improved();
    result_.baseline = standing.time_of_default().median();
    result_.best = standing.time_of_leader().median();
    if (standing.improved()) {
      result_.trace = standing.leader().trace;
      result_.code = standing.leader().code->artifact;
    } else if (!cancelled()) {
      const examination e = examiner_.examine(result_.trace);
      result_.checked = e.text;
      if (e.differs) {
        result_.checked = "tested: it differs in exact arithmetic";
        result_.remarks.push_back("the default schedule is not proved: " + e.text);
      }
    }
    if (!cancelled()) records_.choose(result_, standing.time_of_leader());
    if (!w_.machine.cpu) return;
    if (const auto c = replay(trace::parse(result_.trace), w_.function, o_.seed, nullptr, finish_))
      for (std::string& remark : pass::scalar_blocks(c->scheduled.function(), *w_.machine.cpu))
        result_.remarks.push_back(std::move(remark));
  }

  /// False for a candidate that computes something else in exact arithmetic.
  bool holds(const std::string& text) {
    const examination e = examiner_.examine(text);
    if (!e.differs) {
      result_.checked = e.text;
      return true;
    }
    ++progress_.failures[failure::wrong_result];
    result_.remarks.push_back("a candidate was dropped: " + e.text);
    return false;
  }

  const workload& w_;
  const session_options& o_;
  database& db_;
  form_times forms_;
  time_budget budget_;
  test_bench bench_;
  timed_bench timed_{bench_};
  value_needs needs_;
  tuning_result result_;
  extreme_check extremes_;
  examiner examiner_;
  progress progress_;
  session_limits limits_;
  session_records records_;
  std::vector<schedule> sketches_;
  finisher finish_;
  std::unique_ptr<strategy> strategy_;
  parent_list parents_;
  trace first_;  // of the default schedule
  std::vector<candidate> pending_;
  std::set<support::hash128> seen_;
  expected_outputs expected_;
  built baseline_;
  candidate_batches batches_;
  finalists finalists_;
  known_candidates known_;
  support::stage_clock clock_;
};

}  // namespace detail

TILEWRIGHT_INLINE tuning_result tune(const workload& w, const session_options& options,
                                     database& db) {
  return tune(w, options, db, {}, {});
}

TILEWRIGHT_INLINE tuning_result tune(const workload& w, const session_options& options,
                                     database& db, const std::vector<argument_form>& forms,
                                     const std::vector<std::string>& known) {
  const support::default_float_environment ours;
  detail::check_amount(w);
  detail::check_machine(w, options.measuring);
  return detail::tuner(w, options, db, forms, known).run();
}

TILEWRIGHT_INLINE std::string algorithm_of(const trace& t) {
  return detail::chosen_algorithm(t).name;
}

}  // namespace tilewright::search
