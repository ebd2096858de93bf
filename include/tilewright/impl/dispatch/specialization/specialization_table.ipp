#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

#include <tilewright/dispatch/pattern_class.hpp>
#include <tilewright/dispatch/zero_extents.hpp>
#include <tilewright/impl/dispatch/call_mode.hpp>
#include <tilewright/impl/dispatch/code_generator.hpp>
#include <tilewright/impl/dispatch/outdated_choice.hpp>
#include <tilewright/impl/dispatch/specialization/call_values.hpp>
#include <tilewright/impl/dispatch/specialization/specialization_table.hpp>
#include <tilewright/impl/dispatch/specialization/visits.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/thread.hpp>

namespace tilewright::dispatch::detail {

inline bool threads_to_be_had() {
  std::thread one = support::start_thread([] {});
  if (!one.joinable()) return false;
  one.join();
  return true;
}

/// A call of the user's event handler.
class specialization_table::handler_call {
 public:
  explicit handler_call(specialization_table& all) : all_(all) {
    const std::lock_guard lock(all_.sync().mutex);
    here_ =
        all_.handler_calls_.insert({::getpid(), instance_clock::now().time_since_epoch().count()});
  }
  ~handler_call() {
    const std::lock_guard lock(all_.sync().mutex);
    all_.handler_calls_.erase(here_);
  }
  handler_call(const handler_call&) = delete;
  handler_call& operator=(const handler_call&) = delete;

 private:
  specialization_table& all_;
  std::multiset<std::pair<pid_t, std::int64_t>>::iterator here_;
};

TILEWRIGHT_INLINE specialization_table::specialization_table(
    const kernel_signature& kernel, std::function<ir::function(const search::extent_map&)> make,
    tuned_options options, const weight_set& weights)
    : kernel_(kernel),
      make_(with_bound_weights(std::move(make), weights.positions())),
      weights_(weights),
      options_(std::move(options)),
      mode_(mode_of_environment(options_.mode)) {
  if (options_.threads < 0)
    throw argument_error(kernel_.name + ": threads is negative; write 0 for all");
  const auto at_least_0 = [&](const char* option, double value) {
    if (!(value >= 0)) throw argument_error(kernel_.name + ": " + option + " has to be 0 or more");
  };
  at_least_0("seconds", options_.seconds.value_or(0));
  at_least_0("gain", options_.gain.value_or(0));
  at_least_0("trials", options_.trials);
  at_least_0("target", options_.target);
  at_least_0("patience", options_.patience);
  if (options_.events)
    options_.events = [this, handler = std::move(options_.events)](const search::event& e) {
      const handler_call inside(*this);
      handler(e);
    };
  choose_executor();
  cpu_ = target::host();
  cpu_.cores = exec_->threads;
  db_ = options_.own_database ? options_.own_database : search::database::shared(options_.database);
}

TILEWRIGHT_INLINE void specialization_table::choose_executor() {
  const int wanted = options_.threads;
  if (options_.executor) {
    exec_ = options_.executor;
    if (!exec_->run || exec_->threads < 1)
      throw argument_error(kernel_.name +
                           ": an executor needs a function `run` and 1 thread or more");
    if (wanted != 0 && wanted != exec_->threads)
      throw argument_error(kernel_.name + ": threads is " + std::to_string(wanted) +
                           ", and the executor has " + std::to_string(exec_->threads) +
                           "; leave threads out");
    if (const int most = backend::most_threads(); exec_->threads > most) {
      narrow_ = std::make_unique<backend::narrow_executor>(*exec_, most);
      exec_ = &narrow_->view();
      say_capped(options_.executor->threads);
    }
    return;
  }
  const int all = backend::pool::shared().threads();
  if (wanted == 0 || wanted == all) {
    exec_ = &backend::pool::shared().view();
  } else if (wanted < all) {
    exec_ = &backend::pool::shared().view(wanted);
  } else {
    own_pool_ = std::make_unique<backend::pool>(wanted);
    exec_ = &own_pool_->view();
    if (exec_->threads < wanted) say_capped(wanted);
  }
}

TILEWRIGHT_INLINE void specialization_table::say_capped(int wanted) {
  remarks_.push_back(std::to_string(wanted) + " threads are asked for, and " +
                     std::to_string(exec_->threads) + " are used: more would wait for each other");
}

TILEWRIGHT_INLINE specialization_table::~specialization_table() { end_threads(); }

TILEWRIGHT_INLINE void specialization_table::end_threads() noexcept {
  cancel();
  background_threads threads;
  {
    const std::lock_guard lock(sync().mutex);
    ended_ = true;
    threads.swap(threads_);
  }
  end(std::move(threads));
  end_visits();
}

// ---- making ----

TILEWRIGHT_INLINE specialization_slot& specialization_table::at(const search::extent_map& dims,
                                                                const binding& b,
                                                                const call_argument* a) {
  std::vector<layout_class> layouts;
  std::string name;
  for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
    layouts.push_back(classify(kernel_.params[i].dims.size(), a[i].extents, a[i].strides));
    name += layouts.back().text() + "|";
  }
  name += search::write_numbers(b.extents);
  const std::lock_guard lock(sync().mutex);
  if (const auto there = all_.find(name); there != all_.end()) return *there->second;
  auto made = std::make_unique<specialization_slot>();
  if (!b.nothing) make(*made, dims, layouts, b, a);
  return *(all_[name] = std::move(made));
}

