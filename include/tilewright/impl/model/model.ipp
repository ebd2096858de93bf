#pragma once

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <numeric>

#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/search/argument_values.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/number_text.hpp>

namespace tilewright {

struct model::state {
  std::shared_ptr<const network::graph> source, graph;
  model_options options;
  std::shared_ptr<search::database> db;
  std::mutex mutex;  // of tuning
  std::atomic<bool> is_ready{false};
  std::shared_ptr<const network::executable> program;  // atomically swapped

  tuned_options kernel_options() const {
    tuned_options o;
    o.own_database = db;
    o.mode = options.mode == mode::miss_error ? mode::miss_error : mode::off;
    o.threads = options.threads;
    o.seed = options.seed;
    return o;
  }
  void make_program() {
    std::atomic_store(&program,
                      std::make_shared<const network::executable>(graph, kernel_options()));
  }
  void tune(double seconds) {
    const auto old = std::atomic_load(&program);
    const auto tell = [this](const std::string& name, const search::tuning_result& r) {
      if (options.verbose)
        std::fputs(
            ("tilewright: " + name + " " + support::fixed_text(r.best * 1e6, 1) + " us\n").c_str(),
            stderr);
    };
    network::tune_kernels(*old, seconds, options.seed, *db, tell);
    make_program();
  }
  /// The first call tunes, unless the mode says otherwise.
  void prepare() {
    if (is_ready.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex);
    if (is_ready.load()) return;
    if (options.mode == mode::now) tune(options.seconds);
    is_ready.store(true, std::memory_order_release);
  }
};

namespace detail::models {

/// Arguments that are copied because they are not dense and row-major.
class dense_arguments {
 public:
  dense_arguments(const network::graph& g, const std::vector<network::value_id>& values,
                  const dsl::argument* arguments, const char* what, bool is_written)
      : is_written_(is_written) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const network::value& v = g.at(values[k]);
      const dsl::argument& a = arguments[k];
      const std::string who = std::string(what) + " \"" + v.name + "\"";
      check(who, *v.type, a);
      data.push_back(add(*v.type, a));
    }
  }
  /// Brings what was written to where the caller wants it.
  void finish() const {
    for (const copy& c : copies_)
      if (is_written_)
        search::unpack_elements(c.form, static_cast<std::byte*>(c.user), c.strides, c.elements);
  }

  std::vector<void*> data;

 private:
  struct copy {
    search::operand form;
    void* user;
    std::vector<std::int64_t> strides;
    std::vector<std::byte> elements;
  };

  void check(const std::string& who, const network::tensor_type& t, const dsl::argument& a) const {
    std::vector<std::int64_t> extents(a.extents.begin(), a.extents.begin() + a.rank);
    const bool flat = a.rank == 1 && extents[0] == t.elements() && a.strides[0] == 1;
    if (a.type != t.type || (extents != t.extents && !flat))
      throw argument_error(who + " is " + network::text_of(t) + ", and gets " +
                           network::text_of(network::tensor_type{a.type, extents}));
    if (is_written_ && a.is_const)
      throw argument_error(who + " is written, and gets constant data");
    if (!a.data && a.rank > 0 && t.elements() > 0)
      throw argument_error(who + " gets a null pointer");
  }

  void* add(const network::tensor_type& t, const dsl::argument& a) {
    void* user = const_cast<void*>(a.address());
    const std::vector<std::int64_t> strides(a.strides.begin(), a.strides.begin() + a.rank);
    const std::vector<std::int64_t> extents(a.extents.begin(), a.extents.begin() + a.rank);
    bool dense = true;
    std::int64_t next = 1;
    for (std::size_t d = extents.size(); d-- > 0;) {
      dense = dense && (extents[d] == 1 || strides[d] == next);
      next *= extents[d];
    }
    if (dense) return user;
    search::operand form;
    form.type = t.type;
    form.extents = extents;
    form.strides = strides;
    copies_.push_back(
        {form, user, strides,
         search::packed_elements(form, static_cast<const std::byte*>(user), strides)});
    return copies_.back().elements.data();
  }

