#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tilewright/search/measurement/guard.hpp>
#include <tilewright/search/measurement/timer.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {
namespace detail {

using timer_clock = std::chrono::steady_clock;

inline double timer_seconds(timer_clock::time_point since) {
  return std::chrono::duration<double>(timer_clock::now() - since).count();
}

inline bool is_set(const std::atomic<bool>* flag) {
  return flag && flag->load(std::memory_order_relaxed);
}

/// Sets a flag when a time has passed, or when another flag is set. One thread, started at the first
/// use.
class watchdog {
 public:
  explicit watchdog(std::atomic<int>& flag) : flag_(flag) {}

  /// Not while armed; null: none.
  void watch(const std::atomic<bool>* other) {
    const std::lock_guard lock(mutex_);
    other_ = other;
  }
  bool other_is_set() const { return is_set(other_); }
  ~watchdog() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void arm(double seconds) {
    {
      const std::lock_guard lock(mutex_);
      until_ = timer_clock::now() + std::chrono::duration_cast<timer_clock::duration>(
                                        std::chrono::duration<double>(std::min(seconds, 1e6)));
      armed_ = true;
      bit_ = false;
      if (!thread_.joinable()) thread_ = support::start_thread([this] { watch(); });
      if (!thread_.joinable())
        throw build_error("no thread can be started that watches over measurements");
    }
    wake_.notify_all();
  }
  /// True when the time had passed.
  bool disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    return bit_;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      if (!armed_) {
        wake_.wait(lock);
      } else if (const auto now = timer_clock::now(); now >= until_ || is_set(other_)) {
        flag_.store(1, std::memory_order_relaxed);
        bit_ = now >= until_;
        armed_ = false;
      } else {
        wake_.wait_until(lock, other_ ? std::min(until_, now + look_every) : until_);
      }
    }
  }

  static constexpr auto look_every = std::chrono::milliseconds(10);

  std::atomic<int>& flag_;
  const std::atomic<bool>* other_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  timer_clock::time_point until_{};
  bool armed_ = false, bit_ = false, ended_ = false;
};

/// An executor around another one that guards every chunk on the thread that runs it.
struct guarded_executor {
  const backend::executor& inner;
  std::atomic<int> signal{0};

  struct loop {
    guarded_executor* self;
    backend::chunk_body body;
    void* context;
  };
  struct chunk {
    const loop* of;
    std::int64_t number;
    int worker;
  };

  static void run(void* self, std::int64_t chunks, backend::chunk_body body, void* context) {
    auto* me = static_cast<guarded_executor*>(self);
    loop all{me, body, context};
    me->inner.run(me->inner.self, chunks, &run_chunk, &all);
  }
  static void run_chunk(void* context, std::int64_t number, int worker) {
    const loop* all = static_cast<const loop*>(context);
    if (all->self->signal.load(std::memory_order_relaxed) != 0) return;
    chunk one{all, number, worker};
    if (const int s = run_guarded(&call_chunk, &one))
      all->self->signal.store(s, std::memory_order_relaxed);
  }
  static void call_chunk(void* context) {
    const chunk* c = static_cast<const chunk*>(context);
    c->of->body(c->of->context, c->number, c->worker);
  }
};

/// `count` calls of an entry, with the arguments of a ring in turn.
struct timed_calls {
  backend::entry entry;
  const std::vector<backend::call>* ring;
  std::size_t at;  // in the ring
  int count;
  int result;
};

inline void make_calls(void* context) {
  auto* c = static_cast<timed_calls*>(context);
  for (int i = 0; i < c->count && c->result == backend::call_done; ++i) {
    c->result = c->entry(&(*c->ring)[c->at]);
    if (++c->at == c->ring->size()) c->at = 0;
  }
}

/// What does not stay in the caches between two uses. // bytes
inline std::size_t more_than_caches() {
  const auto last = static_cast<std::size_t>(
      std::max(target::host().l3_bytes, target::host().l2_bytes * target::host().cores));
  return 2 * std::max<std::size_t>(last, 1 << 20);
}

