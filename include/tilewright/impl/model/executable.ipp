#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::network {

namespace detail {

inline constexpr std::align_val_t arena_alignment{4096};

inline bool makes_elements(const graph& g, const node& n) {
  return support::any(n.outputs,
                      [&](value_id v) { return v != no_value && g.type_of(v).elements() > 0; });
}

}  // namespace detail

/// An arena for one call.
class executable::arena_lease {
 public:
  explicit arena_lease(const executable& of) : of_(of) {
    const std::lock_guard lock(of_.mutex_);
    if (!of_.free_arenas_.empty()) {
      data_ = of_.free_arenas_.back();
      of_.free_arenas_.pop_back();
    } else {
      const auto size = static_cast<std::size_t>(std::max<std::int64_t>(of_.plan_.size, 1));
      data_ = static_cast<std::byte*>(::operator new(size, detail::arena_alignment));
    }
  }
  ~arena_lease() {
    try {
      const std::lock_guard lock(of_.mutex_);
      of_.free_arenas_.push_back(data_);
    } catch (const std::bad_alloc&) {
      ::operator delete(data_, detail::arena_alignment);
    }
  }
  arena_lease(const arena_lease&) = delete;
  arena_lease& operator=(const arena_lease&) = delete;
  std::byte* data() const { return data_; }

 private:
  const executable& of_;
  std::byte* data_;
};

TILEWRIGHT_INLINE executable::executable(std::shared_ptr<const graph> g,
                                         const tuned_options& options, const target::gpu* gpu)
    : graph_(std::move(g)), options_(options) {
  if (gpu) gpu_ = *gpu;
  place_values();
  count_weights();
  for (const node& n : graph_->nodes)
    if (!is_view(n) && detail::makes_elements(*graph_, n)) add_launch(n, options);
}

TILEWRIGHT_INLINE executable::~executable() {
  for (std::byte* a : free_arenas_) ::operator delete(a, detail::arena_alignment);
}

/// Views lie where their roots lie; what a caller wants is written to where he wants it, unless it
/// is an input, a constant, or wanted twice.
TILEWRIGHT_INLINE void executable::place_values() {
  const graph& g = *graph_;
  const std::size_t count = g.values.size();
  views_ = memory_views(g);
  const auto root = [&](value_id v) {
    return static_cast<std::size_t>(views_[static_cast<std::size_t>(v)].root);
  };
  std::vector<int> first(count, -1), last(count, -1);  // [roots] steps
  int step = 0;
  for (const node& n : g.nodes) {
    if (is_view(n)) continue;
    for (const value_id v : n.inputs)
      if (v != no_value) last[root(v)] = step;
    for (const value_id v : n.outputs) {
      if (v == no_value) continue;
      if (first[root(v)] < 0) first[root(v)] = step;
      last[root(v)] = step;
    }
    ++step;
  }
  std::vector<bool> is_placed(count, false);
  places_.resize(count);
  const auto place = [&](std::size_t v, launch::slot where) {
    places_[v] = where;
    is_placed[v] = true;
  };
  for (std::size_t v = 0; v < count; ++v)
    if (g.values[v].data) place(v, {launch::slot::fixed, 0, 0, g.values[v].data->data()});
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    place(static_cast<std::size_t>(g.inputs[k]), {launch::slot::input, k, 0, nullptr});
  for (std::size_t k = 0; k < g.outputs.size(); ++k) {
    const std::size_t v = root(g.outputs[k]);
    if (!is_placed[v])
      place(v, {launch::slot::output, k, 0, nullptr});
    else
      copies_.push_back({places_[v], k, g.type_of(g.outputs[k]).bytes()});
  }
  std::vector<lifetime> alive;
  std::vector<std::size_t> who;
  for (std::size_t v = 0; v < count; ++v)
    if (!is_placed[v] && first[v] >= 0) {
      alive.push_back({g.type_of(static_cast<value_id>(v)).bytes(), first[v], last[v]});
      who.push_back(v);
    }
  plan_ = plan_memory(alive);
  least_bytes_ = least_memory(alive);
  for (std::size_t k = 0; k < who.size(); ++k)
    place(who[k], {launch::slot::arena, 0, plan_.offsets[k], nullptr});
  for (std::size_t v = 0; v < count; ++v) {
    const auto of = static_cast<std::size_t>(views_[v].root);
    if (g.values[v].data || !g.values[v].type || of == v) continue;
    launch::slot part = places_[of];
    const std::int64_t bytes_before = views_[v].offset * bytes(g.values[v].type->type);
    if (part.where == launch::slot::fixed)
      part.data = static_cast<const std::byte*>(part.data) + bytes_before;
    else
      part.offset += bytes_before;
    places_[v] = part;
  }
}

