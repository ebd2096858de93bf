#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/narrow_executor.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/model/dense_arguments.hpp>
#include <tilewright/impl/model/device/device_network.hpp>
#include <tilewright/impl/model/device/loaded_network.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/files/trust.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/mapped_file.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright {
namespace detail::models {

inline constexpr std::string_view gpu_mark = "nvidia:";  // before an architecture

/// Why code for a GPU cannot be started here; empty when it can.
inline std::string missing_device(const std::string& architecture) {
  const std::string made = "it was made for " + architecture + ", and ";
  try {
    const backend::cuda::device here;
    const int capability = here.compute_capability();
    if (target::named_gpu(architecture).runs_on(capability)) return {};
    return made + here.name() + " has compute capability " + std::to_string(capability / 10) + "." +
           std::to_string(capability % 10);
  } catch (const error& e) {
    return made + e.what();
  }
}

/// Why this machine cannot run code for an instruction set; empty when it can.
inline std::string missing_instructions(const std::string& isa) {
  if (isa.rfind(gpu_mark, 0) == 0) return missing_device(isa.substr(gpu_mark.size()));
  const target::cpu& here = target::host();
  const std::size_t first = isa.find(':'), last = isa.rfind(':');
  if (first == last || isa.substr(0, first) != target::name(target::architecture_of(here)))
    return "it was made for \"" + isa + "\", and this machine is \"" + here.isa_key() + "\"";
  std::string out;
  for (std::size_t at = first + 1; at < last;) {
    const std::size_t end = std::min(isa.find(',', at), last);
    const std::string feature = isa.substr(at, end - at);
    if (!feature.empty() && feature[0] == '+' && !here.has(feature.substr(1)))
      out += (out.empty() ? "" : " ") + feature.substr(1);
    at = end + 1;
  }
  return out.empty() ? out : "it was made for " + out + ", which this machine lacks";
}

}  // namespace detail::models

struct saved_model::state {
  struct kernel {
    std::string name;
    std::shared_ptr<const backend::loaded> code;
    const backend::executor* exec = nullptr;
    std::vector<network::saved_argument> arguments;
    std::vector<std::int64_t> strides;
    std::vector<network::launch::index_check> checks;
  };

  explicit state(const std::string& path) : file(path) {}
  ~state() {
    for (std::byte* a : free_arenas) ::operator delete(a, alignment);
  }

  /// The first plan whose code this machine can run.
  static network::saved_plan& plan_for_here(std::vector<network::saved_plan>& plans) {
    std::string why;
    for (network::saved_plan& p : plans) {
      const std::string missing = detail::models::missing_instructions(p.isa);
      if (missing.empty()) return p;
      why += (why.empty() ? "" : "; and ") + missing;
    }
    throw argument_error(why + "; save the model on a machine like this one, or for one");
  }

  /// What other instruction sets need leaves memory.
  void forget_the_rest(const network::saved_plan& plan) const {
    std::vector<std::pair<std::size_t, std::size_t>> used;  // first and last byte
    const auto add = [&](const network::saved_argument& a) {
      if (a.where == network::saved_argument::constant)
        used.emplace_back(static_cast<std::size_t>(a.at), static_cast<std::size_t>(a.at + a.bytes));
    };
    for (const network::saved_kernel& k : plan.kernels)
      for (const network::saved_argument& a : k.arguments) add(a);
    for (const network::saved_copy& c : plan.copies) add(c.from);
    std::sort(used.begin(), used.end());
    std::size_t end = 0;
    for (const auto& [first, last] : used) {
      if (first > end) file.forget(end, first - end);
      end = std::max(end, last);
    }
    file.forget(end, file.size() - end);
  }

  /// An executor with at most so many threads.
  const backend::executor& executor_of(const saved_model_options& options, int threads) {
    if (!options.executor) {
      backend::pool& pool = backend::pool::shared();
      return pool.view(std::min(threads, pool.threads()));
    }
    const backend::executor& own = *options.executor;
    if (own.threads <= threads) return own;
    std::unique_ptr<backend::narrow_executor>& narrow = narrow_executors[threads];
    if (!narrow) narrow = std::make_unique<backend::narrow_executor>(own, threads);
    return narrow->view();
  }

