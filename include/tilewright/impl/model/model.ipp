#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/impl/dispatch/background_threads.hpp>
#include <tilewright/impl/dispatch/code_generator.hpp>
#include <tilewright/impl/dispatch/specialization/visit_list.hpp>
#include <tilewright/impl/model/dense_arguments.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/impl/model/session/kernel_times.hpp>
#include <tilewright/impl/model/session/model_target.hpp>
#include <tilewright/impl/search/measurement/process_turns.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/device/device_program.hpp>
#include <tilewright/model/device/emulated_program.hpp>
#include <tilewright/model/in_place.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/notice.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright {

struct model::state {
  network::graph unbound;  // as it came; its constants are views
  std::shared_ptr<const network::graph> source;
  std::vector<std::shared_ptr<const network::graph>> alternatives;
  model_options options;
  std::optional<cuda::named_device> gpu;  // nothing: this CPU
  std::shared_ptr<search::database> db;
  search::detail::process_turns tuning, joining, bringing;
  std::atomic<bool> is_ready{false};
  std::atomic<bool> has_run{false};  // a call has ended: all is made that calls need
  using program_list = std::vector<std::shared_ptr<const network::executable>>;
  // Both are swapped atomically, since the caller may tune while the background does.
  std::shared_ptr<const program_list> programs;  // whose kernels are tuned
  std::shared_ptr<const network::executable> program;
  std::shared_ptr<const network::device_program> there;  // on the device; null: nobody called yet
  std::shared_ptr<const network::emulated_program> emulated;  // guarded by `bringing`
  std::shared_ptr<const network::executable> is_emulated;     // what the former is of

