#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/interpret.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/dispatcher.hpp>
#include <tilewright/search/layout.hpp>
#include <tilewright/search/operands.hpp>
#include <tilewright/search/shrink.hpp>
#include <tilewright/search/specialization.hpp>
#include <tilewright/search/verify.hpp>
#include <tilewright/search/zero_extents.hpp>
#include <tilewright/space/cpu.hpp>

namespace tilewright::search {
namespace detail {

inline constexpr std::size_t fast_params = 16;   // arguments that fit on the stack of a call
inline constexpr std::size_t fast_strides = 64;

/// The workspace of calls on this thread: grows, and is given back when the thread ends.
class workspace_lease {
 public:
  static std::byte* get(std::int64_t size) {
    thread_local workspace_lease mine;
    if (size > mine.size_) mine.grow(size);
    return mine.data_;
  }
  ~workspace_lease() { std::free(data_); }
  workspace_lease(const workspace_lease&) = delete;
  workspace_lease& operator=(const workspace_lease&) = delete;

 private:
  workspace_lease() = default;
  void grow(std::int64_t size) {
    std::free(data_);
    size_ = (size + 4095) / 4096 * 4096;
    data_ = static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(size_)));
    if (data_) return;
    size_ = 0;
    throw build_error("no memory for a workspace of " + std::to_string(size) + " bytes");
  }
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// The last binding that this thread used, of whatever dispatcher.
struct last_hit {
  std::uint64_t owner = 0;  // serial number of the dispatcher
  const void* binding = nullptr;
};
inline thread_local last_hit dispatch_hit;

inline std::uint64_t dispatch_mix(std::uint64_t h, std::int64_t v) {
  h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 32);
}

inline mode dispatch_mode(mode wanted) {
  const char* v = std::getenv("TILEWRIGHT_TUNE");
  if (!v || !*v) return wanted;
  const std::string_view text = v;
  if (text == "now") return mode::now;
  if (text == "background") return mode::background;
  if (text == "off") return mode::off;
  if (text == "miss_error") return mode::miss_error;
  throw argument_error("TILEWRIGHT_TUNE is \"" + std::string(text) + "\"; write now, background, off or miss_error");
}

/// A mutex that a forked child replaces, since its owner may be a thread that the child does not have.
struct dispatch_sync {
  std::mutex mutex;
  std::condition_variable changed;
  pid_t pid = ::getpid();
};

}  // namespace detail

struct dispatcher::specialization {
  enum class stage { fresh, preparing, ready };
  std::unique_ptr<search::specialization> code;  // null: nothing to do, or `identity`
  ir::function function;                        // unscheduled, dimensions in the user's order
  std::vector<operand> operands;
  bool gathers = false;
  std::optional<ir::function> identity;  // interpreted instead: a reduction over nothing
  bool upgrading = false;                // a background thread works on it
  stage at = stage::fresh;
  pid_t preparer = 0;
};

struct dispatcher::binding {
  specialization* of = nullptr;
  std::vector<std::int64_t> extents, strides;  // of all parameters
  struct memory {
    std::int64_t first, last;  // bytes that are touched, relative to element 0; last < first: none
    bool written;
  };
  std::vector<memory> spans;
  std::uint64_t hash = 0;
  bool nothing = false;  // every output is empty
  std::int64_t first_misaligned = 0;
};

struct dispatcher::table {
  explicit table(std::size_t n) : slots(n) {}
  std::vector<std::atomic<const binding*>> slots;  // power of two, open addressing
  std::size_t used = 0;
};

struct dispatcher::state {
  kernel_signature kernel;
  std::function<ir::function(const extent_map&)> make;
  tuned_options options;
  tilewright::mode mode;
  std::uint64_t serial;
  std::vector<int> ranks;
  std::vector<std::int64_t> element_bytes;
  target::cpu cpu;
  const backend::executor* exec = nullptr;
  std::unique_ptr<backend::pool> own_pool;
  std::shared_ptr<database> db;