TILEWRIGHT_INLINE void specialization_table::make(specialization_slot& s,
                                                  const search::extent_map& dims,
                                                  const std::vector<layout_class>& layouts,
                                                  const binding& b,
                                                  const call_argument* arguments) {
  if (support::any(dims, [](const auto& d) { return d.second == 0; })) {
    search::extent_map instead = dims;
    const std::int64_t placeholder = unused_extent(dims);
    for (auto& [name, extent] : instead)
      if (extent == 0) extent = placeholder;
    s.identity = without_iterations(make_(instead), placeholder);
    return;
  }
  s.function = make_(dims);
  s.operands = search::operands(s.function);
  for (const search::operand& o : std::vector<search::operand>(s.operands)) {
    if (!o.offsets) continue;
    s.sparse = true;
    s.operands[o.offsets->parameter].index.reset();  // checked with its pattern
  }
  for (std::size_t i = 0; i < kernel_.params.size(); ++i)
    if (kernel_.params[i].checked) {
      s.operands[i].index.reset();
      s.sparse = true;
    }
  s.gathers =
      support::any(s.operands, [](const search::operand& o) { return o.index.has_value(); });
  search::workload w;
  w.function = with_layouts(s.function, layouts);
  w.key = {ir::workload_key(w.function).hex(), cpu_.isa_key(), "", exec_->threads};
  w.key.named_workload = ir::named_workload_key(w.function).hex();
  w.family = search::family_of(w.function);
  w.extents = b.extents;
  const std::int64_t* strides = b.strides.data();
  for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
    w.key.arguments += (i ? " " : "") + (weights_.has(i) ? "bound" : layouts[i].text());
    if (const auto& pattern = s.operands[i].offsets) {
      const call_argument& indices = arguments[pattern->parameter];
      w.key.arguments += pattern_class(s.operands[i], arguments[i], indices);
      const bool listed = &indices != &arguments[i];  // else rows are counted
      if (listed && indices.data && !kernel_.params[i].checked && !ir::noted_pattern(w.function))
        ir::note_pattern(w.function, pattern_note_of(s.operands[i], arguments[i], indices));
    }
    w.layouts.push_back({{}, placement_of(arguments[i])});  // dense: as declared
    const std::size_t rank = kernel_.params[i].dims.size();
    if (!layouts[i].dense) w.layouts.back().strides.assign(strides, strides + rank);
    strides += rank;
  }
  w.key.arguments += key_suffix(options_.measuring.where);
  if (!weights_.empty()) w.bound = weights_.data(kernel_.params.size());
  w.machine = &cpu_;
  w.exec = exec_;
  w.space = options_.space ? options_.space : space::default_cpu();
  w.shrunk = [this, dims, layouts] { return shrunk(dims, layouts); };
  s.code = std::make_unique<specialization>(std::move(w), options_, db_);
}