TILEWRIGHT_INLINE void executable::count_weights() {
  std::set<const void*> met;
  for (const node& n : graph_->nodes)
    for (const value_id v : n.inputs) {
      if (v == no_value || is_view(n)) continue;
      const launch::slot& s = places_[static_cast<std::size_t>(v)];
      if (s.where == launch::slot::fixed && met.insert(s.data).second)
        weight_bytes_ += graph_->type_of(v).bytes();
    }
  weight_bytes_ += winograd_bytes(*graph_);
}

TILEWRIGHT_INLINE bool executable::streams_weights() const {
  return weight_bytes_ > target::host().l3_bytes;
}

TILEWRIGHT_INLINE void executable::add_launch(const node& n, const tuned_options& options) {
  network_kernel made = emit(*graph_, n);
  tuned_options own = options;
  if (!gpu_ && streams_weights() && support::contains(made.is_weight, true))
    own.measuring.where = search::caches::rotating;
  launch l{n,  made.kernel,        make_dispatcher({made.kernel}, own, made.derive), {}, {}, {}, {},
           {}, own.measuring.where};
  for (const value_id v : made.params) {
    l.slots.push_back(places_[static_cast<std::size_t>(v)]);
    l.types.push_back(graph_->type_of(v).type);
    // a number that a kernel reads is an array of one element to it
    const bool is_number =
        graph_->type_of(v).extents.empty() && made.kernel.params()[l.extents.size()]->rank == 1;
    l.extents.push_back(is_number ? shape{1} : graph_->type_of(v).extents);
    l.strides.push_back(is_number ? shape{1} : views_[static_cast<std::size_t>(v)].strides);
  }
  for (std::size_t k = 0; k < made.params.size(); ++k)
    if (made.is_weight[k] && !gpu_)
      l.code = l.code->with(
          k, {const_cast<void*>(l.slots[k].data), l.extents[k].data(), l.strides[k].data()});
  const operator_definition* op = find_operator(n);
  if (op && op->bounds)
    for (const index_bound& b : op->bounds(node_view(*graph_, n)))
      for (std::size_t k = 0; k < made.params.size(); ++k)
        if (made.params[k] == n.inputs[b.input] && !made.is_weight[k])
          l.checks.push_back({k, graph_->type_of(made.params[k]), b});
  launches_.push_back(std::move(l));
}

TILEWRIGHT_INLINE std::vector<dispatch::call_argument> executable::arguments_of(
    const launch& l, const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
    std::byte* arena) const {
  const auto behind = [](void* data, std::int64_t offset) {
    return static_cast<std::byte*>(data) + offset;
  };
  std::vector<dispatch::call_argument> out;
  for (std::size_t k = 0; k < l.slots.size(); ++k) {
    const launch::slot& s = l.slots[k];
    void* data = nullptr;
    switch (s.where) {
      case launch::slot::input: data = behind(const_cast<void*>(inputs[s.number]), s.offset); break;
      case launch::slot::output: data = behind(outputs[s.number], s.offset); break;
      case launch::slot::arena: data = arena + s.offset; break;
      case launch::slot::fixed: data = const_cast<void*>(s.data); break;
    }
    out.push_back({data, l.extents[k].data(), l.strides[k].data()});
  }
  l.code->fill_bound(out.data());
  return out;
}

