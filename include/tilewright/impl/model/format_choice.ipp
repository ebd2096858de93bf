#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <tilewright/impl/dispatch/call_mode.hpp>
#include <tilewright/impl/model/formats/format_session.hpp>
#include <tilewright/impl/model/formats/ruled_arrays.hpp>
#include <tilewright/model/format_choice.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/threads/stack.hpp>

namespace tilewright {

struct format_choice::state {
  /// What is known of the matrix at one place.
  struct matrix {
    detail::rows_of_call at;
    enum class stage { fresh, choosing, chosen } is = stage::fresh;
    std::size_t choice = 0;  // of `kernel`
    std::shared_ptr<detail::converted_arrays> converted;
    std::shared_ptr<dispatch::dispatcher> ruled;  // of the stated format; null: that of the choice
    std::uint64_t pattern = 0, values = 0;        // content_number
    std::string text;                             // what the report says of the formats
  };
  static constexpr std::size_t most_kept = 8;  // matrices

  tuned_options options;
  std::shared_ptr<search::database> db;
  std::vector<any_kernel> algorithms;
  detail::formatted_kernel kernel;
  std::mutex mutex;            // of what follows
  std::list<matrix> matrices;  // the last used one first
  /// Of a stated format, one for each list of axes.
  std::map<std::string, std::shared_ptr<dispatch::dispatcher>> ruled;

  state(const std::vector<any_kernel>& a, const tuned_options& o)
      : options(o),
        db(o.own_database ? o.own_database : search::database::shared(o.database)),
        algorithms(checked(a, o)),
        kernel(algorithms, of_one_format(o, db), !o.format) {}

  /// @throws argument_error where a stated format cannot take the place of compressed rows
  static const std::vector<any_kernel>& checked(const std::vector<any_kernel>& algorithms,
                                                const tuned_options& o) {
    if (!o.format) return algorithms;
    const std::string name(algorithms.at(0).name());
    for (const any_kernel& k : algorithms)
      if (!detail::only_compressed(k, false))
        throw argument_error(
            name +
            ": a format is stated for the one parameter with compressed<\"K\"> of a "
            "kernel that has no other sparse one, and looks none of its elements "
            "up; leave the option format out");
    if (o.reductions != reductions::any_order)
      throw argument_error(name +
                           ": a format changes the order in which terms are combined, and "
                           "reductions are in_order; leave one of both options out");
    return algorithms;
  }

  /// Options of a kernel in one format: it is never tuned by itself.
  static tuned_options of_one_format(tuned_options o, std::shared_ptr<search::database> db) {
    o.calls = 0;
    o.format = nullptr;
    o.own_database = std::move(db);
    // what nothing is stored for runs by the nearest record, or else by the default schedule: for several
    // columns that is faster than what the model ranks first
    o.mode = mode::off;
    o.effort = effort::measure;
    return o;
  }

  std::uint64_t pattern_number(const detail::rows_of_call& r) const {
    const auto size = static_cast<std::size_t>(tilewright::bytes(r.index));
    return detail::content_number(
        r.indices, static_cast<std::size_t>(r.nonzeros) * size,
        detail::content_number(r.offsets, static_cast<std::size_t>(r.rows + 1) * size, 1));
  }
  std::uint64_t values_number(const detail::rows_of_call& r) const {
    return detail::content_number(
        r.values, static_cast<std::size_t>(r.nonzeros) * static_cast<std::size_t>(r.element), 2);
  }

  /// Under the lock.
  matrix& find(const detail::rows_of_call& r) {
    for (auto m = matrices.begin(); m != matrices.end(); ++m)
      if (m->at == r) {
        matrices.splice(matrices.begin(), matrices, m);
        return matrices.front();
      }
    matrices.emplace_front();
    matrices.front().at = r;
    for (auto m = std::prev(matrices.end());
         matrices.size() > most_kept && m != matrices.begin();) {
      const auto before = std::prev(m);
      if (m->is != matrix::stage::choosing) matrices.erase(m);
      m = before;
    }
    return matrices.front();
  }