  std::atomic<const table*> published{nullptr};
  std::vector<std::unique_ptr<table>> tables;
  std::vector<std::unique_ptr<binding>> bindings;
  std::map<std::string, std::unique_ptr<specialization>> specializations;
  std::atomic<detail::dispatch_sync*> sync{nullptr};
  std::vector<std::thread> threads;
  pid_t threads_of = ::getpid();
  std::atomic<bool> cancelled{false};

  detail::dispatch_sync& synchronized() {
    detail::dispatch_sync* now = sync.load(std::memory_order_acquire);
    if (now && now->pid == ::getpid()) return *now;
    auto* fresh = new detail::dispatch_sync;
    if (sync.compare_exchange_strong(now, fresh)) return *fresh;  // the parent's is left as it is
    delete fresh;
    return *now;
  }

  std::uint64_t hash(const call_argument* a) const {
    std::uint64_t h = 1;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      for (int d = 0; d < ranks[i]; ++d) h = detail::dispatch_mix(detail::dispatch_mix(h, a[i].extents[d]), a[i].strides[d]);
    return h;
  }

  bool matches(const binding& b, const call_argument* a) const {
    const std::int64_t *e = b.extents.data(), *s = b.strides.data();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const int n = ranks[i];
      for (int d = 0; d < n; ++d)
        if (e[d] != a[i].extents[d] || s[d] != a[i].strides[d]) return false;
      e += n;
      s += n;
    }
    return true;
  }

  void insert(const binding* b) {
    table* t = tables.empty() ? nullptr : tables.back().get();
    if (!t || 2 * (t->used + 1) > t->slots.size()) {
      tables.push_back(std::make_unique<table>(t ? 2 * t->slots.size() : 16));
      for (const auto& old : bindings)
        if (old.get() != b) put(*tables.back(), old.get());
      put(*tables.back(), b);
      published.store(tables.back().get(), std::memory_order_release);
      return;  // readers may still hold the old table: it stays
    }
    put(*t, b);
  }
  static void put(table& t, const binding* b) {
    std::size_t i = b->hash & (t.slots.size() - 1);
    while (t.slots[i].load(std::memory_order_relaxed)) i = (i + 1) & (t.slots.size() - 1);
    t.slots[i].store(b, std::memory_order_release);
    ++t.used;
  }

  // ---- checks of a new set of extents and strides ----

  [[noreturn]] void refuse(const std::string& what) const { throw argument_error(kernel.name + ": " + what); }

  extent_map bind_dimensions(const call_argument* a) const {
    extent_map out;
    std::map<std::string, std::string, std::less<>> from;
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      const parameter_signature& p = kernel.params[i];
      for (std::size_t d = 0; d < p.dims.size(); ++d) {
        const std::int64_t given = a[i].extents[d];
        const std::string place = "dimension " + std::to_string(d) + " of \"" + p.name + "\"";
        if (given < 0) refuse(place + " has extent " + std::to_string(given) + "; extents are not negative");
        const parameter_signature::dimension& dim = p.dims[d];
        if (dim.name.empty()) {
          if (given != dim.extent)
            refuse(place + " has extent " + std::to_string(given) + "; the kernel says " + std::to_string(dim.extent));
          continue;
        }
        const auto [at, fresh] = out.emplace(dim.name, given);
        if (fresh) from[dim.name] = place;
        if (at->second != given)
          refuse("extent \"" + dim.name + "\" is " + std::to_string(at->second) + " at " + from[dim.name] + " and " +
                 std::to_string(given) + " at " + place + "; they must agree");
      }
    }
    return out;
  }

  /// The elements of an output must not share memory; strides must not overflow what can be addressed.
  void check_strides(const call_argument* a) const {
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      const parameter_signature& p = kernel.params[i];
      std::vector<std::pair<std::int64_t, std::int64_t>> by_stride;  // |stride|, extent
      long double reach = 0;
      for (std::size_t d = 0; d < p.dims.size(); ++d) {
        if (a[i].extents[d] <= 1) continue;
        reach += static_cast<long double>(a[i].extents[d] - 1) * std::abs(static_cast<long double>(a[i].strides[d]));
        by_stride.emplace_back(a[i].strides[d] < 0 ? -a[i].strides[d] : a[i].strides[d], a[i].extents[d]);
      }
      if (reach * static_cast<long double>(bytes(p.type)) > 0x1p62L)
        refuse("the strides of \"" + p.name + "\" reach beyond what memory can hold");
      const bool empty = std::any_of(a[i].extents, a[i].extents + p.dims.size(), [](std::int64_t e) { return e == 0; });
      if (!p.written || empty) continue;
      std::sort(by_stride.begin(), by_stride.end());
      std::int64_t inner = 0;  // offset of the last element of the dimensions so far
      for (const auto& [stride, extent] : by_stride) {
        if (stride <= inner)
          refuse("the strides of output \"" + p.name + "\" put several elements into one place; a stride of " +
                 std::to_string(stride) + " needs to be at least " + std::to_string(inner + 1));
        inner += stride * (extent - 1);
      }
    }
  }

  void describe_memory(binding& b, const call_argument* a) const {
    b.nothing = true;
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      const parameter_signature& p = kernel.params[i];
      const std::size_t rank = p.dims.size();
      const std::vector<std::int64_t> extents(a[i].extents, a[i].extents + rank), strides(a[i].strides, a[i].strides + rank);
      b.extents.insert(b.extents.end(), extents.begin(), extents.end());
      b.strides.insert(b.strides.end(), strides.begin(), strides.end());
      const memory_span s = span_of(extents, strides);
      const std::int64_t size = bytes(p.type);
      b.spans.push_back({s.first * size, s.last < s.first ? -1 : s.last * size + size - 1, p.written});
      if (s.last < s.first) b.spans.back().first = 0;
      if (p.written && s.last >= s.first) b.nothing = false;
    }
  }

  // ---- specializations ----

  /// The kernel at these extents; zero extents go through a placeholder that no other extent equals.
  std::int64_t placeholder_for(const extent_map& dims) const {
    std::int64_t out = 97;
    const auto used = [&](std::int64_t v) {
      return std::any_of(dims.begin(), dims.end(), [&](const auto& d) { return d.second == v; });
    };
    while (used(out)) ++out;
    return out;
  }

  void make_specialization(specialization& s, const extent_map& dims, const std::vector<layout_class>& layouts,
                           const binding& b) {
    const bool empty = std::any_of(dims.begin(), dims.end(), [](const auto& d) { return d.second == 0; });
    if (empty) {
      extent_map instead = dims;
      const std::int64_t placeholder = placeholder_for(dims);
      for (auto& [name, extent] : instead)
        if (extent == 0) extent = placeholder;
      s.identity = without_iterations(make(instead), placeholder);
      return;
    }
    s.function = make(dims);
    s.operands = operands(s.function);
    s.gathers = std::any_of(s.operands.begin(), s.operands.end(), [](const operand& o) { return o.index.has_value(); });
    workload w;
    w.function = with_layouts(s.function, layouts);
    w.key = {ir::workload_key(w.function).hex(), cpu.isa_key(), "", exec->threads};
    for (std::size_t i = 0; i < kernel.params.size(); ++i)
      w.key.arguments += (i ? " " : "") + kernel.params[i].name + ":" + layouts[i].text();
    w.family = family_of(w.function);
    w.extents = b.extents;
    const std::int64_t* strides = b.strides.data();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      w.layouts.emplace_back();  // dense: as declared
      if (!layouts[i].dense) w.layouts.back().strides.assign(strides, strides + ranks[i]);
      strides += ranks[i];
    }
    w.cpu = &cpu;
    w.exec = exec;
    w.space = options.space ? options.space : space::default_cpu();
    w.shrunk = [this, dims, layouts] { return shrunk(dims, layouts); };
    s.code = std::make_unique<search::specialization>(std::move(w), options, db);
  }

  /// The kernel at extents that the interpreter can run.
  std::optional<ir::function> shrunk(const extent_map& dims, const std::vector<layout_class>& layouts) const {
    const std::optional<ir::function> f = shrink(make, dims, 1e5);
    if (!f) return std::nullopt;
    std::vector<layout_class> dense = layouts;
    for (layout_class& l : dense)
      if (!l.dense) l = layout_class{};  // the comparison is about the schedule, not about strides
    return with_layouts(*f, dense);
  }

  /// Brings a specialization to where it can run. One thread at a time; not under the lock.
  void prepare(specialization& s) {
    search::specialization& code = *s.code;
    if (code.load_stored()) return;
    switch (mode) {
      case mode::miss_error:
        throw argument_error(kernel.name + ": " + db->why(code.task().key) + "and TILEWRIGHT_TUNE or the options say miss_error");
      case mode::now:
        if (code.tune(cancelled)) return;
        code.load_fallback("another process is tuning this kernel now");
        return;
      case mode::background:
        code.load_fallback("tuning in the background");
        s.upgrading = true;
        return;
      case mode::off: code.load_fallback("nothing is stored and tuning is off"); return;
    }
  }

  void start_background(specialization& s) {
    threads.emplace_back([this, &s] {
      try {
        s.code->tune(cancelled);
      } catch (const std::exception&) {  // the fallback goes on; the next process tries again
      }
      detail::dispatch_sync& sy = synchronized();
      const std::lock_guard lock(sy.mutex);
      s.upgrading = false;
      sy.changed.notify_all();
    });
  }

  void make_ready(specialization& s) {
    detail::dispatch_sync& sy = synchronized();
    std::unique_lock lock(sy.mutex);
    using stage = specialization::stage;
    for (;;) {
      if (s.at == stage::ready) return;
      if (s.at == stage::fresh || s.preparer != ::getpid()) break;  // or its preparer is not in this process
      sy.changed.wait(lock);
    }
    s.at = stage::preparing;
    s.preparer = ::getpid();
    lock.unlock();
    std::exception_ptr failed;
    try {
      if (s.code) prepare(s);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    s.at = failed ? stage::fresh : stage::ready;
    if (!failed && s.upgrading) start_background(s);
    sy.changed.notify_all();
    if (failed) std::rethrow_exception(failed);
  }

  // ---- the call ----

  void check_memory(const binding& b, const call_argument* a) const {
    const std::size_t n = b.spans.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (b.spans[i].last < b.spans[i].first) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(a[i].data);
      if (address == 0) refuse("the data of \"" + kernel.params[i].name + "\" are a null pointer");
      if ((address & static_cast<std::uintptr_t>(element_bytes[i] - 1)) != 0)
        refuse("the data of \"" + kernel.params[i].name + "\" are not aligned to its element type");
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!b.spans[i].written || b.spans[i].last < b.spans[i].first) continue;
      const auto* at = static_cast<const char*>(a[i].data);
      for (std::size_t k = 0; k < n; ++k) {
        if (k == i || (b.spans[k].written && k < i) || b.spans[k].last < b.spans[k].first) continue;
        const auto* other = static_cast<const char*>(a[k].data);
        if (at + b.spans[i].first <= other + b.spans[k].last && other + b.spans[k].first <= at + b.spans[i].last)
          refuse("output \"" + kernel.params[i].name + "\" overlaps \"" + kernel.params[k].name +
                 "\"; give it memory of its own, or declare the parameter inout");
      }
    }
  }

  void check_indices(const binding& b, const call_argument* a) const;
};

