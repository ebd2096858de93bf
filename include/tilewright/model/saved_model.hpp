// A network from a file that model::save wrote: compiled kernels, packed weights, and their order.
// Nothing is compiled, packed or tuned, and neither LLVM nor the database is opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>
#include <tilewright/model/graph.hpp>
#include <tilewright/model/named_argument.hpp>

namespace tilewright {

/// What a call of a network brings.
struct network_port {
  std::string name;
  network::tensor_type type;
};

/// Options of a saved model.
struct saved_model_options {
  int threads = 0;  // of a call; 0: as many as the kernels were made for. Never more than those
  /// Runs the parallel loops of calls in the place of the process's pool: one of your own, which has to
  /// outlive the model.
  const backend::executor* executor = nullptr;
};

/// A network to call, as tilewright::model is:
///
///     tw::saved_model m = tw::load_model("resnet50.twm");
///     m(x, y);
///
/// Any number of threads may call one model. Copies share everything; weights stay in the mapped
/// file, so processes that run one file share them, too.
///
/// A model that was saved for a GPU is loaded on it, with its weights; it takes arrays of the host, which it copies there
/// and back, or arrays of the device, as model/device/device_program.hpp says. NVRTC is not opened.
class saved_model {
 public:
  /// It requires: 1) a file and a folder that belong to this user or to root, and that nobody else may
  /// write, since its code runs; 2) bytes as they were saved: the digest of all of them is compared; 3) a
  /// machine with the instructions that one of the file's plans was made for, or a driver and a GPU of its
  /// architecture; of several, the one with the widest vectors or the newest architecture runs; 4) an executor,
  /// where there is one, with a function `run` and a thread, and none for a GPU.
  /// @throws argument_error naming the file and what is wrong, which may be that the GPU has too little memory
  explicit saved_model(const std::string& path, saved_model_options options = {});

  /// Runs the network; arguments as in model::operator().
  /// @throws argument_error naming the input or output
  template <class... Argument>
  requires(dsl::argument_like<Argument>&&...) void operator()(Argument&&... arguments) const {
    run_in_order({named_argument("", arguments)...}, nullptr);
  }
  /// This model with calls on arrays of the device that start on a stream, as model::on.
  auto on(void* stream) const {
    return [m = *this, stream](auto&&... arguments) {
      m.run_in_order({named_argument("", arguments)...}, stream);
    };
  }
  /// The same by names, in any order.
  void run(const std::vector<named_argument>& inputs,
           const std::vector<named_argument>& outputs) const;

  const std::string& name() const;
  const std::vector<network_port>& inputs() const;
  const std::vector<network_port>& outputs() const;
  /// What its code is for: target::cpu::isa_key() of a CPU, "nvidia:sm_90a" of a GPU.
  const std::string& machine() const;
  bool is_for_device() const;
  /// Times of runs on the GPU, on zeros, without copies of arguments. // [runs] s
  /// @throws argument_error where the code is for a CPU
  std::vector<double> device_times(int runs) const;

 private:
  struct state;
  void run_in_order(const std::vector<named_argument>& all, void* stream) const;

  std::shared_ptr<const state> state_;
};

/// The model in a file that model::save wrote.
inline saved_model load_model(const std::string& path, saved_model_options options = {}) {
  return saved_model(path, options);
}

}  // namespace tilewright