TILEWRIGHT_INLINE void executable::run(const std::vector<const void*>& inputs,
                                       const std::vector<void*>& outputs) const {
  run_with(inputs, outputs,
           [&](std::size_t k, const std::vector<dispatch::call_argument>& arguments) {
             launches_[k].code->call(arguments.data());
           });
}

TILEWRIGHT_INLINE void executable::run_with(const std::vector<const void*>& inputs,
                                            const std::vector<void*>& outputs,
                                            const starter& start) const {
  const arena_lease arena(*this);
  for (std::size_t k = 0; k < launches_.size(); ++k) {
    const launch& l = launches_[k];
    const std::vector<dispatch::call_argument> arguments =
        arguments_of(l, inputs, outputs, arena.data());
    for (const launch::index_check& c : l.checks)
      if (const auto i = c.bound.outside(arguments[c.param].data, c.type))
        fail(l.what, "index " + std::to_string(*i) + " is out of range; the indexed extents are " +
                         text_of(c.bound.extents));
    start(k, arguments);
  }
  for (const copy_step& c : copies_) {
    const void* from = c.from.where == launch::slot::input    ? inputs[c.from.number]
                       : c.from.where == launch::slot::output ? outputs[c.from.number]
                                                              : c.from.data;
    std::memcpy(outputs[c.output], from, static_cast<std::size_t>(c.bytes));
  }
}

namespace detail {

/// Zeros in memory that is there once it is touched: most of whom arguments are made up for look at where
/// they lie alone, and large ones that come and go would leave holes in the heap.
inline std::shared_ptr<void> untouched_zeros(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw argument_error("an argument takes " + std::to_string(bytes) +
                         " bytes, which is more memory than there is");
  return {at, [size](void* p) { ::munmap(p, size); }};
}

/// Memory for the arguments of a network, filled with zeros.
class made_up_arguments {
 public:
  explicit made_up_arguments(const graph& g) {
    for (const value_id v : g.inputs) inputs.push_back(add(g.type_of(v)));
    for (const value_id v : g.outputs) outputs.push_back(add(g.type_of(v)));
  }
  std::vector<const void*> inputs;
  std::vector<void*> outputs;