  /// What runs for a matrix.
  struct chosen {
    std::size_t choice = 0;
    std::shared_ptr<detail::converted_arrays> converted;
    std::string text;
    std::shared_ptr<dispatch::dispatcher> ruled = {};
  };
  chosen choose(const dispatch::call_argument* a);
  chosen decide(matrix& m, const dispatch::call_argument* a);
  chosen store_by_rule(matrix& m);
  std::shared_ptr<dispatch::dispatcher> code_of(const sparse::format_rule& rule);
  /// Calls `use` with the dispatcher of what was chosen, and the arguments that it takes; `runs` as there.
  template <class Use>
  void with(const chosen& c, const dispatch::call_argument* a, const Use& use,
            bool runs = false) const {
    kernel.with(c.ruled ? *c.ruled : kernel.code(c.choice), c.converted.get(), a, use, runs);
  }
  std::vector<std::shared_ptr<dispatch::dispatcher>> all_ruled() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<dispatch::dispatcher>> out;
    for (const auto& [axes, code] : ruled) out.push_back(code);
    return out;
  }
  void look_again(matrix& m) const;
};

namespace detail {

/// One choice for one matrix: what was stored for its like, what a session finds, or what the pattern
/// alone says.
class format_decision {
 public:
  format_decision(const formatted_kernel& kernel, const tuned_options& options,
                  std::shared_ptr<search::database> db, const rows_of_call& rows,
                  const dispatch::call_argument* a, double look)
      : kernel_(kernel),
        options_(options),
        rows_(rows),
        a_(a),
        look_(look),
        began_(seconds_now()),
        pattern_(fingerprint_of(
            {rows.offsets, rows.indices, rows.index, rows.rows, rows.columns, rows.nonzeros})),
        session_(kernel, options, std::move(db), pattern_, a, look) {
    text_ = line("pattern: " + pattern_.text());
  }

  format_candidate made() {
    if (std::optional<format_candidate> out = as_stored()) return std::move(*out);
    return options_.effort == effort::estimate ? by_pattern() : by_search();
  }
  const std::string& text() const { return text_; }

 private:
  static std::string line(const std::string& what) { return "  format    " + what + "\n"; }
  static std::string ms(double s) { return support::general_text(1e3 * s, 3) + " ms"; }

  format_candidate converted(std::size_t choice) const {
    format_candidate out;
    out.choice = choice;
    if (choice > 0)
      out.converted = kernel_.make(choice, rows_, filling::none, options_.most_format_bytes);
    return out;
  }

  std::optional<format_candidate> as_stored() {
    const std::optional<stored_format> found = session_.stored();
    if (!found) return std::nullopt;
    try {
      format_candidate out = converted(found->choice), plain;
      out.fastest = session_.known_seconds(found->record, out);
      plain.fastest = session_.known_seconds(found->record, plain);
      kernel_.with(
          out.choice, out.converted.get(), a_,
          [](dispatch::dispatcher& d, const dispatch::call_argument* all) { d.warm(all); });
      if (out.choice > 0) tell(plain, plain.fastest);
      tell(out, plain.fastest);
      end(out, found->distance > 0 ? "as for a pattern that is stored, " +
                                         support::fixed_text(found->distance, 2) + " away"
                                   : "as it is stored for this pattern");
      return out;
    } catch (const argument_error&) {  // a like pattern that the format does not suit
      return std::nullopt;
    }
  }