  tuned_options kernel_options() const {
    tuned_options o;
    o.own_database = db;
    o.mode = options.mode == mode::miss_error ? mode::miss_error : mode::off;
    o.threads = options.threads;
    o.executor = options.executor;
    o.reductions = options.reductions;
    o.seed = options.seed;
    return o;
  }
  std::shared_ptr<const network::executable> program_of(
      const std::shared_ptr<const network::graph>& g) const {
    return std::make_shared<const network::executable>(g, kernel_options(),
                                                       gpu ? &gpu->gpu : nullptr);
  }
  void save_for_devices(const std::string& path, const std::vector<std::string>& targets) {
    const auto mine = now();
    std::vector<std::shared_ptr<const network::executable>> all;
    for (const target::gpu& g : detail::models::gpus_named(source->name, options.target, targets))
      all.push_back(
          g.name == gpu->gpu.name
              ? mine
              : std::make_shared<const network::executable>(
                    std::make_shared<const network::graph>(mine->whole()), kernel_options(), &g));
    const search::detail::process_turns::turn alone(tuning);
    network::write_model_file(path, all, *source, *db, options.seed);
  }
  /// The graphs of which one runs.
  void add_forms(network::graph g) {
    const bool in_order = options.reductions == reductions::in_order;
    if (!gpu && !in_order && !options.keep_f16) network::widen_halves(g);
    std::vector<network::graph> forms = network::forms_of(std::move(g));
    if (in_order) forms.resize(1);  // each has its own order of sums
    std::int64_t weight_bytes = 0;
    for (const network::value& v : forms.at(0).values)
      if (v.data) weight_bytes += v.data->type().bytes();
    const bool streams_weights = !gpu && weight_bytes > target::host().l3_bytes;
    for (network::graph& form : forms) {
      network::make_kernels(form, !gpu);
      // tiles and packed filters of Winograd's algorithm are those of CPUs
      if (!in_order && !gpu) network::winograd(form, {streams_weights, options.convolution_error});
      add_form(std::move(form));
    }
  }
  void add_form(network::graph g) {
    if (gpu) network::write_outputs(g);
    alternatives.push_back(std::make_shared<const network::graph>(std::move(g)));
  }
  void make_program() {
    auto all = std::make_shared<program_list>();
    for (const auto& g : alternatives) all->push_back(program_of(g));
    const std::shared_ptr<const network::executable> fresh = fastest(*all);
    if (now() && !gpu) fresh->warm();  // so that no call waits for it
    const support::fork_pass inside;
    std::atomic_store(&programs, std::shared_ptr<const program_list>(std::move(all)));
    std::atomic_store(&program, fresh);
  }
  /// The first alternative, unless the database knows all kernels of a faster one: on the threads that they run
  /// on, or else on fewer.
  std::shared_ptr<const network::executable> fastest(const program_list& all) const {
    using network::detail::timed_on;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const timed_on threads : {timed_on::its_threads, timed_on::fewer_threads}) {
      for (std::size_t k = 0; all.size() > 1 && k < all.size(); ++k) {
        const double seconds = network::detail::seconds_of(*all[k], *db, threads);
        if (seconds < least) {
          least = seconds;
          best = k;
        }
      }
      if (std::isfinite(least)) break;
    }
    return all.at(best);
  }
  /// @throws build_error where no GPU can be used, with the reason
  void need_device() const {
    if (gpu->missing.empty()) return;
    throw build_error("model " + source->name + " is for " + options.target +
                      ", which cannot be used here: " + gpu->missing +
                      "; emulate() runs its kernels on the host (run --engine emulate), and target "
                      "\"host\" makes it for this CPU");
  }
  /// What runs now, on the device.
  std::shared_ptr<const network::device_program> on_device() {
    need_device();
    const auto current = [this] {
      const support::fork_pass inside;
      return std::atomic_load(&there);
    };
    std::shared_ptr<const network::device_program> out = current();
    if (out && &out->plan() == now().get()) return out;
    const search::detail::process_turns::turn mine(bringing);
    out = current();
    const auto plan = now();
    if (out && &out->plan() == plan.get()) return out;
    out = std::make_shared<const network::device_program>(plan);
    const support::fork_pass inside;
    std::atomic_store(&there, out);
    return out;
  }
  std::shared_ptr<const network::emulated_program> on_emulator() {
    const search::detail::process_turns::turn mine(bringing);
    if (const auto plan = now(); plan != is_emulated) {
      emulated = std::make_shared<const network::emulated_program>(plan, *db, options.seed);
      is_emulated = plan;
    }
    return emulated;
  }
  /// Without a device the times of kernels cannot be told.
  std::vector<network::kernel_report> reports() {
    prepare();
    if (!gpu) return network::reports_of(*now(), *db);
    constexpr int runs = 20;
    const auto device = on_device();
    return network::reports_of(device->plan(), *db, device->measure(runs));
  }
  /// The standard library has locks for such pointers.
  std::shared_ptr<const network::executable> now() const {
    const support::fork_pass inside;
    return std::atomic_load(&program);
  }
  std::shared_ptr<const program_list> all_now() const {
    const support::fork_pass inside;
    return std::atomic_load(&programs);
  }
  void say(const std::string& text) const {
    if (options.verbose) support::write_stderr("tilewright: " + text + "\n");
  }
  void tune_alone(const program_list& what, double seconds, const target::cpu* target) {
    const auto tell = [this](const std::string& name, const search::tuning_result& r) {
      say(name + " " + support::fixed_text(r.best * 1e6, 1) + " us");
    };
    network::tune_kernels(what, seconds, options.seed, *db, tell, &is_cancelled, target);
  }
  void tune(double seconds) {
    if (gpu)
      need_device();
    else
      dispatch::detail::open_code_generator(&target::host());
    const double in_place = gpu ? 0 : 0.15;  // of the budget, at most
    const auto begin = std::chrono::steady_clock::now();
    const double alone = (1 - in_place) * seconds;
    const std::shared_ptr<const program_list> all = all_now();
    const double shared = all->size() > 1 ? 0.5 : 1;  // by all alternatives, before one is chosen
    tune_alone(*all, shared * alone, nullptr);
    if (is_cancelled) return;
    make_program();
    if (shared < 1) {
      tune_alone({now()}, (1 - shared) * alone, nullptr);
      if (is_cancelled) return;
      make_program();
    }
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
    const double left = std::min(seconds - used.count(), seconds * in_place);
    if (left <= 0) return;
    now()->warm();
    const network::in_place_summary s =
        network::tune_in_place(*now(), left, options.seed, *db, &is_cancelled);
    say("in place: " + std::to_string(s.slower) + " kernels take longer than alone, " +
        std::to_string(s.tuned) + " tuned again, " + std::to_string(s.kept) + " of them kept; " +
        support::fixed_text(s.before * 1e3, 3) + " ms before, " +
        support::fixed_text(s.after * 1e3, 3) + " after");
    if (s.kept > 0 && !is_cancelled) make_program();
  }
  /// Tunes for another CPU; what this one runs stays.
  void tune_for(const target::cpu& cpu, double seconds) {
    dispatch::detail::open_code_generator(&target::host());
    tune_alone(*all_now(), seconds, &cpu);
  }
  /// The first call tunes, or starts to, unless the mode says otherwise.
  void prepare() {
    if (is_ready.load(std::memory_order_acquire)) return;
    const search::detail::process_turns::turn mine(tuning);
    if (is_ready.load()) return;
    if (options.mode == mode::now) tune(options.seconds);
    if (options.mode == mode::background) start_background();
    is_ready.store(true, std::memory_order_release);
  }

  /// What was prepared.
  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
           bool are_there, void* stream) {
    if (!gpu) return now()->run(inputs, outputs);
    const auto device = on_device();
    if (!are_there) return device->run(inputs, outputs);
    std::vector<void*> read;
    for (const void* each : inputs) read.push_back(const_cast<void*>(each));
    device->start(read, outputs, stream);
  }

  void start_background() {
    static std::atomic<bool> known{false};
    dispatch::detail::exit_entry::come_first(known);
    const search::detail::process_turns::turn mine(joining);  // somebody may wait already
    tuners.emplace_back(
        ::getpid(), support::start_thread([this] {
          const support::default_float_environment ours;  // the thread has its maker's
          try {
            // kernels are swapped as they come: soon at first, then as more is known
            for (const double share : {0.125, 0.125, 0.25, 0.5})
              if (!is_cancelled) tune(share * options.seconds);
          } catch (const std::exception& e) {
            support::notice(source->name + " is not tuned further: " + e.what());
          }
        }));
  }
  /// Calls that may tune or compile are told to end, and waited for.
  void end_visits() noexcept {
    visits.end([this] {
      is_cancelled = true;
      return true;
    });
  }
  void end_all() noexcept {
    is_cancelled = true;
    wait();
    end_visits();
  }
  void wait() noexcept {
    const search::detail::process_turns::turn mine(joining);
    dispatch::detail::end(std::exchange(tuners, {}));
  }
  ~state() { end_all(); }

  using visit = dispatch::detail::visit_list::visit;
  std::atomic<bool> is_cancelled{false};
  dispatch::detail::background_threads tuners;
  search::detail::process_sync visiting;
  dispatch::detail::visit_list visits{visiting};
  dispatch::detail::exit_entry exit{[](void* self) { static_cast<state*>(self)->end_all(); }, this,
                                    [](void* self) { static_cast<state*>(self)->end_visits(); }};
};

