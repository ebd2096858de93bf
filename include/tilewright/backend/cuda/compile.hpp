// The text of kernels to code for a device, through NVRTC, which is opened at first use.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/backend/cuda/resources.hpp>
#include <tilewright/config.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::backend::cuda {

/// Code of a program and what its kernels need. The launches of the artifact have their registers and
/// spilled bytes filled in.
struct compiled {
  backend::artifact artifact;
  resource_report report;
  std::string log;  // all that the compiler said
};

/// Compiles the program for the architecture of the device. Threads may compile at the same time.
/// Cost: 30 ms for an elementwise kernel, 100 to 500 ms for a matrix product.
/// @param deadline  after which NVRTC gives up where it can (version 13 and later); 0: never
/// @throws build_error when no NVRTC can be opened, it does not know the architecture, it refuses the
///         text (the message has its log), or the deadline passes
compiled compile(const program& p, const target::gpu& device,
                 std::chrono::milliseconds deadline = std::chrono::milliseconds(0));

/// Whether a program gains from being compiled with others: what NVRTC needs for any program is most of
/// what it needs for this one, which has no memory that threads share and multiplies no matrices.
bool is_small(const program& p);

/// Compiles programs in one run. [programs] Code of each, whose image has the kernels of all, under other
/// names. Cost: 8 ms for each elementwise kernel beyond the first.
/// @throws build_error as `compile`; also when one of them alone would fail
std::vector<compiled> compile_together(
    const std::vector<program>& all, const target::gpu& device,
    std::chrono::milliseconds deadline = std::chrono::milliseconds(0));

}  // namespace tilewright::backend::cuda
