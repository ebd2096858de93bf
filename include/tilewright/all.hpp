// Every tier. tilewright.hpp holds the call, the default spaces and what these use; this header adds networks,
// operators, kernels that are built ahead, CUDA, the parser of scripts, instructions of machines, every rule, and the
// parts of a search: its database, its workers, the exchange with TVM. It is for files that use much of it; each header
// below may be included alone.
//
// What needs more than the library does is left out: learning.hpp (Eigen), interop/onnx.hpp (protozero) and
// interop/benchmark.hpp (Google Benchmark).
//
// A file that implements the library (TILEWRIGHT_IMPLEMENT) may include this header in the place of tilewright.hpp; it
// then has the definitions of networks, too. No #pragma once: it may have declared before.
#ifndef TILEWRIGHT_ALL_HPP
#define TILEWRIGHT_ALL_HPP

// kernels that are built ahead, operators, networks, CUDA, tensors in fibres, arrays of others
#include <tilewright/backend/pool.hpp>
#include <tilewright/built_kernel.hpp>
#include <tilewright/cuda.hpp>
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <tilewright/interop/dlpack.hpp>
#include <tilewright/interop/matrix_market.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/device/device_program.hpp>
#include <tilewright/model/device/emulated_program.hpp>
#include <tilewright/model/in_place.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/pattern_fingerprint.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/ops.hpp>

// programs as scripts
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>

// kinds of instruction as functions, and instructions of machines
#include <tilewright/intrin/dot_bf16.hpp>
#include <tilewright/intrin/dot_i8.hpp>
#include <tilewright/intrin/dp4a.hpp>
#include <tilewright/intrin/library.hpp>
#include <tilewright/intrin/outer_product_f32.hpp>
#include <tilewright/intrin/wgmma.hpp>
#include <tilewright/intrin/wmma.hpp>
#include <tilewright/schedule/primitive/blocks/blockize.hpp>
#include <tilewright/schedule/primitive/blocks/reorder_block_iter_var.hpp>
#include <tilewright/schedule/primitive/blocks/tensorize.hpp>
#include <tilewright/schedule/primitive/blocks/transform_block_layout.hpp>
#include <tilewright/schedule/primitive/buffers/buffer_access.hpp>
#include <tilewright/schedule/primitive/buffers/set_axis_separator.hpp>
#include <tilewright/schedule/primitive/buffers/storage.hpp>
#include <tilewright/schedule/primitive/buffers/transform_layout.hpp>
#include <tilewright/schedule/primitive/iterations/sparse_fuse.hpp>
#include <tilewright/schedule/primitive/iterations/sparse_reorder.hpp>
#include <tilewright/schedule/primitive/loops/add_unit_loop.hpp>
#include <tilewright/schedule/primitive/loops/fuse.hpp>
#include <tilewright/schedule/primitive/loops/loop_kind.hpp>
#include <tilewright/schedule/primitive/loops/loop_partition.hpp>
#include <tilewright/schedule/primitive/loops/merge.hpp>
#include <tilewright/schedule/primitive/loops/reorder.hpp>
#include <tilewright/schedule/primitive/loops/split.hpp>
#include <tilewright/schedule/primitive/movement/compute_at.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/schedule/primitive/notes/annotate.hpp>
#include <tilewright/schedule/primitive/padding/decompose_padding.hpp>
#include <tilewright/schedule/primitive/padding/pad_einsum.hpp>
#include <tilewright/schedule/primitive/padding/rolling_buffer.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/schedule/primitive/reductions/decompose_reduction.hpp>
#include <tilewright/schedule/primitive/reductions/fuse_reduction_epilogue.hpp>
#include <tilewright/schedule/primitive/reductions/rfactor.hpp>
#include <tilewright/schedule/primitive/staging/cache.hpp>
#include <tilewright/schedule/primitive/staging/cache_index.hpp>
#include <tilewright/schedule/primitive/staging/cache_inplace.hpp>
#include <tilewright/schedule/primitive/staging/copy_at.hpp>
#include <tilewright/schedule/primitive/staging/reindex.hpp>
#include <tilewright/schedule/primitive/work_on.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/schedule/term_order.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

// rules and post-processors of spaces
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/chains/cascade_in_parts.hpp>
#include <tilewright/space/draw_table.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/modules/apply_custom_rule.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling_wide_vector.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/order_loops.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/ragged_reduction.hpp>
#include <tilewright/space/modules/random_compute_location.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/register_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/split_groups.hpp>
#include <tilewright/space/modules/split_k.hpp>
#include <tilewright/space/modules/transposed_output.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/modules/walk_rows.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_layout.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>
#include <tilewright/space/windows/transformed_tiles.hpp>

// a search in its parts: checks, database, exchange with TVM, workers, mutators, strategies
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/database/exchange.hpp>
#include <tilewright/search/database/lookup.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/database/tvm_records.hpp>
#include <tilewright/search/device_timer.hpp>
#include <tilewright/search/drawn_trace.hpp>
#include <tilewright/search/enumeration.hpp>
#include <tilewright/search/gate.hpp>
#include <tilewright/search/measurement/compile_worker.hpp>
#include <tilewright/search/measurement/fleet.hpp>
#include <tilewright/search/measurement/timer.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/mutators/categorical.hpp>
#include <tilewright/search/mutators/compute_location.hpp>
#include <tilewright/search/mutators/parallel.hpp>
#include <tilewright/search/mutators/thread_binding.hpp>
#include <tilewright/search/mutators/tile_size.hpp>
#include <tilewright/search/mutators/unroll.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/search/report/limits.hpp>
#include <tilewright/search/report/schedule_family.hpp>
#include <tilewright/search/strategies/annealing.hpp>
#include <tilewright/search/strategies/droplet.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/exhaustive.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/search/strategies/outside.hpp>
#include <tilewright/search/strategies/portfolio.hpp>
#include <tilewright/search/strategies/replay_functions.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/search/trace_limits.hpp>
#include <tilewright/search/trace_tokens.hpp>
#include <tilewright/search/tvm_workload.hpp>

#endif

// both define what they declare, where this file is told to
#include <tilewright/tilewright.hpp>

#include <tilewright/models.hpp>