/// The kernel at extents that the interpreter can run.
TILEWRIGHT_INLINE std::optional<ir::function> specialization_table::shrunk(
    const search::extent_map& dims, const std::vector<layout_class>& layouts) const {
  const std::optional<ir::function> f = search::shrink(make_, dims, 1e5);
  if (!f) return std::nullopt;
  std::vector<layout_class> dense = layouts;
  for (layout_class& l : dense)
    if (!l.dense) l = layout_class{};  // the comparison is about the schedule, not about strides
  return with_layouts(*f, dense);
}

// ---- bringing to where it can run ----

TILEWRIGHT_INLINE argument_error specialization_table::waits_for_itself() const {
  return argument_error(kernel_.name +
                        ": its own event handler calls it, asks for its report or waits for it, "
                        "and its tuning waits for that handler; do so when tuning has ended, which "
                        "the return of the call or of wait() says");
}

TILEWRIGHT_INLINE std::string specialization_table::threads_remark() const {
  if (options_.executor) return {};  // whose threads are the user's own
  const backend::pool& pool = own_pool_ ? *own_pool_ : backend::pool::shared();
  if (pool.started() >= exec_->threads) return {};
  return "the machine gave " + std::to_string(pool.started()) + " of " +
         std::to_string(exec_->threads) + " threads";
}

/// Under the lock. Other threads that wait for tuning do not wait longer for a handler: it may wait
/// for one of them.
TILEWRIGHT_INLINE bool specialization_table::handler_is_slow() const {
  constexpr double slow = 0.5;  // s
  const auto oldest = handler_calls_.lower_bound({::getpid(), 0});
  if (oldest == handler_calls_.end() || oldest->first != ::getpid()) return false;
  return instance_clock::now().time_since_epoch().count() - oldest->second > instance_ticks(slow);
}

TILEWRIGHT_INLINE bool specialization_table::make_ready(specialization_slot& s,
                                                        const call_argument* arguments,
                                                        bool again) {
  search::detail::process_sync::pair& sy = sync();
  std::unique_lock lock(sy.mutex);
  using stage = specialization_slot::stage;
  if (again && s.at == stage::ready && s.interrupted) s.at = stage::fresh;
  for (;;) {
    if (s.at == stage::ready) return true;
    if (s.at == stage::fresh || s.preparer != ::getpid())
      break;  // or its preparer is not in this process
    if (s.preparing == std::this_thread::get_id()) throw waits_for_itself();
    if (handler_is_slow()) return false;
    if (options_.events)
      sy.changed.wait_for(lock, std::chrono::milliseconds(50));
    else
      sy.changed.wait(lock);
  }
  s.at = stage::preparing;
  s.preparer = ::getpid();
  s.preparing = std::this_thread::get_id();
  s.cancelled = false;
  s.interrupted = false;
  lock.unlock();
  std::exception_ptr failed;
  try {
    const search::timing_data wanted = options_.measuring.data;
    if (s.code && arguments && (s.sparse || wanted == search::timing_data::copied))
      s.code->give(values_of(kernel_, s.code->task(), arguments, wanted));
    if (s.code) prepare(s);
  } catch (...) {
    failed = std::current_exception();
  }
  lock.lock();
  s.at = failed ? stage::fresh : stage::ready;
  sy.changed.notify_all();
  if (failed) std::rethrow_exception(failed);
  return true;
}

