#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <tilewright/search/runner.hpp>
#include <tilewright/support/float16.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {
namespace detail {

using runner_clock = std::chrono::steady_clock;

inline double runner_seconds(runner_clock::time_point since) {
  return std::chrono::duration<double>(runner_clock::now() - since).count();
}

/// Sets a flag when a time has passed. One thread, started at the first use.
class watchdog {
 public:
  explicit watchdog(std::atomic<int>& flag) : flag_(flag) {}
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
      until_ = runner_clock::now() + std::chrono::duration_cast<runner_clock::duration>(
                                         std::chrono::duration<double>(std::min(seconds, 1e6)));
      armed_ = true;
      bit_ = false;
      if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
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
      } else if (runner_clock::now() >= until_) {
        flag_.store(1, std::memory_order_relaxed);
        bit_ = true;
        armed_ = false;
      } else {
        wake_.wait_until(lock, until_);
      }
    }
  }

  std::atomic<int>& flag_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  runner_clock::time_point until_{};
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
    if (const int s = run_guarded(&call_chunk, &one)) all->self->signal.store(s, std::memory_order_relaxed);
  }
  static void call_chunk(void* context) {
    const chunk* c = static_cast<const chunk*>(context);
    c->of->body(c->of->context, c->number, c->worker);
  }
};

/// `count` calls of an entry.
struct runner_calls {
  backend::entry entry;
  const backend::call* arguments;
  int count;
  int result;
};

inline void make_calls(void* context) {
  auto* c = static_cast<runner_calls*>(context);
  for (int i = 0; i < c->count && c->result == backend::call_done; ++i) c->result = c->entry(c->arguments);
}

/// What values a parameter gets.
struct runner_values {
  double low = -1, high = 1;              // floats
  std::int64_t first = -8, last = 8;      // integers
};

inline runner_values values_for(const operand& o, const value_needs& needs) {
  runner_values v;
  if (needs.positive) v.low = 0.25, v.high = 1.25;
  if (is_unsigned(o.type)) v.first = 0, v.last = 15;
  if (needs.integer_divisor) v.first = 1;
  if (o.type == dtype::boolean) v.first = 0, v.last = 1;
  if (o.index) {
    const std::int64_t most = std::min<std::int64_t>(o.index->last, o.type == dtype::i8    ? 127
                                                                    : o.type == dtype::u8  ? 255
                                                                    : o.type == dtype::i16 ? 32767
                                                                                           : (1LL << 31) - 1);
    v.first = std::max<std::int64_t>(o.index->first, most < (1LL << 30) ? o.index->first : 0);
    v.last = std::max(v.first, most);
    if (v.last - v.first > (1LL << 20)) v.first = 0, v.last = 8;  // no bound was found
  }
  return v;
}

inline void put_value(std::byte* at, dtype type, const runner_values& v, support::random& r) {
  const auto whole = [&] {
    return v.first + static_cast<std::int64_t>(r.below(static_cast<std::uint64_t>(v.last - v.first) + 1));
  };
  const auto store = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  const double real = is_float(type) ? v.low + (v.high - v.low) * r.unit() : 0;
  switch (type) {
    case dtype::f64: store(real); return;
    case dtype::f32: store(static_cast<float>(real)); return;
    case dtype::f16: store(float16(static_cast<float>(real)).bits); return;
    case dtype::bf16: store(bfloat16(static_cast<float>(real)).bits); return;
    default: break;
  }
  const std::int64_t value = whole();
  std::memcpy(at, &value, static_cast<std::size_t>(bytes(type)));  // little-endian: the low bytes
}