namespace detail {

/// First element of a strided tensor that is outside the range, as text; empty when there is none.
template <class T>
inline std::string find_outside(const operand& o, const T* data, const std::int64_t* strides) {
  const std::size_t rank = o.extents.size();
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t n = o.elements(), k = 0; k < n; ++k) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset += index[d] * strides[d];
    const T raw = data[offset];
    const bool huge = std::is_unsigned_v<T> && sizeof(T) == 8 && raw > static_cast<T>(INT64_MAX);
    const auto value = static_cast<std::int64_t>(raw);
    if (huge || value < o.index->first || value > o.index->last) {
      std::string out = "\"" + o.name + "\"[";
      for (std::size_t d = 0; d < rank; ++d) out += (d ? ", " : "") + std::to_string(index[d]);
      return out + "] is " + (huge ? std::string("beyond every extent") : std::to_string(value));
    }
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < o.extents[d]) break;
      index[d] = 0;
    }
  }
  return {};
}

inline std::string find_outside(const operand& o, const void* data, const std::int64_t* strides) {
  switch (o.type) {
    case dtype::i8: return find_outside(o, static_cast<const std::int8_t*>(data), strides);
    case dtype::i16: return find_outside(o, static_cast<const std::int16_t*>(data), strides);
    case dtype::i32: return find_outside(o, static_cast<const std::int32_t*>(data), strides);
    case dtype::i64: return find_outside(o, static_cast<const std::int64_t*>(data), strides);
    case dtype::u8: return find_outside(o, static_cast<const std::uint8_t*>(data), strides);
    case dtype::u16: return find_outside(o, static_cast<const std::uint16_t*>(data), strides);
    case dtype::u32: return find_outside(o, static_cast<const std::uint32_t*>(data), strides);
    case dtype::u64: return find_outside(o, static_cast<const std::uint64_t*>(data), strides);
    default: return {};
  }
}

}  // namespace detail

