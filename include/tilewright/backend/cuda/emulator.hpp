// Runs the text of kernels on the host, thread by thread, and finds what a GPU would hide.
//
// The text is compiled by the machine's C++ compiler behind a prelude of its own
// (backend/cuda/prelude.hpp). Each thread of a block is a fiber; blocks, and the threads of a block
// between two barriers, run in an order drawn from a seed. What is found ends the run: an access out of
// bounds or not aligned to its width, a read of memory that nothing wrote, two threads that meet at an
// element without a barrier between them, one of them writing (of two blocks: in the same kernel), a barrier or an exchange between threads that not all of them reach.
// Boxes that the copy engine moves land at any time, in any order, before their phase ends; what reads one without having
// waited for it, stores to it, or writes for the engine without a fence, is found, and so are threads that wait for
// bytes that never come.
//
// It says nothing about time, and its rounding of functions is the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

/// Memory of one parameter of the function, in order.
struct emulated_argument {
  void* data = nullptr;       // of a scalar: its value
  std::int64_t elements = 1;  // from the first one on that may be touched
};

/// Matrices of eight rows of 16 bytes that warps loaded from shared memory, and in how many steps the
/// memory gives them: one for each, and more where rows lie in the same banks.
struct matrix_traffic {
  std::int64_t matrices = 0, steps = 0;
};

/// Whether a C++ compiler is here, and if not, what was looked for.
std::string why_no_emulator();

/// A program for the emulator, compiled and loaded.
class emulator {
 public:
  /// Cost: 0.1 to 0.5 s, the compiler's.
  /// @throws build_error when there is no compiler (the variable TILEWRIGHT_CXX names one) or it
  ///         refuses the text
  explicit emulator(const program& p);
  ~emulator();
  emulator(emulator&&) noexcept;
  emulator& operator=(emulator&&) noexcept;

  /// Starts the kernels one after the other. `strides` as in backend::call.
  /// @throws error naming kernel, block, thread, buffer and element
  matrix_traffic run(const std::vector<emulated_argument>& arguments,
                     const std::vector<std::int64_t>& strides = {}, std::uint64_t seed = 0) const;

 private:
  struct loaded;
  std::unique_ptr<loaded> loaded_;
};

}  // namespace tilewright::backend::cuda