 private:
  void* add(const tensor_type& t) {
    kept_.push_back(untouched_zeros(t.bytes()));
    return kept_.back().get();
  }
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace detail

/// The function is that of a call with dense arguments, which is the same on every machine.
TILEWRIGHT_INLINE const search::workload& executable::gpu_task(std::size_t k) const {
  {
    const std::lock_guard lock(mutex_);
    gpu_tasks_.resize(launches_.size());
    if (gpu_tasks_.at(k)) return *gpu_tasks_[k];
  }
  const launch& l = launches_.at(k);
  std::vector<dispatch::call_argument> nowhere;
  for (std::size_t p = 0; p < l.slots.size(); ++p)
    nowhere.push_back({nullptr, l.extents[p].data(), l.strides[p].data()});
  const ir::function& f = l.code->task(nowhere.data()).function;
  std::unique_ptr<const search::workload> fresh;
  try {
    fresh = std::make_unique<const search::workload>(
        search::contiguous_workload(f, *gpu_, backend::serial_executor()));
  } catch (const argument_error& e) {
    fail(l.what, e.what());
  }
  const std::lock_guard lock(mutex_);
  if (!gpu_tasks_[k]) gpu_tasks_[k] = std::move(fresh);
  return *gpu_tasks_[k];
}

TILEWRIGHT_INLINE const search::workload& executable::task(std::size_t k) const {
  if (gpu_) return gpu_task(k);
  const detail::made_up_arguments made(*graph_);
  const arena_lease arena(*this);
  const launch& l = launches_.at(k);
  return l.code->task(arguments_of(l, made.inputs, made.outputs, arena.data()).data());
}

TILEWRIGHT_INLINE void executable::warm() const {
  const detail::made_up_arguments made(*graph_);
  const arena_lease arena(*this);
  for (const launch& l : launches_)
    l.code->warm(arguments_of(l, made.inputs, made.outputs, arena.data()).data());
}

TILEWRIGHT_INLINE stand_in::stand_in(const search::workload& w,
                                     std::shared_ptr<const backend::loaded> code)
    : task_(&w), code_(std::move(code)) {
  for (const ir::param& p : w.function.params) strides_ += p.buffer ? p.buffer->shape.size() : 0;
  packed_ = dispatch::packed_weights(*code_, w.bound, strides_, *w.exec);
}

TILEWRIGHT_INLINE void stand_in::call(const std::vector<dispatch::call_argument>& arguments) const {
  std::vector<void*> data;
  std::vector<std::int64_t> strides;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    data.push_back(arguments[k].data);
    const ir::buffer& b = task_->function.params[k].buffer;
    if (b)
      strides.insert(strides.end(), arguments[k].strides, arguments[k].strides + b->shape.size());
  }
  data.insert(data.end(), packed_.data().begin(), packed_.data().end());
  const auto size = static_cast<std::size_t>(code_->workspace_bytes());
  thread_local std::vector<std::byte> memory;  // of all stand-ins of a thread
  if (memory.size() < size + 64) memory.resize(size + 64);
  void* start = memory.data();
  std::size_t room = memory.size();
  auto* aligned = static_cast<std::byte*>(std::align(64, size, start, room));
  const support::masked_float_traps quiet;
  const backend::call call{data.data(), strides.data(), aligned, task_->exec, nullptr, nullptr};
  (*code_)(call);
}

struct executable::timed_run::state {
  explicit state(const executable& e) : of(e), made(*e.graph_), arena(e) {
    for (const launch& l : of.launches_)
      arguments.push_back(of.arguments_of(l, made.inputs, made.outputs, arena.data()));
  }
  const executable& of;
  detail::made_up_arguments made;
  arena_lease arena;
  std::vector<std::vector<dispatch::call_argument>> arguments;  // [launches]
};

TILEWRIGHT_INLINE executable::timed_run::timed_run(const executable& of)
    : state_(std::make_unique<state>(of)) {}
TILEWRIGHT_INLINE executable::timed_run::~timed_run() = default;

TILEWRIGHT_INLINE std::vector<double> executable::timed_run::operator()(
    const stand_ins& instead) const {
  using clock = std::chrono::steady_clock;
  std::vector<double> out;
  for (std::size_t k = 0; k < state_->arguments.size(); ++k) {
    const std::vector<dispatch::call_argument>& arguments = state_->arguments[k];
    const auto other = instead.find(k);
    const clock::time_point begin = clock::now();
    if (other != instead.end())
      other->second->call(arguments);
    else
      state_->of.launches_[k].code->call(arguments.data());
    out.push_back(std::chrono::duration<double>(clock::now() - begin).count());
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<double> median_times(const std::vector<std::vector<double>>& runs) {
  std::vector<double> out;
  for (std::size_t k = 0; k < runs.at(0).size(); ++k) {
    std::vector<double> s;
    for (const std::vector<double>& run : runs) s.push_back(run[k]);
    const auto middle = s.begin() + static_cast<std::ptrdiff_t>(s.size() / 2);
    std::nth_element(s.begin(), middle, s.end());
    out.push_back(*middle);
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<double> least_times(const std::vector<std::vector<double>>& runs) {
  std::vector<double> out = runs.at(0);
  for (const std::vector<double>& run : runs)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::min(out[k], run[k]);
  return out;
}

TILEWRIGHT_INLINE std::vector<double> executable::measure(int runs) const {
  const timed_run once(*this);
  once();  // warms
  std::vector<std::vector<double>> all;
  for (int run = 0; run < runs; ++run) all.push_back(once());
  return median_times(all);
}

}  // namespace tilewright::network