TILEWRIGHT_INLINE void dispatcher::state::check_indices(const binding& b, const call_argument* a) const {
  for (std::size_t i = 0; i < b.of->operands.size(); ++i) {
    const operand& o = b.of->operands[i];
    if (!o.index) continue;
    const std::string outside = detail::find_outside(o, a[i].data, a[i].strides);
    if (!outside.empty())
      refuse(outside + "; as an index it must be in [" + std::to_string(o.index->first) + ", " +
             std::to_string(o.index->last) + "]");
  }
}

TILEWRIGHT_INLINE dispatcher::dispatcher(kernel_signature kernel, std::function<ir::function(const extent_map&)> make,
                                         tuned_options options)
    : state_(std::make_unique<state>()) {
  static std::atomic<std::uint64_t> serial{0};
  state& s = *state_;
  s.kernel = std::move(kernel);
  s.make = std::move(make);
  s.options = std::move(options);
  s.mode = detail::dispatch_mode(s.options.mode);
  s.serial = ++serial;
  for (const parameter_signature& p : s.kernel.params) {
    s.ranks.push_back(static_cast<int>(p.dims.size()));
    s.element_bytes.push_back(bytes(p.type));
  }
  if (s.options.threads < 0) throw argument_error(s.kernel.name + ": threads is negative; write 0 for all");
  const int all = backend::pool::shared().threads();
  if (s.options.threads == 0 || s.options.threads == all) {
    s.exec = &backend::pool::shared().view();
  } else if (s.options.threads < all) {
    s.exec = &backend::pool::shared().view(s.options.threads);
  } else {
    s.own_pool = std::make_unique<backend::pool>(s.options.threads);
    s.exec = &s.own_pool->view();
  }
  s.cpu = target::host();
  s.cpu.cores = s.exec->threads;
  s.db = database::shared(s.options.database);
}

