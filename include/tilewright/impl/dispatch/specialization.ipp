#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/dispatch/call_session.hpp>
#include <tilewright/dispatch/specialization.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/impl/dispatch/code_generator.hpp>
#include <tilewright/impl/dispatch/code_text.hpp>
#include <tilewright/impl/dispatch/outdated_choice.hpp>
#include <tilewright/impl/dispatch/progress_printer.hpp>
#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/notice.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::dispatch {
namespace detail {

inline const char* origin_text(origin o) {
  switch (o) {
    case origin::stored_code: return "stored schedule, stored code";
    case origin::stored_schedule: return "stored schedule, code made again";
    case origin::tuned: return "tuned by this process";
    case origin::estimated: return "estimated: ranked first by the model, not measured";
    case origin::nearest: return "fallback: schedule of the nearest stored workload";
    case origin::unscheduled: return "fallback: default schedule";
    case origin::interpreter: return "fallback: interpreter";
  }
  return "";
}

/// The classes of a key's arguments with the arguments' names, for people: "X:r Y:d10 cold".
inline std::string layouts_text(const search::workload& w) {
  std::string out;
  std::size_t at = 0;
  for (const ir::param& p : w.function.params) {
    const std::size_t end = std::min(w.key.arguments.find(' ', at), w.key.arguments.size());
    out += (out.empty() ? "" : " ") + (p.buffer ? p.buffer->name : p.scalar->name) + ":" +
           w.key.arguments.substr(std::min(at, end), end - std::min(at, end));
    at = std::min(end + 1, w.key.arguments.size());
  }
  return at < w.key.arguments.size() ? out + " " + w.key.arguments.substr(at) : out;
}

/// ", 92 % of the roofline (arithmetic is the bound, ...)"; empty where there is no yardstick for the time.
inline std::string roofline_text(const search::workload& w, const variant& v, double flops,
                                 double moved) {
  if (flops <= 0 || v.cpu != w.machine.model()) return {};
  const std::vector<search::operand> all = search::operands(w.function);
  // a gather moves a part of its argument that nobody knows
  if (support::any(all, [](const search::operand& o) { return o.index.has_value(); })) return {};
  const search::roofline* core = search::measured_roofline();
  if (!core) return {};
  search::roofline r = *core;
  const bool only_f64 =
      support::all(all, [](const search::operand& o) { return o.type == dtype::f64; });
  if (only_f64) r.flops_per_second /= 2;  // half as many lanes
  const int threads = std::max(w.key.threads, 1);
  // measured in a loop: arguments that fit into the caches stay there, and memory is no bound
  const bool cached =
      moved <= static_cast<double>(w.machine.cpu->l3_bytes + threads * w.machine.cpu->l2_bytes);
  const double arithmetic = search::bound_seconds(r, flops, 0, threads),
               bound = search::bound_seconds(r, flops, cached ? 0 : moved, threads);
  const std::string memory =
      cached ? "arguments in the caches"
             : support::general_text(threads * r.bytes_per_second * 1e-9, 3) + " GB/s";
  return ", " + support::fixed_text(100 * bound / v.seconds, 0) + " % of the roofline (" +
         (bound > arithmetic ? "memory" : "arithmetic") + " is the bound, " +
         support::general_text(threads * r.flops_per_second * 1e-9, 3) + " GFLOP/s, " + memory +
         ", on " + std::to_string(threads) + (threads == 1 ? " thread)" : " threads)");
}

/// Whether the default schedule is to run and not that of other extents. Where that does not replay
/// it is not: who publishes it says why it cannot.
inline bool runs_better(const schedule& standard, const search::record& near,
                        const search::workload& w) {
  if (!w.machine.cpu) return false;  // the shipped trees know programs of CPUs
  try {
    const auto stored =
        search::replay(search::by_name(trace::parse(near.trace), w.function), w.function, 1);
    const auto other = search::replay(standard.trace(), w.function, 1);
    return stored && other && !search::is_worth_adapting(*stored, *other);
  } catch (const argument_error&) {
    return false;
  }
}

}  // namespace detail

TILEWRIGHT_INLINE specialization::specialization(search::workload w, const tuned_options& options,
                                                 std::shared_ptr<search::database> db)
    : workload_(std::move(w)), options_(options), db_(std::move(db)) {}