  void load(const saved_model_options& options) {
    if (options.executor && (!options.executor->run || options.executor->threads < 1))
      throw argument_error("an executor needs a function `run` and 1 thread or more");
    std::vector<network::saved_plan> plans = network::read_model_file(file.data(), file.size());
    network::saved_plan& plan = plan_for_here(plans);
    if (plans.size() > 1) forget_the_rest(plan);
    machine = plan.isa;
    name = plan.name;
    inputs = plan.inputs;
    outputs = plan.outputs;
    if (plan.isa.rfind(detail::models::gpu_mark, 0) == 0) {
      if (options.executor)
        throw argument_error("an executor runs the threads of a CPU, and the file holds code for " +
                             plan.isa + "; leave it out");
      there = network::detail::loaded_network(std::move(plan), file);
      file.forget(0, file.size());
      return;
    }
    copies = std::move(plan.copies);
    arena_bytes = (plan.arena_bytes + 4095) / 4096 * 4096;
    for (network::saved_kernel& k : plan.kernels) {
      const backend::artifact a = backend::deserialize(k.code.data(), k.code.size());
      if (a.isa != plan.isa)
        throw argument_error(k.name + " is code for \"" + a.isa + "\", and its plan for \"" +
                             plan.isa + "\"");
      kernel out{std::move(k.name),      backend::load_stored(a), nullptr,
                 std::move(k.arguments), std::move(k.strides),    std::move(k.checks)};
      workspace_bytes = std::max(workspace_bytes, out.code->workspace_bytes());
      int threads = std::max(k.threads, 1);
      if (options.threads > 0) threads = std::min(threads, options.threads);
      out.exec = &executor_of(options, threads);
      kernels.push_back(std::move(out));
    }
  }

  void* address(const network::saved_argument& a, const std::vector<const void*>& in,
                const std::vector<void*>& out, std::byte* arena) const {
    using network::saved_argument;
    switch (a.where) {
      case saved_argument::input:
        return static_cast<std::byte*>(const_cast<void*>(in[static_cast<std::size_t>(a.number)])) +
               a.at;
      case saved_argument::output:
        return static_cast<std::byte*>(out[static_cast<std::size_t>(a.number)]) + a.at;
      case saved_argument::arena: return arena + a.at;
      case saved_argument::constant: break;
    }
    return const_cast<std::byte*>(file.data() + a.at);  // kernels only read them
  }

  /// Outputs that share memory with another argument.
  void check_overlap(const std::vector<const void*>& in, const std::vector<void*>& out) const {
    struct range {
      const std::byte *begin, *end;
      const std::string* who;
    };
    std::vector<range> all;
    const auto add = [&](const void* p, const network_port& port) {
      const auto* begin = static_cast<const std::byte*>(p);
      const range r{begin, begin + port.type.bytes(), &port.name};
      const bool is_output = all.size() >= in.size();
      for (std::size_t k = 0; k < all.size(); ++k)
        if (is_output && r.begin < all[k].end && all[k].begin < r.end)
          throw argument_error("output \"" + port.name + "\" overlaps \"" + *all[k].who + "\"");
      all.push_back(r);
    };
    for (std::size_t k = 0; k < in.size(); ++k) add(in[k], inputs[k]);
    for (std::size_t k = 0; k < out.size(); ++k) add(out[k], outputs[k]);
  }

  void start(const std::vector<const void*>& in, const std::vector<void*>& out,
             void* stream) const {
    check_overlap(in, out);
    std::vector<void*> read;
    for (const void* each : in) read.push_back(const_cast<void*>(each));
    there->start(read, out, static_cast<backend::cuda::stream_ref>(stream));
  }