TILEWRIGHT_INLINE dispatcher::~dispatcher() {
  cancel();
  const bool mine = state_->threads_of == ::getpid();
  for (std::thread& t : state_->threads) {
    if (mine) t.join();
    else t.detach();  // after fork: the thread does not exist here
  }
  delete state_->sync.load();
}

TILEWRIGHT_INLINE const dispatcher::binding* dispatcher::find(const call_argument* a) const {
  const state& s = *state_;
  const table* t = s.published.load(std::memory_order_acquire);
  if (!t) return nullptr;
  const std::size_t mask = t->slots.size() - 1;
  for (std::size_t i = s.hash(a) & mask;; i = (i + 1) & mask) {
    const binding* b = t->slots[i].load(std::memory_order_acquire);
    if (!b || s.matches(*b, a)) return b;
  }
}

TILEWRIGHT_INLINE const dispatcher::binding& dispatcher::bind(const call_argument* a) {
  state& s = *state_;
  const extent_map dims = s.bind_dimensions(a);
  s.check_strides(a);
  auto fresh = std::make_unique<binding>();
  s.describe_memory(*fresh, a);
  fresh->hash = s.hash(a);
  std::vector<layout_class> layouts;
  std::string name;
  for (std::size_t i = 0; i < s.ranks.size(); ++i) {
    layouts.push_back(classify(static_cast<std::size_t>(s.ranks[i]), a[i].extents, a[i].strides));
    name += layouts.back().text() + "|";
  }
  name += write_numbers(fresh->extents);
  specialization* of = nullptr;
  {
    detail::dispatch_sync& sy = s.synchronized();
    const std::lock_guard lock(sy.mutex);
    std::unique_ptr<specialization>& slot = s.specializations[name];
    if (!slot) {
      auto made = std::make_unique<specialization>();
      try {
        if (!fresh->nothing) s.make_specialization(*made, dims, layouts, *fresh);
      } catch (...) {
        s.specializations.erase(name);
        throw;
      }
      slot = std::move(made);
    }
    of = slot.get();
  }
  fresh->of = of;
  s.check_memory(*fresh, a);  // before time is spent on tuning
  if (of->gathers) s.check_indices(*fresh, a);
  s.make_ready(*of);
  detail::dispatch_sync& sy = s.synchronized();
  const std::lock_guard lock(sy.mutex);
  if (const binding* there = find(a)) return *there;
  s.bindings.push_back(std::move(fresh));
  s.insert(s.bindings.back().get());
  return *s.bindings.back();
}

