// The search over formats of a sparse matrix and schedules: one session, whose traces begin with the
// format, and what the database keeps of it.
//
// A record has the key of the kernel on compressed rows with a word of its own, and in the place of
// extents the numbers of the pattern's fingerprint: what is stored for the nearest one is how a like
// pattern begins. The winner is stored a second time as the schedule of the kernel in its format, where
// calls with the converted matrix find it with its code.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/dispatch/call_session.hpp>
#include <tilewright/impl/dispatch/progress_printer.hpp>
#include <tilewright/impl/model/formats/first_format.hpp>
#include <tilewright/impl/model/formats/formatted_kernel.hpp>
#include <tilewright/impl/model/formats/timed_call.hpp>
#include <tilewright/impl/search/measurement/final_timing.hpp>
#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::detail {

/// A format of one matrix.
struct format_candidate {
  std::size_t choice = 0;                                    // of the formatted_kernel
  std::shared_ptr<converted_arrays> converted;               // null: compressed rows
  double fastest = std::numeric_limits<double>::infinity();  // s, of the calls that were measured
};

/// What a database has for a pattern.
struct stored_format {
  std::size_t choice = 0;
  double distance = 0;  // from the pattern that it was found for; 0: the same
  search::record record;
};

class format_session {
 public:
  /// @param look what looking for changes takes at each call // s
  format_session(const formatted_kernel& kernel, const tuned_options& options,
                 std::shared_ptr<search::database> db, const pattern_fingerprint& pattern,
                 const dispatch::call_argument* a, double look)
      : kernel_(kernel),
        options_(options),
        db_(std::move(db)),
        a_(a),
        look_(look),
        pattern_(pattern),
        task_(kernel.code(0).tuning(a)),
        plain_(ir::algorithm_names(task_.what.function)),
        plain_key_(task_.what.key) {
    task_.session = dispatch::call_session(options, *db_, task_.what.key);
    search::workload& w = task_.what;
    const double calls = std::max(options.calls, 1e-9);
    w.key.arguments += " formats" + std::string(options.matrices_change ? "" : "-kept") + "-c" +
                       std::to_string(std::lround(std::log2(calls)));
    support::hasher family;
    family.add(std::string_view(w.family));
    if (options.most_format_bytes < no_limit) {  // what is found within a limit is for no others
      w.key.arguments += "-b" + std::to_string(options.most_format_bytes);
      family.add(std::to_string(options.most_format_bytes));
    }
    family.add(std::string_view(options.matrices_change ? "formats" : "kept formats"));
    w.family = family.finish().hex();
    w.extents = pattern.numbers();
    w.extents.push_back(std::max<std::int64_t>(1, std::llround(16 * columns())));
    w.extents.push_back(std::max<std::int64_t>(1, std::llround(std::min(1e6 * calls, 1e18))));
  }

