// A network on a GPU: its constants there once, its values in one arena, and its kernels in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/model/executable.hpp>

namespace tilewright::network {

/// Any number of threads may call one. The context is the device's primary one, which CUDA's runtime and
/// PyTorch share.
class device_program {
 public:
  /// Copies the constants to the device.
  /// @param plan made for a GPU; kept
  /// @param device its number among those that this process may use
  /// @throws build_error when there is no such device, or too little memory on it
  explicit device_program(std::shared_ptr<const executable> plan, int device = 0);
  ~device_program();
  device_program(const device_program&) = delete;
  device_program& operator=(const device_program&) = delete;

  /// Starts the kernels on a stream (CUstream and cudaStream_t are the same; null: the default one), for
  /// dense row-major arrays on the device in the order of the graph's inputs and outputs, and returns. The
  /// first call compiles the kernels that the database has no code of, and the first one on a stream
  /// allocates its arena; later ones allocate nothing on the device, wait for nothing, and may be recorded in
  /// a graph, which uses the arena of the stream that recorded it.
  ///
  /// It requires: 1) arrays lie in memory of this device; 2) their addresses are multiples of 16; 3) the
  /// process made this, and is no forked child; 4) the stream is of the device's primary context; 5) while a
  /// graph records the stream, nothing has to be compiled or allocated, and no indices be looked at.
  /// Indices of gathers are copied to the host and looked at when their address is new.
  /// @throws argument_error with the requirement and the input or output, or naming the node whose indices
  /// are out of range
  /// @throws build_error naming the node that no code can be made for, or when the driver refuses
  void start(const std::vector<void*>& inputs, const std::vector<void*>& outputs,
             void* stream = nullptr) const;
  /// The same for arrays of the host: copies them to the device, waits, and copies back what was written.
  /// One call runs at a time; the first one allocates the copies.
  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) const;

  /// Does what a first call does, except starting the kernels.
  void warm() const;
  /// The least time of each launch on the device in so many runs of the whole network, on zeros. // [launches] s
  std::vector<double> measure(int runs) const;
  /// Times of runs of the whole network on the device, on zeros, without copies of arguments; each is the mean
  /// of ten in a row. // [runs] s
  std::vector<double> time(int runs) const;

  const executable& plan() const noexcept;
  /// What the device calls itself.
  const std::string& device_name() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::network