/// Calls `f(offset)` for each element in row-major order. // elements
template <class F>
inline void each_offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                        const F& f) {
  const std::size_t rank = extents.size();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e <= 0; })) return;
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (;;) {
    f(offset);
    std::size_t d = rank;
    while (d-- > 0) {
      offset += strides[d];
      if (++index[d] < extents[d]) break;
      offset -= index[d] * strides[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

inline std::size_t runner_quantile(std::size_t n, double q) {
  return std::min(n - 1, static_cast<std::size_t>(q * static_cast<double>(n)));
}

}  // namespace detail

TILEWRIGHT_INLINE const char* name(failure f) {
  switch (f) {
    case failure::none: return "none";
    case failure::schedule: return "schedule";
    case failure::build: return "build";
    case failure::fault: return "fault";
    case failure::timeout: return "timeout";
    case failure::cancelled: return "cancelled";
    case failure::wrong_result: return "wrong result";
  }
  return "";
}

TILEWRIGHT_INLINE double measurement::best() const {
  return seconds.empty() ? INFINITY : *std::min_element(seconds.begin(), seconds.end());
}

TILEWRIGHT_INLINE double measurement::median() const {
  if (seconds.empty()) return INFINITY;
  std::vector<double> s = seconds;
  std::sort(s.begin(), s.end());
  return s[s.size() / 2];
}

TILEWRIGHT_INLINE double measurement::spread() const {
  if (seconds.size() < 3) return 1;
  std::vector<double> s = seconds;
  std::sort(s.begin(), s.end());
  return (s[detail::runner_quantile(s.size(), 0.75)] - s[detail::runner_quantile(s.size(), 0.25)]) / s[s.size() / 2];
}

struct runner::state {
  struct memory {
    guarded_buffer buffer;
    std::byte* element0 = nullptr;
    std::vector<std::byte> pristine;  // of written parameters: the buffer before any call
  };

  state(const ir::function& f, const backend::executor& e) : operands(search::operands(f)), needs(needs_of(f)), exec(e) {}

  std::vector<operand> operands;
  value_needs needs;
  std::vector<argument_layout> layouts;
  std::vector<memory> memories;
  std::vector<void*> data;
  std::vector<void*> all_data;  // and the packed buffers of the code at hand
  std::vector<std::int64_t> strides;
  guarded_buffer workspace;
  std::vector<guarded_buffer> packed;
  std::atomic<int> cancel{0};
  std::atomic<bool> ended{false};
  const backend::executor& exec;
  bool updates = false;  // a parameter is both read and written
  detail::watchdog watch{cancel};

  void make(std::size_t i, support::random r) {
    const operand& o = operands[i];
    memory& m = memories[i];
    const std::int64_t size = bytes(o.type);
    const memory_span span = span_of(o.extents, layouts[i].strides);
    const std::int64_t elements = std::max<std::int64_t>(span.last - span.first + 1, 1);
    m.buffer = guarded_buffer(static_cast<std::size_t>(elements * size), layouts[i].alignment);
    m.element0 = m.buffer.data() - span.first * size;
    const bool fill = o.read || !o.written;
    if (fill) {
      const detail::runner_values v = detail::values_for(o, needs);
      detail::each_offset(o.extents, layouts[i].strides,
                          [&](std::int64_t at) { detail::put_value(m.element0 + at * size, o.type, v, r); });
    } else {  // an output that nobody writes shall not look right by chance
      std::memset(m.buffer.data(), 0xa5, m.buffer.size());
    }
    if (o.written) m.pristine.assign(m.buffer.data(), m.buffer.data() + m.buffer.size());
    updates |= o.written && o.read;
  }

  void reset() {
    for (memory& m : memories)
      if (!m.pristine.empty()) std::memcpy(m.buffer.data(), m.pristine.data(), m.pristine.size());
  }

  /// Fills the packed buffers of code for bound weights, outside of what is timed.
  bool prepare(const backend::loaded& code, measurement& out) {
    all_data = data;
    if (!code.preparation()) return true;
    const std::vector<std::int64_t>& sizes = code.packed_bytes();
    packed.resize(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = static_cast<std::size_t>(sizes[i]);
      if (packed[i].size() != size) packed[i] = guarded_buffer(size, 64);
      all_data.push_back(packed[i].data());
    }
    call(*code.preparation(), 1, out);
    return out.failed == failure::none;
  }

  /// `count` calls; their duration in seconds, or why there is none.
  double call(const backend::loaded& code, int count, measurement& out) {
    detail::guarded_executor guarded{exec};
    const backend::executor e{&detail::guarded_executor::run, &guarded, exec.threads};
    const auto need = static_cast<std::size_t>(code.workspace_bytes());
    if (workspace.size() < need) workspace = guarded_buffer(need, 64);
    // a smaller workspace is placed against the upper guard too
    std::byte* w = need ? workspace.data() + (workspace.size() - need) / 64 * 64 : nullptr;
    const backend::call arguments{all_data.data(), strides.data(), w, &e, nullptr, &cancel};
    detail::runner_calls calls{code.entry(), &arguments, count, backend::call_done};
    const auto start = detail::runner_clock::now();
    int signal = run_guarded(&detail::make_calls, &calls);
    const double seconds = detail::runner_seconds(start);
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

  void begin(double deadline) {
    cancel.store(0);
    if (ended.load()) cancel.store(1);  // in this order: `cancel` may come from another thread
    watch.arm(deadline);
  }
  void end(measurement& out) {
    if (watch.disarm() && out.failed == failure::cancelled && !ended.load()) {
      out.failed = failure::timeout;
      out.detail = "took longer than its deadline";
    }
  }
};

TILEWRIGHT_INLINE runner::runner(const ir::function& f, std::vector<argument_layout> layouts,
                                 const backend::executor& exec, std::uint64_t seed)
    : state_(std::make_unique<state>(f, exec)) {
  const std::size_t n = state_->operands.size();
  layouts.resize(n);
  state_->memories.resize(n);
  support::random random(seed);
  for (std::size_t i = 0; i < n; ++i) {
    if (layouts[i].strides.empty()) layouts[i].strides = state_->operands[i].strides;
    state_->layouts.push_back(layouts[i]);
    state_->make(i, random.split());
    state_->data.push_back(state_->memories[i].element0);
    if (!state_->operands[i].scalar)
      state_->strides.insert(state_->strides.end(), layouts[i].strides.begin(), layouts[i].strides.end());
  }
}

TILEWRIGHT_INLINE runner::~runner() = default;

TILEWRIGHT_INLINE measurement runner::measure(const backend::loaded& code, const measure_options& options) {
  const fault_handlers handlers;
  measurement out;
  state& s = *state_;
  s.begin(options.deadline);
  const auto sample = [&](int count) {
    if (s.updates) s.reset();
    const double t = s.call(code, count, out) / count;
    if (out.failed == failure::none) out.seconds.push_back(t);
    return out.failed == failure::none;
  };
  bool more = s.prepare(code, out) && sample(1);  // warms caches and pages; counts only when it is the only one
  if (more && out.best() > 2 * options.best) {
    more = sample(1);
    if (more && out.best() > 2 * options.best) more = false;
  }
  if (more) {
    const double first = out.best();
    out.seconds.clear();
    const int count = static_cast<int>(std::clamp(50e-6 / std::max(first, 1e-9), 1.0, s.updates ? 64.0 : 5000.0));
    const auto start = detail::runner_clock::now();
    do {
      if (!sample(count)) break;
      const int n = static_cast<int>(out.seconds.size());
      const bool late = detail::runner_seconds(start) > options.budget;
      if (n >= options.most_repeats || (late && n >= 3) || (n >= options.repeats && out.spread() < options.stable)) break;
      if (n >= 2 && out.best() > 2 * options.best) break;
    } while (true);
  }
  s.end(out);
  return out;
}

TILEWRIGHT_INLINE measurement runner::run(const backend::loaded& code, double deadline) {
  const fault_handlers handlers;
  measurement out;
  state_->reset();
  state_->begin(deadline);
  const double t = state_->prepare(code, out) ? state_->call(code, 1, out) : 0;
  state_->end(out);
  if (out.failed == failure::none) out.seconds.push_back(t);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::vector<std::byte>> runner::outputs() const {
  std::vector<std::vector<std::byte>> out;
  for (std::size_t i = 0; i < state_->operands.size(); ++i) {
    const operand& o = state_->operands[i];
    if (!o.written) continue;
    const auto size = static_cast<std::size_t>(bytes(o.type));
    std::vector<std::byte> all(static_cast<std::size_t>(o.elements()) * size);
    std::byte* to = all.data();
    detail::each_offset(o.extents, state_->layouts[i].strides, [&](std::int64_t at) {
      std::memcpy(to, state_->memories[i].element0 + at * static_cast<std::int64_t>(size), size);
      to += size;
    });
    out.push_back(std::move(all));
  }
  return out;
}

TILEWRIGHT_INLINE void runner::cancel() {
  state_->ended.store(true);
  state_->cancel.store(1);
}

TILEWRIGHT_INLINE const std::vector<operand>& runner::operands() const noexcept { return state_->operands; }
TILEWRIGHT_INLINE const std::vector<void*>& runner::data() const noexcept { return state_->data; }
TILEWRIGHT_INLINE const std::vector<argument_layout>& runner::layouts() const noexcept { return state_->layouts; }
TILEWRIGHT_INLINE void runner::reset_outputs() { state_->reset(); }

}  // namespace tilewright::search
