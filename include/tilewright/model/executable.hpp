// A graph that runs: its nodes as kernels in order, and memory for what lies between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/model/emission.hpp>
#include <tilewright/model/memory_plan.hpp>
#include <tilewright/model/memory_view.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::network {

/// One kernel of a network.
struct launch {
  /// Where an argument lies.
  struct slot {
    enum kind : std::uint8_t { input, output, arena, fixed } where = arena;
    std::size_t number = 0;      // of the input or output
    std::int64_t offset = 0;     // bytes into the arena, the input or the output
    const void* data = nullptr;  // fixed, with its offset
  };
  node what;
  any_kernel kernel;
  std::shared_ptr<dispatch::dispatcher> code;
  std::vector<slot> slots;                         // [parameters]
  std::vector<dtype> types;                        // [parameters]
  std::vector<std::vector<std::int64_t>> extents;  // [parameters][rank]
  std::vector<std::vector<std::int64_t>> strides;  // [parameters][rank], elements
  /// Indices that the call gives or another kernel makes: they are checked before each run.
  struct index_check {
    std::size_t param;
    tensor_type type;
    index_bound bound;
  };
  std::vector<index_check> checks;
  search::caches where = search::caches::warm;  // its arguments are when it is tuned
};

/// Code for a launch in the place of what its dispatcher runs, with weights packed as it wants them.
class stand_in {
 public:
  /// @param w the launch's task, which has to outlive this
  stand_in(const search::workload& w, std::shared_ptr<const backend::loaded> code);
  void call(const std::vector<dispatch::call_argument>& arguments) const;

 private:
  const search::workload* task_;
  std::shared_ptr<const backend::loaded> code_;
  dispatch::packed_weights packed_;
  std::size_t strides_ = 0;
};

/// All members may be called by any number of threads at once, once it is made.
class executable {
 public:
  /// @param g types are known; kept
  /// @param gpu that the kernels are tuned and chosen for; null: this CPU. On a GPU, constants are arguments
  /// like others, and arrays have to lie densely (make_kernels without parts in place)
  /// @throws argument_error naming the node that no kernel computes
  executable(std::shared_ptr<const graph> g, const tuned_options& options,
             const target::gpu* gpu = nullptr);
  ~executable();
  executable(const executable&) = delete;
  executable& operator=(const executable&) = delete;

  /// Runs the network on this CPU, on dense row-major data in the order of the graph's inputs and outputs.
  /// @throws argument_error naming the node whose indices are out of range; outputs hold anything
  /// then
  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) const;

  /// The same with something else that starts a launch: it gets the number and the arguments.
  using starter = std::function<void(std::size_t, const std::vector<dispatch::call_argument>&)>;
  void run_with(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                const starter& start) const;

  const graph& whole() const { return *graph_; }
  /// What its kernels are made by.
  const tuned_options& options() const { return options_; }
  const std::vector<launch>& launches() const { return launches_; }
  /// Null for a CPU.
  const target::gpu* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  std::int64_t arena_bytes() const { return plan_.size; }
  /// No arena is smaller. // bytes
  std::int64_t least_arena_bytes() const { return least_bytes_; }

  /// What tuning launch k is about; lives as long as this object.
  const search::workload& task(std::size_t k) const;
  /// Brings all kernels to where they run: from the database, or else as the options say.
  void warm() const;

  /// Bytes of all constants that kernels read, each counted once, with filters as their tiles want them.
  std::int64_t weight_bytes() const { return weight_bytes_; }
  /// Whether weights come from memory in each run, since the last cache does not hold them all:
  /// kernels are tuned with weights that do, then.
  bool streams_weights() const;

  /// Runs of the whole network on zeros, kernel by kernel. For one thread at a time.
  class timed_run;
  /// Median time of each launch in `runs` runs of the whole network, on zeros. // s
  std::vector<double> measure(int runs) const;

  /// An output that no kernel writes: an input, a constant, or another output.
  struct copy_step {
    launch::slot from;
    std::size_t output;
    std::int64_t bytes;
  };
  const std::vector<copy_step>& copies() const { return copies_; }

 private:
  class arena_lease;

  void place_values();
  void count_weights();
  void add_launch(const node& n, const tuned_options& options);
  std::vector<dispatch::call_argument> arguments_of(const launch& l,
                                                    const std::vector<const void*>& inputs,
                                                    const std::vector<void*>& outputs,
                                                    std::byte* arena) const;

  const search::workload& gpu_task(std::size_t k) const;

  std::shared_ptr<const graph> graph_;
  tuned_options options_;
  std::optional<target::gpu> gpu_;
  std::vector<memory_view> views_;    // [values]
  std::vector<launch::slot> places_;  // [values]
  std::vector<launch> launches_;
  std::vector<copy_step> copies_;
  memory_plan plan_;
  std::int64_t least_bytes_ = 0, weight_bytes_ = 0;
  mutable support::fork_mutex mutex_;
  mutable std::vector<std::byte*> free_arenas_;  // this and the next guarded by mutex_
  mutable std::vector<std::unique_ptr<const search::workload>>
      gpu_tasks_;  // [launches], null: not asked for
};

class executable::timed_run {
 public:
  /// @param of has to outlive this
  explicit timed_run(const executable& of);
  ~timed_run();
  timed_run(const timed_run&) = delete;
  timed_run& operator=(const timed_run&) = delete;

  /// What runs in the place of launches, by their numbers.
  using stand_ins = std::map<std::size_t, const stand_in*>;
  /// One run. // [launches] s
  std::vector<double> operator()(const stand_ins& instead = {}) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Median of each launch over several runs. // [launches] s
/// @param runs [runs][launches] s, one at least
std::vector<double> median_times(const std::vector<std::vector<double>>& runs);
/// The least of each, which is what a kernel takes where other processes interrupt it. // [launches] s
std::vector<double> least_times(const std::vector<std::vector<double>>& runs);

}  // namespace tilewright::network