TILEWRIGHT_INLINE model::model(network::graph g, model_options options)
    : state_(std::make_shared<state>()) {
  if (!(options.seconds >= 0)) throw argument_error("seconds has to be 0 or more");
  if (!(options.convolution_error >= 0))
    throw argument_error(
        "convolution_error has to be 0 or more; 0 is for convolutions as the graph has them");
  state_->unbound = g;
  network::bind_extents(g, options.extents);
  network::infer_types(g);
  state_->source = std::make_shared<const network::graph>(g);
  state_->gpu = detail::models::gpu_of(options);
  state_->options = std::move(options);
  state_->db = search::database::shared(state_->options.database);
  if (state_->options.optimize)
    state_->add_forms(std::move(g));
  else
    state_->add_form(std::move(g));
  state_->make_program();
}

TILEWRIGHT_INLINE void model::run_in_order(const std::vector<named_argument>& all,
                                           void* stream) const {
  const network::graph& g = *state_->source;
  const bool on_device = detail::models::are_on_device(
      g.name, all, stream, state_->gpu ? nullptr : "make the model with .target = \"cuda\"");
  detail::models::run_with_arguments(
      g.name, detail::models::ports_of(g, g.inputs), detail::models::ports_of(g, g.outputs), all,
      on_device, [&](const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
        if (state_->gpu) state_->need_device();
        if (state_->has_run.load(std::memory_order_acquire))
          return state_->run(inputs, outputs, on_device, stream);
        const state::visit inside(state_->visits);
        state_->prepare();
        state_->run(inputs, outputs, on_device, stream);
        state_->has_run.store(true, std::memory_order_release);
      });
}

TILEWRIGHT_INLINE void model::run(const std::vector<named_argument>& inputs,
                                  const std::vector<named_argument>& outputs) const {
  const network::graph& g = *state_->source;
  run_in_order(detail::models::in_order(g.name, detail::models::ports_of(g, g.inputs),
                                        detail::models::ports_of(g, g.outputs), inputs, outputs),
               nullptr);
}