  bool is_written_;
  std::vector<copy> copies_;
};

}  // namespace detail::models

TILEWRIGHT_INLINE model::model(network::graph g, model_options options)
    : state_(std::make_shared<state>()) {
  if (!(options.seconds >= 0)) throw argument_error("seconds has to be 0 or more");
  network::bind_extents(g, options.extents);
  network::infer_types(g);
  state_->source = std::make_shared<const network::graph>(g);
  if (options.optimize) network::optimize(g);
  state_->graph = std::make_shared<const network::graph>(std::move(g));
  state_->options = std::move(options);
  state_->db = search::database::shared(state_->options.database);
  state_->make_program();
}

TILEWRIGHT_INLINE void model::run_in_order(const std::vector<dsl::argument>& all) const {
  const network::graph& g = *state_->source;
  if (all.size() != g.inputs.size() + g.outputs.size())
    throw argument_error("graph " + g.name + " has " + std::to_string(g.inputs.size()) +
                         " inputs and " + std::to_string(g.outputs.size()) +
                         " outputs, and the call " + std::to_string(all.size()) + " arguments");
  using detail::models::dense_arguments;
  const dense_arguments in(g, g.inputs, all.data(), "input", false);
  const dense_arguments out(g, g.outputs, all.data() + g.inputs.size(), "output", true);
  state_->prepare();
  const auto program = std::atomic_load(&state_->program);
  program->run({in.data.begin(), in.data.end()}, out.data);
  out.finish();
}

TILEWRIGHT_INLINE void model::run(const std::vector<named_argument>& inputs,
                                  const std::vector<named_argument>& outputs) const {
  const network::graph& g = *state_->source;
  std::vector<dsl::argument> all;
  const auto add = [&](const std::vector<named_argument>& given,
                       const std::vector<network::value_id>& wanted, const char* what) {
    for (const network::value_id v : wanted) {
      const std::string& name = g.at(v).name;
      const auto at = std::find_if(given.begin(), given.end(),
                                   [&](const named_argument& a) { return a.name == name; });
      if (at == given.end())
        throw argument_error(std::string(what) + " \"" + name + "\" is missing");
      all.push_back(at->data);
    }
    for (const named_argument& a : given)
      if (std::none_of(wanted.begin(), wanted.end(),
                       [&](network::value_id v) { return g.at(v).name == a.name; }))
        throw argument_error("graph " + g.name + " has no " + what + " \"" + a.name + "\"");
  };
  add(inputs, g.inputs, "input");
  add(outputs, g.outputs, "output");
  run_in_order(all);
}

TILEWRIGHT_INLINE void model::tune(double seconds) {
  const std::lock_guard lock(state_->mutex);
  state_->tune(seconds);
  state_->is_ready = true;
}

TILEWRIGHT_INLINE const network::graph& model::graph() const { return *state_->graph; }
TILEWRIGHT_INLINE const network::graph& model::source() const { return *state_->source; }
TILEWRIGHT_INLINE const network::executable& model::program() const { return *state_->program; }

namespace detail {

inline std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string model::report() const {
  state_->prepare();
  const auto program = std::atomic_load(&state_->program);
  const std::vector<double> seconds = program->measure(5);
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::string out;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    const network::launch& l = program->launches()[k];
    const std::size_t gap = 28 - std::min<std::size_t>(l.what.op.size(), 28);
    out += detail::right_aligned(support::fixed_text(seconds[k] * 1e6, 1), 10) + " us " +
           detail::right_aligned(support::fixed_text(100 * seconds[k] / total, 1), 5) + " %  " +
           l.what.op + std::string(gap, ' ') + " " + l.what.name + "\n";
  }
  const auto megabytes = [](std::int64_t n) {
    return support::fixed_text(static_cast<double>(n) * 1e-6, 2) + " MB";
  };
  return out + detail::right_aligned(support::fixed_text(total * 1e6, 1), 10) + " us in " +
         std::to_string(seconds.size()) + " kernels; arena " + megabytes(program->arena_bytes()) +
         ", no smaller than " + megabytes(program->least_arena_bytes()) + "\n";
}

}  // namespace tilewright
