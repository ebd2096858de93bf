// A network's kernels for a GPU without one: their text, and runs of it on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/config.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::network {

/// What launch k of a network becomes on its GPU: by the schedule that `records` has as chosen, or else the
/// default one.
/// @param plan made for a GPU
/// @throws build_error naming the node that there is no schedule for, or whose kernels exceed the GPU's limits
backend::cuda::program gpu_kernels_of(const executable& plan, std::size_t k,
                                      const search::database& records, std::uint64_t seed);

/// The same network run thread by thread on the host (backend/cuda/emulator.hpp): for tests, and for
/// programs that are written where no GPU is. It says nothing about time.
class emulated_program {
 public:
  /// Cost: 0.1 to 0.5 s for each different kernel, the C++ compiler's.
  /// @param plan made for a GPU; kept
  /// @throws build_error as gpu_kernels_of, and when there is no C++ compiler
  emulated_program(std::shared_ptr<const executable> plan, const search::database& records,
                   std::uint64_t seed);

  /// Runs the network on dense row-major data in the order of the graph's inputs and outputs.
  /// @param order of blocks and threads, drawn from it
  /// @throws argument_error naming the node whose indices are out of range
  /// @throws error for what the emulator finds, naming the node
  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
           std::uint64_t order = 0) const;

 private:
  std::shared_ptr<const executable> plan_;
  std::vector<std::shared_ptr<const backend::cuda::emulator>>
      kernels_;  // [launches], equal ones once
};

}  // namespace tilewright::network