TILEWRIGHT_INLINE tuning_task specialization_table::task(const specialization_slot& s,
                                                         const call_argument* arguments) const {
  tuning_task out{s.code->task(), s.code->session(), db_};
  if (s.sparse || options_.measuring.data == search::timing_data::copied)
    out.what.given = values_of(kernel_, out.what, arguments, options_.measuring.data);
  return out;
}

TILEWRIGHT_INLINE void specialization_table::reload(specialization_slot& s) {
  search::detail::process_sync::pair& sy = sync();
  std::unique_lock lock(sy.mutex);
  if (s.at != specialization_slot::stage::ready || s.upgrader == ::getpid())
    return;  // it will look itself
  s.at = specialization_slot::stage::preparing;
  s.preparer = ::getpid();
  s.preparing = std::this_thread::get_id();
  lock.unlock();
  std::exception_ptr failed;
  try {
    s.code->load_stored();
  } catch (...) {
    failed = std::current_exception();
  }
  lock.lock();
  s.at =
      specialization_slot::stage::ready;  // what ran before goes on where nothing could be loaded
  sy.changed.notify_all();
  if (failed) std::rethrow_exception(failed);
}

/// One thread at a time; not under the lock.
TILEWRIGHT_INLINE void specialization_table::prepare(specialization_slot& s) {
  specialization& code = *s.code;
  for (const std::string& text : remarks_) code.warn(text);
  if (exit_entry::process_ends()) return code.load_interpreter("the process ends");
  const bool tunes = mode_ == mode::now || mode_ == mode::background;
  const bool stored = code.load_stored();
  // once it was read: damage shows there
  if (const std::string text = db_->status(); !text.empty()) code.warn(text);
  if (stored) {
    if (tunes && options_.effort != effort::estimate && is_outdated(*db_, code.task().key))
      renew(s);
    return;
  }
  static std::atomic<bool> known{false};
  const struct made {  // what a kernel's code is made with
    ~made() { exit_entry::come_first(known); }
  } then;
  if (mode_ != mode::miss_error) open_code_generator(code.task().machine);
  if (options_.events && mode_ != mode::miss_error)
    code.tell(search::event::kind::miss, db_->why(search::wanted_record(code.task())));
  if (tunes && options_.effort == effort::estimate) return code.load_estimate();
  switch (mode_) {
    case mode::miss_error:
      throw argument_error(kernel_.name + ": " + db_->why(search::wanted_record(code.task())) +
                           "and " +
                           (mode_ == options_.mode ? "the options say" : "TILEWRIGHT_TUNE says") +
                           " miss_error; " + tune_first(code.task()));
    case mode::now:
      if (!threads_to_be_had()) {
        code.warn("nothing is tuned: the machine gives no more threads");
        return code.load_fallback("no thread can be started");
      }
      if (code.tune(s.cancelled)) {
        s.interrupted = s.cancelled;
        return;
      }
      code.load_fallback("another process is tuning this kernel now");
      start_following(s);
      return;
    case mode::background: {
      code.load_fallback("tuning in the background");
      start_following(s);
      bool started = false;
      {
        const std::lock_guard lock(sync().mutex);
        started = start_background(s);
      }
      if (!started)
        code.warn("nothing is tuned in the background yet: the machine gives no more threads");
      return;
    }
    case mode::off: code.load_fallback("nothing is stored and tuning is off"); return;
  }
}

/// Not under the lock. What is stored runs where nothing can be timed.
TILEWRIGHT_INLINE void specialization_table::renew(specialization_slot& s) {
  if (mode_ == mode::background) {
    const std::lock_guard lock(sync().mutex);
    start_background(s);
    return;
  }
  if (!threads_to_be_had()) return;
  try {
    if (s.code->tune(s.cancelled)) s.interrupted = s.cancelled;
  } catch (const std::exception&) {  // the report has it
  }
}

// ---- tuning elsewhere ----