/// Copies of all arguments, so many that together they do not fit into the caches.
class argument_ring {
 public:
  explicit argument_ring(const argument_memory& of) : of_(of) {
    copies_ = std::clamp<std::size_t>(more_than_caches() / of.size() + 1, 2, 4096);
    for (const argument_place& p : of.places()) {
      // a line between copies, so that they do not all compete for the same sets of a cache
      const std::size_t a = p.at.alignment;
      step_.push_back((p.bytes + a - 1) / a * a + std::max<std::size_t>(a, 64));
      memory_.emplace_back(step_.back() * copies_, p.at);
    }
    for (std::size_t k = 0; k < copies_; ++k) fill(k, true);
  }

  std::size_t copies() const { return copies_; }
  void open_guards(bool open) const noexcept {
    for (const guarded_buffer& b : memory_) b.open_guards(open);
  }
  std::vector<void*> data(std::size_t copy) const {
    std::vector<void*> out;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      out.push_back(memory_[i].data() + copy * step_[i] + of_.places()[i].element0);
    return out;
  }
  /// What `count` calls from copy `first` on write.
  void reset(std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < std::min(count, copies_); ++k) fill((first + k) % copies_, false);
  }

 private:
  void fill(std::size_t copy, bool all) {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (all || of_.places()[i].written)
        std::memcpy(memory_[i].data() + copy * step_[i], of_.sealed(i), of_.places()[i].bytes);
  }

  const argument_memory& of_;
  std::size_t copies_ = 0;
  std::vector<std::size_t> step_;  // bytes from a copy to the next
  std::vector<guarded_buffer> memory_;
};

}  // namespace detail

struct timer::state {
  state(argument_memory& a, const backend::executor& e) : arguments(a), exec(e) {}

  argument_memory& arguments;
  const backend::executor& exec;
  guarded_buffer workspace;
  std::vector<guarded_buffer> packed;
  std::unique_ptr<detail::argument_ring> copies;  // made at the first rotating measurement
  std::vector<std::byte> other;                   // what flushes caches where no instruction does
  std::vector<std::size_t> weights;               // that `rotating` flushes; none: all rotate
  std::atomic<int> cancel{0};
  std::atomic<bool> ended{false};
  detail::watchdog watch{cancel};

  // of the code at hand
  std::vector<std::vector<void*>> data;  // [copies][arguments, then packed buffers]
  std::vector<backend::call> ring;
  std::size_t at = 0;  // copy of the next call
  std::byte* working = nullptr;

  bool rotates() const { return data.size() > 1; }
  /// Only weights come from memory.
  bool streams(caches where) const { return where == caches::rotating && !weights.empty(); }

  /// Arguments, workspace and packed weights of `code`; the last are filled outside of what is
  /// timed.
  bool prepare(const backend::loaded& code, caches where, measurement& out) {
    data = {arguments.data()};
    at = 0;
    if (where == caches::rotating && !streams(where)) {
      if (!copies) copies = std::make_unique<detail::argument_ring>(arguments);
      data.clear();
      for (std::size_t k = 0; k < copies->copies(); ++k) data.push_back(copies->data(k));
    }
    if (!code.preparation()) return true;
    const std::vector<std::int64_t>& sizes = code.packed_bytes();
    packed.resize(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = static_cast<std::size_t>(sizes[i]);
      if (packed[i].size() != size) packed[i] = guarded_buffer(size);
      for (std::vector<void*>& one : data) one.push_back(packed[i].data());
    }
    call(*code.preparation(), 1, out);
    at = 0;
    return out.failed == failure::none;
  }

  /// `count` calls; their duration in seconds.
  double call(const backend::loaded& code, int count, measurement& out) {
    detail::guarded_executor guarded{exec};
    const backend::executor e{&detail::guarded_executor::run, &guarded, exec.threads};
    const auto need = static_cast<std::size_t>(code.workspace_bytes());
    if (workspace.size() < need) workspace = guarded_buffer(need);
    // a smaller workspace is placed against the upper guard too
    working = need ? workspace.data() + (workspace.size() - need) / 64 * 64 : nullptr;
    ring.clear();
    for (const std::vector<void*>& one : data)
      ring.push_back({one.data(), arguments.strides().data(), working, &e, nullptr, &cancel});
    detail::timed_calls calls{code.entry(), &ring, at, count, backend::call_done};
    const auto start = detail::timer_clock::now();
    int signal = run_guarded(&detail::make_calls, &calls);
    const double seconds = detail::timer_seconds(start);
    at = calls.at;
    if (signal == 0) signal = guarded.signal.load();
    if (signal != 0) {
      out.failed = failure::fault;
      out.detail = std::string("the code ended with ") + fault_name(signal);
    } else if (calls.result != backend::call_done || cancel.load() != 0) {
      out.failed = failure::cancelled;
      out.detail = "cancelled";
    }
    return seconds;
  }