TILEWRIGHT_INLINE void model::emulate(const std::vector<named_argument>& inputs,
                                      const std::vector<named_argument>& outputs,
                                      std::uint64_t order) const {
  const network::graph& g = *state_->source;
  if (!state_->gpu)
    throw argument_error("model " + g.name +
                         " is for this CPU, and kernels of GPUs are emulated; make the model with "
                         ".target = \"cuda\" or that of a GPU");
  const std::vector<network_port> in = detail::models::ports_of(g, g.inputs),
                                  out = detail::models::ports_of(g, g.outputs);
  detail::models::run_with_arguments(
      g.name, in, out, detail::models::in_order(g.name, in, out, inputs, outputs), false,
      [&](const std::vector<const void*>& from, const std::vector<void*>& to) {
        state_->on_emulator()->run(from, to, order);
      });
}

TILEWRIGHT_INLINE void model::save(const std::string& path) const {
  save(path, {state_->options.target});
}

TILEWRIGHT_INLINE void model::save(const std::string& path,
                                   const std::vector<std::string>& targets) const {
  const state::visit inside(state_->visits);
  if (state_->gpu) return state_->save_for_devices(path, targets);
  std::vector<target::cpu> cpus;
  for (const std::string& t : targets) cpus.push_back(detail::models::target_here(t));
  const search::detail::process_turns::turn mine(state_->tuning);
  dispatch::detail::open_code_generator(&target::host());
  network::write_model_file(path, *program(), *state_->source, *state_->db, state_->options.seed,
                            cpus);
}

TILEWRIGHT_INLINE void model::tune(double seconds, const std::string& target) {
  const std::string& of = state_->options.target;
  const bool own = target.empty() || target == of;
  if (!own && (state_->gpu || cuda::find_device(target)))
    throw argument_error("model " + state_->source->name + " is for " + of +
                         ", and cannot be tuned for " + target +
                         "; make a model with that target, on the same database");
  const target::cpu cpu = detail::models::target_here(own ? "host" : target);
  const state::visit inside(state_->visits);
  const search::detail::process_turns::turn mine(state_->tuning);
  if (!state_->gpu && cpu.isa_key() != target::host().isa_key())
    return state_->tune_for(cpu, seconds);
  state_->tune(seconds);
  state_->is_ready = true;
}

TILEWRIGHT_INLINE model
model::with_extents(std::map<std::string, std::int64_t, std::less<>> extents) const {
  model_options o = state_->options;
  o.extents = std::move(extents);
  return model(state_->unbound, std::move(o));
}

TILEWRIGHT_INLINE void model::wait() const { state_->wait(); }

TILEWRIGHT_INLINE const network::graph& model::graph() const { return program()->whole(); }
TILEWRIGHT_INLINE const network::graph& model::source() const { return *state_->source; }
TILEWRIGHT_INLINE std::shared_ptr<const network::executable> model::program() const {
  return state_->now();
}

namespace detail {

inline std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<network::kernel_report> model::kernel_reports() const {
  const state::visit inside(state_->visits);
  return state_->reports();
}

TILEWRIGHT_INLINE std::string model::report() const {
  const state::visit inside(state_->visits);
  const std::vector<network::kernel_report> kernels = state_->reports();
  const auto program = state_->now();
  double total = 0, bound = 0;  // s
  for (const network::kernel_report& r : kernels) total += r.seconds, bound += r.bound;
  std::string out;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const network::launch& l = program->launches()[k];
    const network::kernel_report& r = kernels[k];
    const std::string origin = network::text_of(r.origin),
                      algorithm = r.algorithm.empty() ? l.what.op : r.algorithm;
    const auto gap = [](std::size_t width, const std::string& text) {
      return std::string(width - std::min(width, text.size()), ' ');
    };
    out +=
        detail::right_aligned(support::fixed_text(r.seconds * 1e6, 1), 10) + " us " +
        detail::right_aligned(support::fixed_text(100 * r.seconds / total, 1), 5) + " % " +
        (state_->gpu ? std::string(" ")
                     : detail::right_aligned(support::fixed_text(100 * r.bound / r.seconds, 0), 4) +
                           " % of the roofline  ") +
        origin + gap(9, origin) + algorithm + gap(28, algorithm) + " " + l.what.name + "\n";
  }
  const auto megabytes = [](std::int64_t n) {
    return support::fixed_text(static_cast<double>(n) * 1e-6, 2) + " MB";
  };
  return out + detail::right_aligned(support::fixed_text(total * 1e6, 1), 10) + " us in " +
         std::to_string(kernels.size()) + " kernels" +
         (state_->gpu ? " on " + state_->gpu->gpu.model
                      : ", " + support::fixed_text(100 * bound / total, 0) + " % of the roofline") +
         "; arena " + megabytes(program->arena_bytes()) + ", no smaller than " +
         megabytes(program->least_arena_bytes()) + "\n";
}

}  // namespace tilewright