TILEWRIGHT_INLINE void specialization::publish(variant v) {
  if (v.code) {
    v.entry = v.code->entry();
    v.workspace_bytes = v.code->workspace_bytes();
    std::size_t strides = 0;
    for (const ir::param& p : workload_.function.params)
      strides += p.buffer ? p.buffer->shape.size() : 0;
    if (v.code->preparation() && workload_.bound.empty())
      v.lists = std::make_shared<pattern_lists>();
    else
      v.packed = packed_weights(*v.code, workload_.bound, strides, *workload_.exec);
  }
  const bool swapped = current() != nullptr;
  auto fresh = std::make_unique<const variant>(std::move(v));
  const variant* now = fresh.get();
  {
    const std::lock_guard lock(mutex_);
    published_.push_back(std::move(fresh));
  }
  current_.store(now, std::memory_order_release);
  if (swapped) tell(search::event::kind::swap, detail::origin_text(now->from));
}

TILEWRIGHT_INLINE void specialization::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  remarks_.push_back(text);
}

TILEWRIGHT_INLINE void specialization::warn(const std::string& text) {
  note(text);
  tell(search::event::kind::remark, text);
  support::notice(text);
}

TILEWRIGHT_INLINE void specialization::tell(search::event::kind what, const std::string& text,
                                            const search::progress& state) const {
  if (options_.events) options_.events({what, workload_.function.name, text, state});
}

TILEWRIGHT_INLINE bool specialization::publish_trace(const search::record& stored, origin from,
                                                     const std::string& remark, double seconds) {
  const std::string& text = stored.trace;
  std::string why;
  try {
    const auto c = search::replay(search::by_name(trace::parse(text), workload_.function),
                                  workload_.function, options_.seed, &why);
    if (c) {
      search::built b = search::build(c->scheduled.function(), workload_.machine);
      if (b.code) {
        publish({nullptr,
                 0,
                 b.code,
                 from,
                 c->scheduled.trace().print(),
                 remark,
                 seconds,
                 0,
                 stored.from.cpu,
                 {},
                 from == origin::stored_schedule ? stored.check() : std::string()});
        if (from == origin::stored_schedule)
          db_->add_code(workload_.key, text, search::made_on(workload_.machine),
                        backend::serialize(b.artifact));
        return true;
      }
      why = b.error;
    }
  } catch (const argument_error& e) {
    why = e.what();
  }
  note("a stored schedule could not be used: " + why);
  return false;
}

TILEWRIGHT_INLINE bool specialization::load_stored() {
  const std::optional<search::record> hit = db_->chosen(workload_.key);
  if (!hit) return false;
  std::string why;
  if (const auto bytes = db_->code(workload_.key, hit->trace, backend::lowering_revision, &why)) {
    try {
      variant v;
      v.code = backend::load_stored(backend::deserialize(bytes->data(), bytes->size()));
      v.from = origin::stored_code;
      v.trace = search::trace_by_name(hit->trace, workload_.function);
      v.seconds = hit->best();
      v.cpu = hit->from.cpu;
      v.checked = hit->check();
      v.remark =
          "measured " + hit->from.date + " on " + hit->from.cpu + " with LLVM " + hit->from.llvm;
      publish(std::move(v));
      return true;
    } catch (const build_error& e) {
      why = e.what();
    }
  }
  detail::open_code_generator(workload_.machine);
  return publish_trace(*hit, origin::stored_schedule, why, hit->best());
}

TILEWRIGHT_INLINE void specialization::load_estimate() {
  constexpr std::size_t draws = 64;
  const std::string nothing = "effort is estimate: nothing is measured";
  if (!backend::compiler_available()) return load_fallback(nothing);
  std::vector<search::candidate> all;
  try {
    const space::context where{workload_.machine, workload_.exec->threads};
    support::random random(options_.seed);
    search::finisher finish;
    if (workload_.space.has_postprocs())
      finish = [&](schedule& s) { workload_.space.finish(s, where); };
    for (const schedule& s : workload_.space.sketches(workload_.function, where, options_.seed))
      for (std::size_t i = 0; i < draws; ++i)
        if (auto c = search::replay(s.trace().without_decisions(), workload_.function,
                                    random.next(), nullptr, finish))
          all.push_back(std::move(*c));
  } catch (const schedule_error& e) {
    note(std::string("the space failed: ") + e.what());
  }
  const std::vector<double> scores = all.empty()            ? std::vector<double>{}
                                     : options_.model.score ? options_.model.score(all)
                                                            : search::estimated_scores(all);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) order.push_back(i);
  support::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  for (std::size_t k = 0; k < std::min<std::size_t>(order.size(), 4); ++k) {
    const search::candidate& c = all[order[k]];
    const search::built b = search::build(c.scheduled.function(), workload_.machine);
    if (!b.code) continue;
    publish(
        {nullptr, 0, b.code, origin::estimated, c.scheduled.trace().print(), nothing, 0, 0, {}});
    return;
  }
  load_fallback(nothing);
}