  void run(const std::vector<const void*>& in, const std::vector<void*>& out) const {
    check_overlap(in, out);
    if (there) return there->run(in, out);
    const lease arena(*this);
    const support::masked_float_traps quiet;
    std::vector<void*> data;
    for (const kernel& k : kernels) {
      data.clear();
      for (const network::saved_argument& a : k.arguments)
        data.push_back(address(a, in, out, arena.data()));
      for (const network::launch::index_check& c : k.checks)
        if (const auto i = c.bound.outside(data[c.param], c.type))
          throw argument_error(k.name + ": index " + std::to_string(*i) +
                               " is out of range; the indexed extents are " +
                               network::text_of(c.bound.extents));
      const backend::call call{data.data(), k.strides.data(), arena.data() + arena_bytes,
                               k.exec,      nullptr,          nullptr};
      (*k.code)(call);
    }
    for (const network::saved_copy& c : copies)
      std::memcpy(out[static_cast<std::size_t>(c.output)], address(c.from, in, out, arena.data()),
                  static_cast<std::size_t>(c.from.bytes));
  }

  /// Arena and workspace of one call.
  class lease {
   public:
    explicit lease(const state& of) : of_(of) {
      const std::lock_guard lock(of.mutex);
      if (!of.free_arenas.empty()) {
        data_ = of.free_arenas.back();
        of.free_arenas.pop_back();
        return;
      }
      const std::int64_t size = std::max<std::int64_t>(of.arena_bytes + of.workspace_bytes, 1);
      data_ = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(size), alignment));
    }
    ~lease() {
      try {
        const std::lock_guard lock(of_.mutex);
        of_.free_arenas.push_back(data_);
      } catch (const std::bad_alloc&) {
        ::operator delete(data_, alignment);
      }
    }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    std::byte* data() const { return data_; }

   private:
    const state& of_;
    std::byte* data_;
  };

  static constexpr std::align_val_t alignment{4096};
  support::mapped_file file;
  std::string machine, name;
  std::vector<network_port> inputs, outputs;
  std::vector<kernel> kernels;
  // by number of threads, of the user's own executor
  std::map<int, std::unique_ptr<backend::narrow_executor>> narrow_executors;
  std::vector<network::saved_copy> copies;
  std::unique_ptr<network::detail::device_network> there;  // null: a CPU runs it
  std::int64_t arena_bytes = 0, workspace_bytes = 0;
  mutable support::fork_mutex mutex;
  mutable std::vector<std::byte*> free_arenas;  // guarded by mutex
};

TILEWRIGHT_INLINE saved_model::saved_model(const std::string& path, saved_model_options options) {
  auto made = std::make_shared<state>(path);
  try {
    if (const std::string why = support::untrusted(path); !why.empty())
      throw argument_error("it holds code, and " + why);
    made->load(options);
  } catch (const error& e) {
    throw argument_error(path + ": " + e.what());
  }
  state_ = std::move(made);
}

TILEWRIGHT_INLINE void saved_model::run_in_order(const std::vector<named_argument>& all,
                                                 void* stream) const {
  const bool on_device = detail::models::are_on_device(
      name(), all, stream, state_->there ? nullptr : "save the model for a GPU");
  detail::models::run_with_arguments(
      name(), inputs(), outputs(), all, on_device,
      [&](const std::vector<const void*>& in, const std::vector<void*>& out) {
        on_device ? state_->start(in, out, stream) : state_->run(in, out);
      });
}

TILEWRIGHT_INLINE void saved_model::run(const std::vector<named_argument>& given_inputs,
                                        const std::vector<named_argument>& given_outputs) const {
  run_in_order(detail::models::in_order(name(), inputs(), outputs(), given_inputs, given_outputs),
               nullptr);
}

TILEWRIGHT_INLINE std::vector<double> saved_model::device_times(int runs) const {
  if (!state_->there)
    throw argument_error("model " + name() + " was saved for " + machine() +
                         ", and its times on a GPU are asked for; save it for one");
  return state_->there->time(runs);
}

TILEWRIGHT_INLINE bool saved_model::is_for_device() const { return state_->there != nullptr; }
TILEWRIGHT_INLINE const std::string& saved_model::name() const { return state_->name; }
TILEWRIGHT_INLINE const std::string& saved_model::machine() const { return state_->machine; }
TILEWRIGHT_INLINE const std::vector<network_port>& saved_model::inputs() const {
  return state_->inputs;
}
TILEWRIGHT_INLINE const std::vector<network_port>& saved_model::outputs() const {
  return state_->outputs;
}

}  // namespace tilewright