TILEWRIGHT_INLINE void specialization_table::start_following(specialization_slot& s) {
  s.pause = instance_ticks(0.05);
  s.look_at = instance_clock::now().time_since_epoch().count() + s.pause;
  s.following = true;
}

TILEWRIGHT_INLINE void specialization_table::follow(specialization_slot& s) {
  if (instance_clock::now().time_since_epoch().count() < s.look_at.load(std::memory_order_relaxed))
    return;
  search::detail::process_sync::pair& sy = sync();
  {
    const std::lock_guard lock(sy.mutex);
    if (!s.following || s.looking == ::getpid()) return;
    if (s.upgrader == ::getpid()) {  // its thread of this process says when it is done
      s.look_at = instance_clock::now().time_since_epoch().count() + s.pause;
      return;
    }
    s.looking = ::getpid();
  }
  bool done = true;
  const support::default_float_environment ours;
  try {
    done = take_over(s);
  } catch (const std::exception&) {  // what runs now goes on
  }
  const std::lock_guard lock(sy.mutex);
  s.looking = 0;
  if (done) s.following = false;
  s.pause = std::min(2 * s.pause, instance_ticks(2));
  s.look_at = instance_clock::now().time_since_epoch().count() + s.pause;
}

/// False while another process is at work.
TILEWRIGHT_INLINE bool specialization_table::take_over(specialization_slot& s) {
  if (s.code->load_stored()) return true;
  if (mode_ == mode::now) {
    s.cancelled = false;
    if (!s.code->tune(s.cancelled)) return false;
    s.interrupted = s.cancelled;
    return true;
  }
  // a forked child, which does not have the thread that its parent had
  const std::lock_guard lock(sync().mutex);
  start_background(s);
  return false;
}

/// Under the lock.
TILEWRIGHT_INLINE bool specialization_table::start_background(specialization_slot& s) {
  if (ended_) return true;  // the process is about to end
  static std::atomic<bool> known{false};
  exit_entry::come_first(known);  // the code generator has been opened
  s.cancelled = false;
  s.interrupted = false;
  std::thread fresh = support::start_thread([this, &s] { tune_in_background(s); });
  if (!fresh.joinable()) return false;  // a later call tries again
  s.upgrader = ::getpid();
  s.upgrading = fresh.get_id();
  threads_.emplace_back(::getpid(), std::move(fresh));
  return true;
}

TILEWRIGHT_INLINE void specialization_table::tune_in_background(specialization_slot& s) {
  search::detail::process_sync::pair& sy = sync();
  const support::default_float_environment ours;  // the thread has its maker's
  try {
    while (!s.cancelled && !s.code->tune(s.cancelled)) {
      {
        std::unique_lock lock(sy.mutex);
        sy.changed.wait_for(lock, std::chrono::milliseconds(200),
                            [&] { return s.cancelled.load(); });
      }
      if (s.code->load_stored()) break;
    }
  } catch (...) {  // the fallback goes on; the next process tries again
  }
  const std::lock_guard lock(sy.mutex);
  s.upgrader = 0;
  s.interrupted = s.cancelled;
  s.following = false;
  sy.changed.notify_all();
}

TILEWRIGHT_INLINE void specialization_table::cancel() {
  search::detail::process_sync::pair& sy = sync();
  const std::lock_guard lock(sy.mutex);
  for (const auto& [name, s] : all_) s->cancelled = true;
  sy.changed.notify_all();
}

TILEWRIGHT_INLINE void specialization_table::wait() {
  search::detail::process_sync::pair& sy = sync();
  std::unique_lock lock(sy.mutex);
  for (const auto& [name, s] : all_)
    if (s->upgrader == ::getpid() && s->upgrading == std::this_thread::get_id())
      throw waits_for_itself();
  sy.changed.wait(lock, [&] {
    return support::none(all_, [](const auto& s) { return s.second->upgrader == ::getpid(); });
  });
}

}  // namespace tilewright::dispatch::detail
