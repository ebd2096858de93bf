// The default space for GPUs.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// MetaSchedule's rules for GPUs within the limits of the GPU of the context: SSSRRSRS tiles on blocks, virtual
/// threads and threads, operands in shared memory and results in registers, reductions across threads, and threads
/// for what is left; memory is read and written in vectors of up to 16 bytes. Operands are copied in the
/// background, as many steps ahead as is drawn, borders of zeros with them; sizes that run unmeasured follow an
/// estimate of reuse and occupancy. Threads of a product stand in warps of rows and columns, blocks in groups, rows
/// of terms 16 bytes apart or not, as drawn. Products and convolutions of 16-bit floats and bytes also get families
/// on tensor cores (use_tensor_core), which come first and whose operands are copied in the background, two or
/// three steps ahead, the last products of a step carried over or not, or wait in registers. Results of products,
/// with their epilogues, are stored straight from registers, or through shared memory together and in whole rows;
/// those with a small grid and a long reduction may be made in parts (split_k). Reductions of rows have a block or
/// a warp for each row, reductions of columns a warp of columns to a block; those that can be joined, as maximum
/// and sum of a softmax or the two sums of a norm, have families that read a row once for both (work_on). Attention
/// has families that are one kernel, parts of the keys after each other: on tensor cores where weights are rounded to
/// 16 bits, which come before all others, and in threads.
/// @throws argument_error from `sketches` where the context has no GPU
design_space default_gpu();

/// The default space of a machine: default_cpu or default_gpu.
design_space default_space(const target::machine& where);

}  // namespace tilewright::space