  /// Products for each element: elements of results for each row; where results are elements themselves, of other
  /// operands.
  double columns() const {
    double results = 0, longest = 0;
    const std::vector<search::operand> operands = search::operands(task_.what.function);
    const auto rows = static_cast<double>(kernel_.rows_of(a_).rows);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const search::operand& o = operands[i];
      const auto elements = static_cast<double>(o.elements());
      if (o.written && !kernel_.is_follower(i)) results += elements;
      if (o.extents.size() > 1)
        longest = std::max(longest, elements / static_cast<double>(o.extents[0]));
    }
    return std::max(kernel_.followers() > 0 ? longest : results / std::max(rows, 1.0), 1.0);
  }

  /// What is stored for the pattern, or for one that is nearly it.
  std::optional<stored_format> stored() const {
    constexpr double near = 1;
    const search::workload& w = task_.what;
    stored_format out;
    if (auto r = db_->chosen(w.key)) {
      out.record = std::move(*r);
    } else if (auto like = db_->nearest(w.family, w.extents, w.key)) {
      out.distance = search::extent_distance(like->extents, w.extents);
      if (!(out.distance <= near)) return std::nullopt;
      out.record = std::move(*like);
    } else {
      return std::nullopt;
    }
    try {
      const std::optional<place> at =
          place_of(search::algorithm_of(trace::parse(out.record.trace)));
      if (!at) return std::nullopt;
      out.choice = at->choice;
      return out;
    } catch (const argument_error&) {  // a trace of another version
      return std::nullopt;
    }
  }

  /// Tunes over all of `candidates`, which the first begins: compressed rows. Stores what was found.
  /// @returns the number of the winner in `candidates`
  std::size_t run(std::vector<format_candidate>& candidates, std::vector<std::string>& remarks) {
    if (kernel_.followers() > 0) return run_apart(candidates, remarks);
    search::workload& w = task_.what;
    std::vector<ir::function> others;
    std::vector<search::argument_form> forms;
    for (format_candidate& c : candidates) {
      if (c.choice == 0) {
        ir::note_pattern(w.function, pattern_note_of(c));
        continue;
      }
      for (std::size_t k = 0; k < plain_.size(); ++k) add_form(c, k, others, forms);
    }
    const std::vector<std::string> known = known_traces(!others.empty());
    w.function = ir::with_reformatted(std::move(w.function), others);
    search::session_options o = task_.session;
    dispatch::detail::progress_printer print(options_.verbose);
    o.events = [&](const search::progress& p) {
      print(w.function.name, p);
      if (options_.events) options_.events({search::event::kind::progress, w.function.name, {}, p});
    };
    o.callbacks.after_run = [&](const search::candidate& c, const search::built& b,
                                const search::measurement& m) {
      note_time(c, m, candidates);
      return options_.callbacks.after_run ? options_.callbacks.after_run(c, b, m)
                                          : search::verdict::go_on;
    };
    constexpr double leased = 600;  // s
    const bool owns = db_->lease(w.key, leased);
    const search::tuning_result r = search::tune(w, o, *db_, forms, known);
    if (owns) db_->release(w.key);
    print.end(w.function.name, r.remarks);
    remarks = r.remarks;
    remarks.push_back(
        std::to_string(r.trials) + " candidates in " + std::to_string(candidates.size()) +
        " formats measured in " + support::fixed_text(r.seconds, 1) +
        " s: " + search::end_text(r.end, r.trials) + ": " + search::profile_text(r.profile));
    candidates[0].fastest = std::min(candidates[0].fastest, r.baseline);
    const std::optional<place> won = place_of(search::algorithm_of(trace::parse(r.trace)));
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (candidates[c].choice == (won ? won->choice : 0)) {
        store(r, candidates[c], won ? won->algorithm : 0);
        return c;
      }
    return 0;
  }

  /// The share of a call that a conversion takes, with looking for changes. // s
  double charge_of(const format_candidate& c) const {
    return c.converted ? look_ + c.converted->conversion_seconds() / options_.calls : 0;
  }
  /// A format has to gain so much of a call, so that noise converts nothing.
  static constexpr double least_gain = 0.03;

  /// The fastest calls that a database knows of a format. // s
  double known_seconds(const search::record& of, const format_candidate& c) const {
    double out = std::numeric_limits<double>::infinity();
    for (const search::record& r : db_->top(of.key, 4096)) {
      try {
        const auto at = place_of(search::algorithm_of(trace::parse(r.trace)));
        if (at && at->choice == c.choice) out = std::min(out, r.best());
      } catch (const argument_error&) {
        continue;
      }
    }
    return without_charge(out, c);
  }

 private:
  /// Which algorithm of which format a name stands for.
  struct place {
    std::size_t choice, algorithm;
  };

  /// The same for a kernel with parameters that are stored like the matrix, whose values lie elsewhere in each format: a
  /// session for each, and calls in turns, which move these values, too. Compressed rows get half of the time, so that
  /// they are found nearly as fast as where no other format is looked for.
  std::size_t run_apart(std::vector<format_candidate>& candidates,
                        std::vector<std::string>& remarks) {
    constexpr double of_turns = 0.1, of_rows = 0.5;  // shares of the time
    const auto others = static_cast<double>(candidates.size() - 1);
    std::vector<std::size_t> called;  // of `candidates`
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      try {
        const double share = others == 0 ? 1 : c == 0 ? of_rows : (1 - of_rows) / others;
        tune_alone(candidates[c], (1 - of_turns) * share, remarks);
        called.push_back(c);
      } catch (const error& e) {
        if (c == 0) throw;
        remarks.push_back(kernel_.name(candidates[c].choice) + ": " + e.what());
      }
    }
    timed_call call(kernel_, a_);
    const auto visit = [&](std::size_t i) {
      const format_candidate& c = candidates[called[i]];
      return call.visit(c.choice, c.converted.get());
    };
    std::vector<search::argument_form> forms(called.size());
    std::vector<search::detail::contestant> all;
    double two_turns = 0;  // s
    for (std::size_t i = 0; i < called.size(); ++i) {
      const format_candidate& c = candidates[called[i]];
      forms[i].charge = charge_of(c);
      forms[i].least_gain = least_gain;
      const search::argument_form* form = c.converted ? &forms[i] : nullptr;
      search::measurement first = visit(i);
      search::detail::charge(first, form);
      all.push_back({nullptr, first.best(), {}, form});
      two_turns += 2 * search::detail::visit_seconds(first.best(), true);
    }
    constexpr int most_turns = 25;
    const search::detail::time_budget budget(
        std::max(two_turns, std::min(of_turns * task_.session.seconds, 1.0)));
    std::vector<search::measurement> times =
        search::detail::visited_in_turn(all, most_turns, budget, visit, [] { return false; });
    const search::detail::final_result result = search::detail::winner_of(all, times);
    const std::size_t won = result.improved ? result.winner : 0;
    for (std::size_t i = 0; i < called.size(); ++i) {
      if (times[i].seconds.empty()) times[i].seconds.push_back(all[i].seconds);
      format_candidate& c = candidates[called[i]];
      c.fastest = without_charge(times[i].best(), c);
      keep_choice(c.choice, times[i], i == won);
    }
    return called[won];
  }

  /// @param share of the time and of the trials
  void tune_alone(const format_candidate& c, double share, std::vector<std::string>& remarks) {
    kernel_.with(
        c.choice, c.converted.get(), a_,
        [&](dispatch::dispatcher& d, const dispatch::call_argument* all) {
          const dispatch::tuning_task own = d.tuning(all);
          if (db_->chosen(own.what.key)) return d.warm(all);
          search::session_options o = dispatch::call_session(options_, *db_, own.what.key);
          o.seconds *= share;
          if (o.trials != std::numeric_limits<int>::max())
            o.trials = std::max(1, static_cast<int>(o.trials * share));
          if (options_.events)
            o.events = [&](const search::progress& p) {
              options_.events({search::event::kind::progress, own.what.function.name, {}, p});
            };
          const search::tuning_result r = search::tune(own.what, o, *db_);
          remarks.push_back(kernel_.name(c.choice) + ": " + std::to_string(r.trials) +
                            " candidates in " + support::fixed_text(r.seconds, 1) + " s");
          d.warm(all);
          d.reload(all);
        });
  }

  /// What a like pattern finds: the format alone, whose schedule stands beside it.
  void keep_choice(std::size_t choice, const search::measurement& m, bool chosen) {
    search::record r = search::wanted_record(task_.what);
    if (choice > 0)
      r.trace = "sch.work_on(func_name=\"" + name_in(choice, plain_.front()) + "\")\n";
    r.seconds = m.seconds;
    r.from = search::made_on(task_.what.machine);
    r.chosen = chosen;
    db_->add(r);
  }

  /// What a database has for compressed rows alone, so that a choice among formats is no slower.
  /// @param named whether traces have to say which algorithm they are of
  std::vector<std::string> known_traces(bool named) const {
    constexpr std::size_t most = 3;
    std::vector<search::record> records = db_->top(plain_key_, most);
    if (auto chosen = db_->chosen(plain_key_)) records.insert(records.begin(), std::move(*chosen));
    std::vector<std::string> out;
    for (const search::record& r : records) {
      try {
        const trace t = search::by_name(trace::parse(r.trace), task_.what.function);
        std::string text = t.print();
        if (named && search::algorithm_of(t).empty())
          text = "sch.work_on(func_name=\"" + plain_.front() + "\")\n" + text;
        if (!support::contains(out, text)) out.push_back(std::move(text));
      } catch (const error&) {  // a trace of another version
      }
    }
    return out;
  }

  std::string name_in(std::size_t choice, const std::string& algorithm) const {
    const known_format& f = kernel_.format(choice);
    return ir::sized_name(algorithm + "_in_" + f.family, f.numbers());
  }
  std::optional<place> place_of(const std::string& name) const {
    for (std::size_t k = 0; k < plain_.size(); ++k) {
      if (name == plain_[k] || name.empty()) return place{0, k};
      for (std::size_t c = 1; c < kernel_.size(); ++c)
        if (name == name_in(c, plain_[k])) return place{c, k};
    }
    return std::nullopt;
  }

  /// What a candidate took without its charge.
  void note_time(const search::candidate& c, const search::measurement& m,
                 std::vector<format_candidate>& candidates) const {
    const auto at = place_of(search::algorithm_of(c.scheduled.trace()));
    if (!m.ok() || !at) return;
    for (format_candidate& one : candidates)
      if (one.choice == at->choice)
        one.fastest = std::min(one.fastest, without_charge(m.best(), one));
  }
  double without_charge(double seconds, const format_candidate& c) const {
    return c.converted ? (seconds - charge_of(c)) * (1 - least_gain) : seconds;
  }

  /// What the cost model sees of the pattern in a format.
  ir::pattern_note pattern_note_of(const format_candidate& c) const {
    const int block = c.choice > 0 ? kernel_.format(c.choice).block() : 0;
    ir::pattern_note out{pattern_.gap / std::max(block, 1),
                         pattern_.mean_row,
                         pattern_.spread,
                         pattern_.longest,
                         pattern_.empty,
                         pattern_.gini};
    if (c.converted) out.padding = c.converted->padding();
    const auto& sizes = pattern_fingerprint::block_sizes;
    const auto same = std::find(sizes.begin(), sizes.end(), block);
    out.fill =
        pattern_.fill[same == sizes.end() ? 0 : static_cast<std::size_t>(same - sizes.begin())];
    return out;
  }

  void add_form(format_candidate& c, std::size_t algorithm, std::vector<ir::function>& others,
                std::vector<search::argument_form>& forms) {
    kernel_.with(c.choice, c.converted.get(), a_,
                 [&](dispatch::dispatcher& d, const dispatch::call_argument* all) {
                   ir::function f = ir::alternatives(d.task(all).function).at(algorithm);
                   f.name = name_in(c.choice, plain_[algorithm]);
                   ir::attr::list sizes;
                   for (const std::int64_t size : kernel_.format(c.choice).numbers())
                     sizes.emplace_back(size);
                   f.attrs[ir::sizes_attribute] = std::move(sizes);
                   ir::note_pattern(f, pattern_note_of(c));
                   others.push_back(std::move(f));
                 });
    search::argument_form form;
    form.algorithm = others.back().name;
    form.charge = charge_of(c);
    form.least_gain = least_gain;
    form.make = [this, choice = c.choice, algorithm](const search::runner& plain) {
      return kernel_.formed(choice, algorithm, plain);
    };
    forms.push_back(std::move(form));
  }

  /// The winner as the chosen schedule of the kernel in its format.
  void store(const search::tuning_result& r, const format_candidate& c,
             std::size_t algorithm) const {
    kernel_.with(c.choice, c.converted.get(), a_,
                 [&](dispatch::dispatcher& d, const dispatch::call_argument* all) {
                   const search::workload& own = d.task(all);
                   const trace whole = trace::parse(r.trace);
                   trace rest;
                   for (std::size_t i = search::detail::chosen_algorithm(whole).length;
                        i < whole.size(); ++i)
                     rest.append(whole[i].what, whole[i].choice);
                   std::string text = rest.print();
                   const std::vector<ir::function> algorithms = ir::alternatives(own.function);
                   if (algorithms.size() > 1)
                     text = "sch.work_on(func_name=\"" + algorithms.at(algorithm).name + "\")\n" +
                            text;
                   search::record best = search::wanted_record(own);
                   best.trace = search::trace_by_position(text, own.function);
                   best.seconds = {without_charge(r.best, c)};
                   best.from = search::made_on(own.machine);
                   best.chosen = true;
                   best.checked = r.checked;
                   db_->add_code(own.key, best.trace, best.from, backend::serialize(r.code));
                   db_->add(best);
                   d.warm(all);
                   if (c.choice == 0) d.reload(all);
                 });
  }

  const formatted_kernel& kernel_;
  const tuned_options& options_;
  std::shared_ptr<search::database> db_;
  const dispatch::call_argument* a_;
  double look_;
  pattern_fingerprint pattern_;
  dispatch::tuning_task task_;
  std::vector<std::string> plain_;  // names of the kernel's algorithms
  search::record_key plain_key_;    // of compressed rows alone
};

}  // namespace tilewright::detail
