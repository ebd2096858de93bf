// MetaSchedule's own spaces, as the paper and TVM's RFC 1 compose them: the lists of rules and
// post-processors that TVM takes for a target, from the modules of this library.
#pragma once

#include <string_view>
#include <vector>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// The list for CPUs: inlining, partial results of reductions, SSRSRS tiles with a cache of the
/// results, places drawn for what is left, and threads, vectors and unrolling (TVM: "llvm").
design_space metaschedule_cpu();
/// The same, with blocks that fit one tiled around the dot products that the target has: bytes with
/// VNNI or AVX-512, brain floats with AVX-512 (TVM: "vnni", "avx512").
design_space metaschedule_cpu_intrinsics();
/// The list for NVIDIA GPUs: SSSRRSRS tiles on blocks and threads, operands in shared memory and
/// results in registers, reductions across threads, and threads for what is left (TVM: "cuda").
/// @param warp_size threads of a block at least
design_space metaschedule_cuda(int warp_size = 32);

/// The same with products and convolutions of 16-bit floats and bytes in fragments of warps, as
/// appendix A.3 of the paper does (TVM: "cuda-tensorcore").
design_space metaschedule_cuda_tensor_core(int warp_size = 32);

/// A space that has a name.
struct named_space {
  std::string_view name, summary;
  design_space (*make)();
  bool for_gpu = false;  // its schedules bind loops to the threads of a GPU
};
/// All of them, those of the library first; the first one is the default.
std::vector<named_space> named_spaces();
/// Adds a space, or takes the place of the one of that name.
void add_named_space(const named_space& s);
/// The space of that name.
/// @throws argument_error for a name that no space has; the text lists the names
design_space find_space(std::string_view name);

}  // namespace tilewright::space
