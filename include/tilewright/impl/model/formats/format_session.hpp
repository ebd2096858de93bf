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
#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/trace_names.hpp>
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
        plain_(ir::algorithm_names(task_.what.function)) {
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

  /// Products for each element: elements of results for each row.
  double columns() const {
    double out = 0;
    for (const search::operand& o : search::operands(task_.what.function))
      if (o.written) out += static_cast<double>(o.elements());
    const auto rows = static_cast<double>(kernel_.rows_of(a_).rows);
    return std::max(out / std::max(rows, 1.0), 1.0);
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
    const search::tuning_result r = search::tune(w, o, *db_, forms);
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
};

}  // namespace tilewright::detail