TILEWRIGHT_INLINE void specialization::load_interpreter(const std::string& remark) {
  variant v;
  v.from = origin::interpreter;
  v.remark = remark;
  publish(std::move(v));
}

TILEWRIGHT_INLINE void specialization::load_fallback(const std::string& remark) {
  if (!backend::compiler_available()) {
    variant v;
    v.from = origin::interpreter;
    v.remark = remark;
    try {
      (void)backend::compiler_version();
    } catch (const error& e) {
      v.remark += (v.remark.empty() ? "" : "; ") + std::string(e.what());
      const std::string why = e.what();  // with all names that were tried, a line each
      warn("kernels run in the interpreter, which is slow: " +
           why.substr(0, std::min(why.find("; tried:"), why.find('\n'))));
    }
    publish(std::move(v));
    return;
  }
  // what an interrupted session measured is nearer than anything else
  for (const search::record& r : db_->top(workload_.key, 1))
    if (publish_trace(r, origin::nearest, remark, r.best())) return;
  for (const search::candidate& c :
       search::detail::spread_over_threads(workload_, *db_, 1, options_.seed)) {
    search::record spread;
    spread.trace = c.scheduled.trace().print();
    if (publish_trace(spread, origin::nearest, remark, 0)) return;
  }
  const space::context where{workload_.machine, workload_.exec->threads};
  const schedule s =
      search::default_schedule(workload_.function, workload_.space, where, options_.seed);
  if (const auto near = search::nearest_record(*db_, workload_)) {
    if (detail::runs_better(s, *near, workload_))
      note("the schedule of the nearest stored extents is not ranked above the default one");
    else if (publish_trace(*near, origin::nearest, remark, 0))
      return;
  }
  const search::built b = search::build(s.function(), workload_.machine);
  if (b.code) {
    publish({nullptr, 0, b.code, origin::unscheduled, s.trace().print(), remark, 0, 0, {}});
    return;
  }
  const search::built plain = search::build(workload_.function, workload_.machine);
  if (!plain.code)
    throw build_error("no code can be made for " + workload_.function.name + ": " + plain.error);
  publish({nullptr,
           0,
           plain.code,
           origin::unscheduled,
           "",
           remark + "; the default schedule failed: " + b.error,
           0,
           0,
           {}});
}

TILEWRIGHT_INLINE search::session_options specialization::session() const {
  return call_session(options_, *db_, workload_.key);
}

TILEWRIGHT_INLINE bool specialization::tune(const std::atomic<bool>& cancelled) {
  if (!backend::compiler_available()) {
    load_fallback({});
    return true;
  }
  try {
    return run_session(cancelled);
  } catch (const std::exception& e) {
    note(std::string("tuning failed: ") + e.what());
    tell(search::event::kind::failure, e.what());
    throw;
  }
}

TILEWRIGHT_INLINE bool specialization::run_session(const std::atomic<bool>& cancelled) {
  constexpr double leased = 120,
                   renewed_after = 30;  // s; a live owner goes on, a dead machine ends
  if (!db_->lease(workload_.key, leased)) return false;
  const struct lease_guard {
    search::database& db;
    const search::record_key& key;
    ~lease_guard() { db.release(key); }
  } guard{*db_, workload_.key};
  search::session_options o = session();
  if (detail::is_outdated(*db_, workload_.key))
    o.trials = 0;  // the default schedule and what is stored are timed in turns
  o.cancelled = &cancelled;
  detail::progress_printer print(options_.verbose);
  double renewed = 0;
  o.events = [&](const search::progress& p) {
    print(workload_.function.name, p);
    static std::atomic<bool> known{false};
    detail::exit_entry::come_first(known);  // all that a session uses has been made
    if (p.elapsed > renewed + renewed_after) {
      db_->renew(workload_.key, leased);
      renewed = p.elapsed;
    }
    tell(search::event::kind::progress, {}, p);
  };
  db_->add_workload(workload_.key.workload, ir::print(workload_.function));
  search::tuning_result r = search::tune(workload_, o, *db_);
  print.end(workload_.function.name, r.remarks);
  give({});
  for (const std::string& text : r.remarks) note(text);
  const std::string summary = std::to_string(r.trials) + " candidates measured in " +
                              support::fixed_text(r.seconds, 1) +
                              " s: " + search::end_text(r.end, r.trials);
  publish(
      {nullptr,
       0,
       backend::link(r.code),
       origin::tuned,
       r.trace,
       summary + (r.profile.empty() ? "" : ": " + search::profile_text(r.profile)) +
           (r.improved ? "" : "; none was faster than the default schedule by more than the noise"),
       r.best,
       r.baseline,
       workload_.machine.model(),
       {},
       r.checked});
  return true;
}