  /// What the next calls need is fresh where they change it, and cold where it shall be.
  void settle(const measure_options& options, int count) {
    if (arguments.updates()) {
      if (rotates())
        copies->reset(at, static_cast<std::size_t>(count));
      else
        arguments.reset();
    }
    if (options.where == caches::cold) flush();
    if (streams(options.where)) flush_weights();
  }

  bool flush_argument(std::size_t i) const {
    return flush_lines(arguments.buffer(i).data(), arguments.buffer(i).size());
  }

  void flush() {
    bool done = true;
    for (std::size_t i = 0; i < arguments.places().size(); ++i) done = flush_argument(i) && done;
    if (workspace.size()) flush_lines(workspace.data(), workspace.size());
    for (const guarded_buffer& b : packed) flush_lines(b.data(), b.size());
    if (!done) flush_by_reading();
  }

  void flush_weights() {
    bool done = true;
    for (const std::size_t i : weights) done = flush_argument(i) && done;
    // buffers of the code before may still be there
    for (std::size_t i = arguments.places().size(); i < data[0].size(); ++i) {
      const guarded_buffer& b = packed[i - arguments.places().size()];
      done = flush_lines(b.data(), b.size()) && done;
    }
    if (!done) flush_by_reading();
  }

  void flush_by_reading() {
    other.resize(detail::more_than_caches());
    for (std::size_t i = 0; i < other.size(); i += 64)
      static_cast<volatile std::byte*>(other.data())[i] = std::byte{1};
  }

  /// What there is not enough memory for fails, and the next one is tried.
  template <class Work>
  static void guarded(measurement& out, const Work& work) {
    try {
      work();
    } catch (const build_error& e) {
      out.failed = failure::build;
      out.detail = e.what();
    }
  }

  void begin(double deadline) {
    cancel.store(0);
    // in this order: `cancel` may come from another thread
    if (ended.load() || watch.other_is_set()) cancel.store(1);
    watch.arm(deadline);
  }
  void end(measurement& out) {
    const bool late = watch.disarm() && !ended.load() && !watch.other_is_set();
    if (late && out.failed == failure::cancelled) {
      out.failed = failure::timeout;
      out.detail = "took longer than its deadline";
    }
  }

  void open_guards(bool open) const noexcept {
    arguments.open_guards(open);
    workspace.open_guards(open);
    for (const guarded_buffer& b : packed) b.open_guards(open);
    if (copies) copies->open_guards(open);
  }

  /// While one lives, calls may touch what lies around their memory.
  struct open_guards_scope {
    explicit open_guards_scope(const state& s) : of(s) { of.open_guards(true); }
    ~open_guards_scope() { of.open_guards(false); }
    open_guards_scope(const open_guards_scope&) = delete;
    open_guards_scope& operator=(const open_guards_scope&) = delete;
    const state& of;
  };

  bool sample(const backend::loaded& code, const measure_options& options, int count,
              measurement& out) {
    settle(options, count);
    const double t = call(code, count, out) / count;
    if (out.failed == failure::none) out.seconds.push_back(t);
    return out.failed == failure::none;
  }

  /// Calls per sample: enough to tell their time from that of the clock.
  int batch(const measure_options& options, double one) const {
    if (options.where == caches::cold || streams(options.where)) return 1;
    return static_cast<int>(
        std::clamp(50e-6 / std::max(one, 1e-9), 1.0, arguments.updates() ? 64.0 : 5000.0));
  }

  /// Too slow to be repeated, `count` calls a sample. Calls on cold caches and new pages, or
  /// interrupted ones, look like it, so that the first ones do not decide.
  static bool hopeless(const measure_options& options, int count, const measurement& out) {
    const auto n = static_cast<int>(out.seconds.size());
    // to hide what the first waits for
    const bool long_enough =
        out.best() >= 50 * options.evidence ||
        (out.best() >= 10 * options.evidence && out.best() > 1.5 * options.hopeless * options.best);
    if ((n < 2 && !long_enough) || !(out.best() > options.hopeless * options.best)) return false;
    return n >= options.most_repeats || n * count * out.best() >= options.evidence;
  }