TILEWRIGHT_INLINE void dispatcher::run(const binding& b, const call_argument* a) {
  state& s = *state_;
  s.check_memory(b, a);
  if (b.nothing) return;
  const specialization& of = *b.of;
  if (of.gathers) s.check_indices(b, a);
  const variant* v = of.code ? of.code->current() : nullptr;
  const std::size_t n = s.ranks.size();
  if (!v || !v->entry) {
    std::vector<ir::tensor_view> views;
    static std::int64_t no_elements = 0;  // stands for the null pointer of an empty argument
    for (std::size_t i = 0; i < n; ++i)
      views.push_back({a[i].data ? a[i].data : &no_elements, {a[i].strides, a[i].strides + s.ranks[i]}});
    ir::interpret(of.identity ? *of.identity : of.function, std::move(views));
    return;
  }
  std::array<void*, detail::fast_params> few;
  std::vector<void*> many;
  void** data = few.data();
  if (n > few.size()) {
    many.resize(n);
    data = many.data();
  }
  for (std::size_t i = 0; i < n; ++i) data[i] = a[i].data;
  const backend::call c{data, b.strides.data(), v->workspace_bytes ? detail::workspace_lease::get(v->workspace_bytes) : nullptr,
                        s.exec, nullptr, nullptr};
  v->entry(&c);
}

TILEWRIGHT_INLINE void dispatcher::call(const call_argument* a) {
  detail::last_hit& hit = detail::dispatch_hit;
  const binding* b = static_cast<const binding*>(hit.binding);
  if (hit.owner != state_->serial || !state_->matches(*b, a)) {
    b = find(a);
    if (!b) b = &bind(a);
    hit = {state_->serial, b};
  }
  run(*b, a);
}

TILEWRIGHT_INLINE void dispatcher::warm(const call_argument* a) {
  if (!find(a)) bind(a);
}

TILEWRIGHT_INLINE std::string dispatcher::report(const call_argument* a) {
  const binding* b = find(a);
  if (!b) b = &bind(a);
  if (b->nothing) return state_->kernel.name + ": every output is empty; nothing runs\n";
  if (b->of->identity) return state_->kernel.name + ": a reduction over nothing; outputs are its identity\n";
  return b->of->code->report();
}

TILEWRIGHT_INLINE void dispatcher::cancel() { state_->cancelled.store(true); }

TILEWRIGHT_INLINE void dispatcher::wait() {
  detail::dispatch_sync& sy = state_->synchronized();
  std::unique_lock lock(sy.mutex);
  sy.changed.wait(lock, [&] {
    for (const auto& [name, s] : state_->specializations)
      if (s->upgrading) return false;
    return true;
  });
}

}  // namespace tilewright::search
