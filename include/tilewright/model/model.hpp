// A whole network as one function.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/model/graph.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/model/named_argument.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright {

/// Options of a model.
struct model_options {
  /// Extents that the graph leaves open, by name: {{"batch", 1}, {"seq", 128}}.
  std::map<std::string, std::int64_t, std::less<>> extents = {};
  double seconds = 60;        // budget of tuning, for all kernels together
  std::string database = {};  // as in tuned_options
  tilewright::mode mode = tilewright::mode::now;
  int threads = 0;  // of a call; 0: all of the process's pool
  /// Runs the parallel loops of calls and of tuning in the place of that pool: one of your own, which
  /// has to outlive the model. `threads` is its number of threads then.
  const backend::executor* executor = nullptr;
  /// As in tuned_options, for each kernel; convolutions are then computed as the graph has them.
  tilewright::reductions reductions = tilewright::reductions::any_order;
  /// What a result of a convolution may differ by, over the root mean square of all of them: Winograd's
  /// algorithm is tried with tiles whose `ops::winograd_error` is no larger. 0: convolutions are computed as
  /// the graph has them.
  double convolution_error = std::numeric_limits<double>::infinity();
  /// Every value of f16 is rounded as the graph has it. Else a network of f16 computes in f32 between its inputs
  /// and outputs on a CPU, where converting costs more than the weights' bytes: all of it, unless most of its weights are
  /// read for 16 rows or fewer.
  bool keep_f16 = false;
  std::uint64_t seed = 42;
  bool verbose = false;  // progress on stderr
  bool optimize = true;  // rewrite the graph; false: each node is a kernel of its own
  /// What runs it: "host", this CPU; "cuda", this machine's GPU; or a GPU as target::named_gpu knows it. A
  /// model for a GPU can be made, saved as schedules in the database, and emulated where there is none.
  std::string target = "host";
};

/// A network to call:
///
///     tw::model m = tw::load_onnx("resnet50.onnx");   // interop/onnx.hpp
///     m(x, y);                       // the first call tunes its kernels
///     std::cout << m.report();
///
/// Arguments are what a kernel takes (Eigen objects, spans, `view(pointer, {extents})`, ...), inputs
/// in the graph's order, then outputs; a list of numbers also stands for a dense tensor of as many
/// elements. Any number of threads may call one model. Copies share everything.
///
/// A model for a GPU takes arrays of the host, which it copies there and back, or arrays of the device
/// (`on_device(x, {...})`), dense and row-major: then it starts its kernels and returns (model/device/device_program.hpp
/// says when it allocates and waits).
class model {
 public:
  /// @param g nodes in order (network::sort_nodes), types of inputs known
  /// @throws argument_error for extents that are missing or make no sense, for a target that is not known, and
  /// naming the node that is not supported
  explicit model(network::graph g, model_options options = {});

  /// Runs the network.
  /// It requires: 1) as many arguments as the graph has inputs and outputs; 2) element types and
  /// extents as the graph says; 3) outputs that do not overlap other arguments; 4) arrays that lie all on
  /// the host, or all on the device of the model's target.
  /// @throws argument_error naming the input or output
  /// @throws build_error when the model is for a GPU and none can be used, with the reason
  template <class... Argument>
  requires(dsl::argument_like<Argument>&&...) void operator()(Argument&&... arguments) const {
    run_in_order({named_argument("", arguments)...}, nullptr);
  }
  /// This model with calls on arrays of the device that start on a stream, a CUstream or cudaStream_t:
  /// `m.on(stream)(on_device(x, {1, 8}), on_device(y, {1, 8}))`.
  auto on(void* stream) const {
    return [m = *this, stream](auto&&... arguments) {
      m.run_in_order({named_argument("", arguments)...}, stream);
    };
  }
  /// The same by names, in any order: `m.run({{"x", x}}, {{"y", y}})`.
  void run(const std::vector<named_argument>& inputs,
           const std::vector<named_argument>& outputs) const;

  /// Runs a model for a GPU on the host, thread by thread (model/device/emulated_program.hpp), on arrays of the host.
  /// Nothing is tuned.
  /// @param order of threads, drawn from it
  /// @throws argument_error as `run`, and for a model that is for a CPU; build_error without a C++ compiler
  void emulate(const std::vector<named_argument>& inputs,
               const std::vector<named_argument>& outputs, std::uint64_t order = 0) const;

  /// Tunes the kernels, those first from which the model gains most; goes on from what the database
  /// knows. Then the model runs as a whole, and kernels that take more than 10 % longer in it than
  /// alone are tuned again there (model/in_place.hpp).
  /// @param seconds for all together
  /// @param target whose code is tuned, empty: that of the model. Of a model for a CPU, another one as
  /// target::named knows it, which this machine can be, too: its kernels are tuned alone, for `save`
  /// @throws argument_error for a target that is not known, has instructions that are not here, or is no CPU
  /// where the model is for one, or the other way round
  /// @throws build_error when the model is for a GPU and none can be used
  void tune(double seconds, const std::string& target = "");

  /// Waits for tuning in the background, which the first call starts in mode::background. Calls
  /// run meanwhile, on the kernels that are known; faster ones take their place as they come.
  void wait() const;

  /// Writes the kernels as they are chosen now, with their packed weights, to a file that
  /// load_model reads without LLVM or NVRTC (model/saved_model.hpp). Nothing is tuned.
  /// @throws build_error when code cannot be made, argument_error when the file cannot be written
  void save(const std::string& path) const;
  /// The same for several machines, of which one that loads the file takes what it can run: of CPUs the one with the
  /// widest vectors, and of GPUs the newest.
  /// @param targets of a model for a CPU, others as in `tune`; weights are packed once for each. Of a model for a
  /// GPU, names of GPUs, which share the weights
  /// @throws as above, and argument_error for a target that is not known, or not of the kind of the model's
  void save(const std::string& path, const std::vector<std::string>& targets) const;

  /// The same network at other extents of what the graph leaves open, as a model of its own with the
  /// options of this one; weights in a mapped file and the database are shared.
  /// @throws argument_error as the constructor
  model with_extents(std::map<std::string, std::int64_t, std::less<>> extents) const;

  /// The graph that runs, after the passes.
  const network::graph& graph() const;
  /// Names, types and order of arguments are those of this graph; nothing else is rewritten either.
  const network::graph& source() const;
  /// What runs now; with tuning in the background, until faster kernels take its place.
  std::shared_ptr<const network::executable> program() const;
  /// Per kernel its nodes, time, share, on a CPU how much of that time the roofline of this machine asks for
  /// (model/kernel_work.hpp), and where the database has its schedule from: "tuned", "measured" without being
  /// chosen, "nearest" extents, or "untuned"; measured on zeros.
  std::string report() const;
  /// The same as numbers. // [launches of program()]
  std::vector<network::kernel_report> kernel_reports() const;

 private:
  struct state;
  void run_in_order(const std::vector<named_argument>& all, void* stream) const;

  std::shared_ptr<state> state_;
};

}  // namespace tilewright