  /// Slower than what was found before by more than times of the same code differ: long calls are not repeated to tell
  /// by how much. Short ones, which take no time, are. Two times are needed, since one may have been disturbed; of calls
  /// that take far longer than to fill the caches, the first one counts, too.
  /// @param first seconds of the call that warmed up
  static bool behind(const measure_options& options, int count, double first,
                     const measurement& out) {
    constexpr double long_calls = 4;                // times the evidence
    constexpr double farther = 1.25, nearer = 1.1;  // times the best
    const double enough = long_calls * options.evidence;
    const bool each_is_long = count == 1 && std::min(first, out.best()) >= enough;
    const auto n = static_cast<int>(out.seconds.size()) + (each_is_long ? 1 : 0);
    const double best = each_is_long ? std::min(first, out.best()) : out.best();
    return n >= 2 && best > (each_is_long ? nearer : farther) * options.best &&
           n * count * best >= enough;
  }

  /// The first call, between inaccessible pages. False when there is no use in more.
  bool first_call(const backend::loaded& code, const measure_options& options, measurement& out) {
    return prepare(code, options.where, out) && sample(code, options, 1, out);
  }

  /// Further calls, which warm caches and pages. False when there is no use in more.
  bool warm_up(const backend::loaded& code, const measure_options& options, measurement& out) {
    // what the guards added to a short call says nothing about others
    const bool is_short = options.most_repeats > 0 && out.best() < options.evidence;
    if (is_short && !sample(code, options, 1, out)) return false;
    while (out.best() > options.hopeless * options.best) {
      if (hopeless(options, 1, out) || !sample(code, options, 1, out)) return false;
    }
    return true;
  }

  void repeat(const backend::loaded& code, const measure_options& options, measurement& out) {
    if (options.most_repeats == 0) return;
    const double first = out.best();
    const int count = batch(options, first);
    const auto start = detail::timer_clock::now();
    out.seconds.clear();
    while (sample(code, options, count, out)) {
      const int n = static_cast<int>(out.seconds.size());
      const bool late = detail::timer_seconds(start) > options.budget;
      const bool steady = n >= options.repeats && out.spread() < options.stable;
      const bool enough = n >= 3 || out.best() > 5 * options.budget;
      if (n >= options.most_repeats || (late && enough) || steady) break;
      if (hopeless(options, count, out) || behind(options, count, first, out)) break;
    }
  }
};

TILEWRIGHT_INLINE timer::timer(argument_memory& arguments, const backend::executor& exec)
    : state_(std::make_unique<state>(arguments, exec)) {}
TILEWRIGHT_INLINE timer::~timer() = default;

TILEWRIGHT_INLINE measurement timer::measure(const backend::loaded& code,
                                             const measure_options& options) {
  const fault_handlers handlers;
  measurement out;
  state& s = *state_;
  s.begin(options.deadline);
  s.guarded(out, [&] {
    if (!s.first_call(code, options, out)) return;
    const state::open_guards_scope as_in_a_program(s);
    // the calls that warm up count only where there are no others
    if (s.warm_up(code, options, out)) s.repeat(code, options, out);
  });
  s.end(out);
  return out;
}

TILEWRIGHT_INLINE measurement timer::run(const backend::loaded& code, double deadline) {
  const fault_handlers handlers;
  measurement out;
  state_->arguments.reset();
  state_->begin(deadline);
  double t = 0;
  state_->guarded(out, [&] {
    if (state_->prepare(code, caches::warm, out)) t = state_->call(code, 1, out);
  });
  state_->end(out);
  if (out.failed == failure::none) out.seconds.push_back(t);
  return out;
}

TILEWRIGHT_INLINE void timer::take_from_memory(std::vector<std::size_t> weights) {
  state_->weights = std::move(weights);
}

TILEWRIGHT_INLINE void timer::watch(const std::atomic<bool>* cancelled) {
  state_->watch.watch(cancelled);
}

TILEWRIGHT_INLINE void timer::cancel() {
  state_->ended.store(true);
  state_->cancel.store(1);
}

}  // namespace tilewright::search