/// Seconds of the default schedule: of the session that measured `v`, else as the database has them;
/// 0 where it has none.
TILEWRIGHT_INLINE double specialization::baseline_of(const variant& v) const {
  if (v.baseline > 0 || v.seconds <= 0) return v.baseline;
  const space::context where{workload_.machine, workload_.exec->threads};
  const std::string named = search::default_schedule(workload_.function, workload_.space, where,
                                                     options_.seed)
                                .trace()
                                .print(),
                    trace = search::trace_by_position(named, workload_.function);
  for (const search::record& r : db_->top(workload_.key, std::numeric_limits<std::int32_t>::max()))
    if ((r.trace == trace || r.trace == named) && r.from.cpu == v.cpu) return r.best();
  return 0;
}

TILEWRIGHT_INLINE std::string specialization::database_text() const {
  if (db_->persistent()) return db_->path();
  const std::string why = db_->status();
  return why.empty() ? "none: records last as long as the process" : why;
}

TILEWRIGHT_INLINE std::string specialization::report() const {
  const variant* v = current();
  std::string out =
      workload_.function.name + " at " + search::write_numbers(workload_.extents) + "\n";
  out += "  layouts   " + detail::layouts_text(workload_) + ", " +
         std::to_string(workload_.key.threads) + " threads\n";
  if (ir::keeps_term_order(workload_.function))
    out += "  sums      in the order of the program, products rounded before they are added\n";
  if (!v) return out + "  nothing has run yet\n";
  out += std::string("  code      ") + detail::origin_text(v->from) + "\n";
  if (!v->remark.empty()) out += "  because   " + v->remark + "\n";
  if (!v->checked.empty()) out += "  checked   " + v->checked + "\n";
  if (v->seconds > 0) {
    out += "  time      " + search::time_text(v->seconds);
    double moved = 0;  // bytes of all arguments
    for (const search::operand& o : search::operands(workload_.function))
      moved += static_cast<double>(o.elements() * bytes(o.type));
    const double flops = search::operations_of(workload_.function);
    out += ", " + support::general_text(flops / v->seconds * 1e-9, 3) + " GFLOP/s, " +
           support::general_text(moved / v->seconds * 1e-9, 3) + " GB/s of arguments" +
           detail::roofline_text(workload_, *v, flops, moved);
    if (const double baseline = baseline_of(*v); baseline > 0)
      out += ", " + support::fixed_text(baseline / v->seconds, 2) +
             " times as fast as the default schedule (" + search::time_text(baseline) + ")";
    out += "\n";
  }
  out +=
      detail::code_text(workload_, v->trace, v->cpu == workload_.machine.model() ? v->seconds : 0);
  if (v->packed.bytes() > 0)
    out += "  weights   packed once, " + std::to_string(v->packed.bytes()) + " bytes\n";
  if (v->lists) {
    std::int64_t bytes = 0;
    for (const std::int64_t one : v->code->packed_bytes()) bytes += one;
    out += "  lists     of a pattern's rows, made once for each pattern, " + std::to_string(bytes) +
           " bytes\n";
  }
  out += "  database  " + database_text() + "\n";
  out += "  key       " + workload_.key.workload + " " + workload_.key.isa + "\n";
  const std::lock_guard lock(mutex_);
  for (const std::string& r : remarks_) out += "  remark    " + r + "\n";
  if (!v->trace.empty()) out += "  schedule\n" + detail::indented(v->trace, "    ");
  return out;
}

}  // namespace tilewright::dispatch