  /// What each format is expected to take, the best first, without those that may not be made.
  std::vector<std::pair<double, std::size_t>> in_order() {
    const double columns = session_.columns();
    const int index_bytes = tilewright::bytes(kernel_.index());
    const auto estimated = [&](const known_format* f) {
      return estimate(pattern_, f, columns, kernel_.element(), index_bytes,
                      static_cast<double>(kernel_.follower_bytes()));
    };
    const format_estimate rows = estimated(nullptr);
    std::vector<std::pair<double, std::size_t>> out{{rows.seconds, 0}};
    for (std::size_t c = 1; c < kernel_.size(); ++c) {
      const format_estimate e = estimated(&kernel_.format(c));
      if (const std::string why = why_not(e, rows, static_cast<double>(options_.most_format_bytes));
          !why.empty())
        text_ += line(kernel_.name(c) + ": " + why);
      else
        out.emplace_back(e.seconds + look_ + e.converts / options_.calls +
                             kernel_.followers() * moving_seconds(pattern_, e),
                         c);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// Where nothing is measured, compressed rows stay unless another format is expected to gain more than its
  /// estimate may be wrong by.
  std::vector<std::pair<double, std::size_t>> in_cautious_order() {
    constexpr double least_gain = 1.15;
    std::vector<std::pair<double, std::size_t>> out = in_order();
    const double least = out.front().first;
    const auto rows = std::find_if(out.begin(), out.end(), [&](const auto& one) {
      return one.second == 0 && one.first < least_gain * least;
    });
    if (rows != out.end()) std::rotate(out.begin(), rows, rows + 1);
    return out;
  }

  format_candidate by_pattern() {
    const auto order = in_cautious_order();
    const double chose = seconds_now() - began_;
    for (const auto& [seconds, choice] : order) {
      try {
        format_candidate out = converted(choice);
        kernel_.with(
            choice, out.converted.get(), a_,
            [](dispatch::dispatcher& d, const dispatch::call_argument* all) { d.warm(all); });
        tell(out, std::numeric_limits<double>::infinity());
        end(out, "by the pattern alone, in " + ms(chose));
        return out;
      } catch (const error& e) {
        text_ += line(kernel_.name(choice) + ": " + e.what());
      }
    }
    return {};
  }

  /// Each format that is measured takes memory for the arguments in it, and a share of the search.
  /// @param seconds that a call is expected to take
  /// @param first the least of them, with its choice; nothing: none was made yet
  std::string why_unmeasured(double seconds,
                             const std::optional<std::pair<double, std::size_t>>& first,
                             std::size_t measured) const {
    constexpr double hopeless = 1.5;                           // times the least
    const std::size_t most = kernel_.followers() > 0 ? 3 : 7;  // which have sessions of their own
    if (first && seconds > hopeless * first->first)
      return support::fixed_text(seconds / first->first, 1) + " times as long as in " +
             kernel_.name(first->second) + " is expected";
    return measured >= most ? "others are expected to be faster" : "";
  }

  format_candidate by_search() {
    std::vector<format_candidate> all{{}};
    std::optional<std::pair<double, std::size_t>> first;  // the best of those that can be made
    for (const auto& one : in_order()) {
      const auto& [seconds, choice] = one;
      if (const std::string why = choice == 0 ? "" : why_unmeasured(seconds, first, all.size());
          !why.empty()) {
        text_ += line(kernel_.name(choice) + ": not measured: " + why);
        continue;
      }
      try {
        if (choice > 0) {
          format_candidate made = converted(choice);
          kernel_.with(choice, made.converted.get(), a_,
                       [](dispatch::dispatcher& d, const dispatch::call_argument* args) {
                         (void)d.task(args);
                       });
          all.push_back(std::move(made));
        }
        if (!first) first = one;
      } catch (const error& e) {
        text_ += line(kernel_.name(choice) + ": " + e.what());
      }
    }
    std::vector<std::string> remarks;
    const std::size_t won = session_.run(all, remarks);
    const double plain = all[0].fastest;
    for (const format_candidate& c : all) tell(c, plain);
    for (const std::string& r : remarks) text_ += line(r);
    end(all[won], "by search");
    return std::move(all[won]);
  }

  void tell(const format_candidate& c, double plain) {
    std::string out = kernel_.name(c.choice) + ": ";
    out += std::isfinite(c.fastest) ? ms(c.fastest) + " a call" : std::string("not measured");
    if (c.converted) {
      const double converts = c.converted->conversion_seconds(), gain = plain - c.fastest - look_;
      out += ", conversion " + ms(converts) + ", " +
             support::fixed_text(100 * c.converted->padding(), 0) + " % padding";
      if (std::isfinite(plain) && std::isfinite(gain))
        out += gain > 0
                   ? ", pays after " + support::fixed_text(std::ceil(converts / gain), 0) + " calls"
                   : std::string(", never pays");
    }
    text_ += line(out);
  }

  void end(const format_candidate& c, const std::string& how) {
    std::string out = "chosen: " + kernel_.name(c.choice) + " " + how + ", for " +
                      support::general_text(options_.calls, 6) + " calls";
    if (options_.matrices_change) out += ", of which each looks for changes in " + ms(look_);
    text_ += line(out);
  }

  const formatted_kernel& kernel_;
  const tuned_options& options_;
  rows_of_call rows_;
  const dispatch::call_argument* a_;
  double look_;
  double began_;
  pattern_fingerprint pattern_;
  format_session session_;
  std::string text_;
};

}  // namespace detail

TILEWRIGHT_INLINE bool format_choice::possible(const std::vector<any_kernel>& algorithms,
                                               const tuned_options& options) {
  if (options.format) return true;
  return options.calls > 0 && options.reductions == reductions::any_order &&
         dispatch::detail::mode_of_environment(options.mode) == mode::now &&
         !options.measuring.runner && support::all(algorithms, [](const any_kernel& k) {
           return detail::only_compressed(k, true);
         });
}

TILEWRIGHT_INLINE format_choice::format_choice(const std::vector<any_kernel>& algorithms,
                                               const tuned_options& options)
    : state_(new state(algorithms, options)) {}

TILEWRIGHT_INLINE format_choice::~format_choice() = default;

TILEWRIGHT_INLINE format_choice::state::chosen format_choice::state::decide(
    matrix& m, const dispatch::call_argument* a) {
  kernel.code(0).warm(a);  // which checks the arguments
  const double start = detail::seconds_now();
  const std::uint64_t pattern = pattern_number(m.at), values = values_number(m.at);
  const double look = options.matrices_change ? detail::seconds_now() - start : 0;
  constexpr std::size_t enough_stack = 1 << 20;  // bytes
  std::string text;
  const detail::format_candidate won = support::with_stack(enough_stack, [&] {
    detail::format_decision choice(kernel, options, db, m.at, a, look);
    detail::format_candidate out = choice.made();
    text = choice.text();
    return out;
  });
  const std::lock_guard lock(mutex);
  m.choice = won.choice;
  m.converted = won.converted;
  m.pattern = pattern;
  m.values = values;
  m.text = text;
  m.is = matrix::stage::chosen;
  return {m.choice, m.converted, m.text, nullptr};
}

/// The dispatcher of formats with these axes.
TILEWRIGHT_INLINE std::shared_ptr<dispatch::dispatcher> format_choice::state::code_of(
    const sparse::format_rule& rule) {
  std::string axes;
  for (const sparse::format_axis& axis : rule.axes)
    axes += axis.name + " " + std::to_string(static_cast<int>(axis.kind)) + "|";
  const std::lock_guard lock(mutex);
  std::shared_ptr<dispatch::dispatcher>& out = ruled[axes];
  if (!out) {
    tuned_options o = options;
    o.calls = 0;
    o.own_database = db;
    out = make_dispatcher(algorithms,
                          std::string(detail::only_compressed(algorithms[0], false)->name), rule,
                          std::move(o));
  }
  return out;
}

TILEWRIGHT_INLINE format_choice::state::chosen format_choice::state::store_by_rule(matrix& m) {
  const std::string name(algorithms[0].name());
  if (options.patterns != pattern_check::never)
    if (const std::string wrong = detail::wrong_rows(m.at); !wrong.empty())
      throw argument_error(name + ": " + wrong);
  const std::uint64_t pattern = pattern_number(m.at), values = values_number(m.at);
  const sparse::format_rule rule = options.format(m.at.rows, m.at.columns);
  const auto made = std::make_shared<detail::ruled_arrays>(rule, m.at, options.most_format_bytes);
  const std::string text = "  format    " + rule.name + ", as the options state it: conversion " +
                           support::general_text(1e3 * made->conversion_seconds(), 3) + " ms, " +
                           support::fixed_text(100 * made->padding(), 0) + " % padding, " +
                           std::to_string(made->bytes()) + " bytes\n";
  const std::shared_ptr<dispatch::dispatcher> code = code_of(rule);
  const std::lock_guard lock(mutex);
  m.converted = made;
  m.ruled = code;
  m.pattern = pattern;
  m.values = values;
  m.text = text;
  m.is = matrix::stage::chosen;
  return {m.choice, m.converted, m.text, m.ruled};
}

/// Under the lock: a matrix that has changed in place gets its new values, or is chosen for anew.
TILEWRIGHT_INLINE void format_choice::state::look_again(matrix& m) const {
  if (pattern_number(m.at) != m.pattern) {
    m.is = matrix::stage::fresh;
    m.converted = nullptr;
    return;
  }
  const std::uint64_t now = values_number(m.at);
  if (now == m.values) return;
  if (m.converted.use_count() > 1)
    m.converted = m.converted->copy();  // others still compute with it
  m.converted->refresh(m.at);
  m.values = now;
}

TILEWRIGHT_INLINE format_choice::state::chosen format_choice::state::choose(
    const dispatch::call_argument* a) {
  const detail::rows_of_call r = kernel.rows_of(a);
  if (r.nonzeros == 0 || r.rows == 0 || r.columns == 0) return {};
  if (!r.offsets || !r.indices || !r.values) return {};  // what is refused says so
  matrix* m = nullptr;
  {
    const std::lock_guard lock(mutex);
    m = &find(r);
    if (m->is == matrix::stage::chosen && m->converted && options.matrices_change) look_again(*m);
    if (m->is == matrix::stage::chosen) return {m->choice, m->converted, m->text, m->ruled};
    if (m->is == matrix::stage::choosing) return {};
    m->is = matrix::stage::choosing;
  }
  try {
    return options.format ? store_by_rule(*m) : decide(*m, a);
  } catch (...) {
    const std::lock_guard lock(mutex);
    m->is = matrix::stage::fresh;
    throw;
  }
}

TILEWRIGHT_INLINE void format_choice::call(const dispatch::call_argument* a) {
  state_->with(
      state_->choose(a), a,
      [](dispatch::dispatcher& code, const dispatch::call_argument* all) { code.call(all); }, true);
}

TILEWRIGHT_INLINE void format_choice::warm(const dispatch::call_argument* a) {
  state_->with(
      state_->choose(a), a,
      [](dispatch::dispatcher& code, const dispatch::call_argument* all) { code.warm(all); });
}

TILEWRIGHT_INLINE void format_choice::cancel() {
  for (const auto& code : state_->all_ruled()) code->cancel();
}
TILEWRIGHT_INLINE void format_choice::wait() {
  for (const auto& code : state_->all_ruled()) code->wait();
}

TILEWRIGHT_INLINE std::string format_choice::report(const dispatch::call_argument* a) {
  const state::chosen c = state_->choose(a);
  std::string out;
  state_->with(c, a, [&](dispatch::dispatcher& code, const dispatch::call_argument* all) {
    out = code.report(all);
  });
  return out + c.text;
}

TILEWRIGHT_INLINE std::shared_ptr<format_choice> make_format_choice(
    const std::vector<any_kernel>& algorithms, const tuned_options& options) {
  if (!format_choice::possible(algorithms, options)) return nullptr;
  return std::make_shared<format_choice>(algorithms, options);
}

TILEWRIGHT_INLINE std::shared_ptr<format_choice> make_format_choice(const any_kernel& kernel,
                                                                    const tuned_options& options) {
  return make_format_choice(std::vector<any_kernel>{kernel}, options);
}

}  // namespace tilewright
