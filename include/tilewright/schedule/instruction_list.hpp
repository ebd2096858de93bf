// The list of instruction kinds, one entry a primitive: its name, and what the table of kinds makes of it
// (impl/schedule/trace/instruction_table.ipp). Traces record, print and parse what is here, and space
// expressions have a step for each (space/steps.hpp). New kinds come last: the place of a kind is what
// saved networks over traces know of it (cost/trace_token.hpp).
#pragma once

#define TILEWRIGHT_INSTRUCTIONS(ENTRY)                                                             \
  ENTRY(work_on, kind<&work_on>("work_on", {"func_name"}))                                         \
  ENTRY(get_block,                                                                                 \
        query<&kind_traits::get_block>("get_block", {"name", "func_name=main"}, "get_sblock"))     \
  ENTRY(get_loops, query<&get_loops>("get_loops", {"block"}))                                      \
  ENTRY(get_child_blocks,                                                                          \
        query<&kind_traits::get_child_blocks>("get_child_blocks", {"*block_or_loop"}))             \
  ENTRY(get_producers, query<&get_producers>("get_producers", {"block"}))                          \
  ENTRY(get_consumers, query<&get_consumers>("get_consumers", {"block"}))                          \
  ENTRY(get_output_blocks, query<&get_output_blocks>("get_output_blocks", {"block"}))              \
  ENTRY(sample_categorical,                                                                        \
        kind<&kind_traits::sample_categorical>("sample_categorical", {"candidates", "probs"}))     \
  ENTRY(sample_perfect_tile, kind<&sample_perfect_tile>("sample_perfect_tile",                     \
                                                        {"loop", "n", "max_innermost_factor=16"})) \
  ENTRY(sample_partitioned_tile,                                                                   \
        kind<&sample_partitioned_tile>("sample_partitioned_tile",                                  \
                                       {"loop", "n", "partition_pos=0", "innerpart_factor=1"}))    \
  ENTRY(sample_tile, kind<&sample_tile>("sample_tile", {"loop", "n", "innermost"}))                \
  ENTRY(sample_compute_location,                                                                   \
        kind<&sample_compute_location>("sample_compute_location", {"block"}))                      \
  ENTRY(split, kind<&split>("split", {"loop", "factors", "preserve_unit_iters=1",                  \
                                      "disable_predication=0"}))                                   \
  ENTRY(fuse, kind<&fuse>("fuse", {"*loops", "preserve_unit_iters=1"}))                            \
  ENTRY(loop_partition,                                                                            \
        kind<&loop_partition>("loop_partition", {"loop", "factors", "preserve_unit_iters=1"}))     \
  ENTRY(merge, kind<&primitive::merge>("merge", {"*loops"}))                                       \
  ENTRY(reorder, kind<&reorder>("reorder", {"*loops"}))                                            \
  ENTRY(parallel, kind<&parallel>("parallel", {"loop"}))                                           \
  ENTRY(vectorize, kind<&vectorize>("vectorize", {"loop"}))                                        \
  ENTRY(bind, kind<&primitive::bind>("bind", {"loop", "thread_axis"}))                             \
  ENTRY(unroll, kind<&unroll>("unroll", {"loop"}))                                                 \
  ENTRY(add_unit_loop, kind<&kind_traits::add_unit_loop>("add_unit_loop", {"block_or_loop"}))      \
  ENTRY(transform_layout,                                                                          \
        kind<&transform_layout>(                                                                   \
            "transform_layout",                                                                    \
            {"block", "buffer", "index_map", "pad_value=None", "assume_injective_transform=0"}))   \
  ENTRY(transform_block_layout,                                                                    \
        kind<&transform_block_layout>("transform_block_layout", {"block", "index_map"}))           \
  ENTRY(reorder_block_iter_var,                                                                    \
        kind<&reorder_block_iter_var>("reorder_block_iter_var", {"block", "new_order"}))           \
  ENTRY(cache_read, kind<&cache_read>("cache_read", {"block", "read_buffer_index",                 \
                                                     "storage_scope", "?consumer_blocks"}))        \
  ENTRY(cache_write, kind<&cache_write>("cache_write", {"block", "write_buffer_index",             \
                                                        "storage_scope", "?consumer_blocks"}))     \
  ENTRY(cache_inplace,                                                                             \
        kind<&cache_inplace>("cache_inplace", {"block", "read_buffer_index", "storage_scope"}))    \
  ENTRY(cache_index,                                                                               \
        kind<&cache_index>("cache_index", {"block", "storage_scope", "cse_thresh=0"}))             \
  ENTRY(reindex, kind<&reindex>("reindex", {"block", "buffer"}))                                   \
  ENTRY(reindex_cache_read,                                                                        \
        kind<&reindex_cache_read>("reindex_cache_read",                                            \
                                  {"block", "read_buffer_index", "storage_scope", "index_map"}))   \
  ENTRY(reindex_cache_write,                                                                       \
        kind<&reindex_cache_write>("reindex_cache_write",                                          \
                                   {"block", "write_buffer_index", "storage_scope", "index_map"})) \
  ENTRY(read_at,                                                                                   \
        kind<&read_at>("read_at", {"loop", "block", "read_buffer_index", "storage_scope"}))        \
  ENTRY(write_at,                                                                                  \
        kind<&write_at>("write_at", {"loop", "block", "write_buffer_index", "storage_scope"}))     \
  ENTRY(compute_at, kind<&move_to<&compute_at, &compute_inline>>(                                  \
                        "compute_at", {"block", "loop", "preserve_unit_loops=0", "index=-1"}))     \
  ENTRY(reverse_compute_at,                                                                        \
        kind<&move_to<&reverse_compute_at, &reverse_compute_inline>>(                              \
            "reverse_compute_at", {"block", "loop", "preserve_unit_loops=0", "index=-1"}))         \
  ENTRY(compute_inline, kind<&compute_inline>("compute_inline", {"block"}))                        \
  ENTRY(reverse_compute_inline,                                                                    \
        kind<&reverse_compute_inline>("reverse_compute_inline", {"block"}))                        \
  ENTRY(decompose_reduction, kind<&decompose_reduction>("decompose_reduction", {"block", "loop"})) \
  ENTRY(rfactor, kind<&rfactor>("rfactor", {"loop", "factor_axis"}))                               \
  ENTRY(fuse_reduction_epilogue,                                                                   \
        kind<&fuse_reduction_epilogue>("fuse_reduction_epilogue",                                  \
                                       {"reduction_block", "epilogue_block"}))                     \
  ENTRY(pad_einsum, kind<&pad_einsum>("pad_einsum", {"block", "padding"}))                         \
  ENTRY(rolling_buffer, kind<&rolling_buffer>("rolling_buffer", {"block", "write_buffer_index"}))  \
  ENTRY(decompose_padding, kind<&decompose_padding>("decompose_padding", {"block", "loop"}))       \
  ENTRY(blockize, kind<&kind_traits::blockize>("blockize", {"target", "preserve_unit_iters=1"}))   \
  ENTRY(set_scope, kind<&set_scope>("set_scope", {"block", "buffer_index", "storage_scope"}))      \
  ENTRY(unsafe_set_dtype,                                                                          \
        kind<&unsafe_set_dtype>("unsafe_set_dtype", {"block", "buffer_index", "dtype"}))           \
  ENTRY(storage_align, kind<&storage_align>("storage_align", {"block", "buffer_index", "axis",     \
                                                              "factor", "offset"}))                \
  ENTRY(set_axis_separator,                                                                        \
        kind<&set_axis_separator>("set_axis_separator", {"block", "buffer", "axis_separators"}))   \
  ENTRY(unsafe_hide_buffer_access,                                                                 \
        kind<&unsafe_hide_buffer_access>("unsafe_hide_buffer_access",                              \
                                         {"block", "buf_type", "buf_index_array"}))                \
  ENTRY(annotate_buffer_access,                                                                    \
        kind<&kind_traits::annotate_buffer_access>(                                                \
            "annotate_buffer_access", {"block", "buffer_index", "buf_type", "gen_new_ranges"}))    \
  ENTRY(tensorize, kind<&kind_traits::tensorize>(                                                  \
                       "tensorize", {"block_or_loop", "tensor_intrin", "preserve_unit_iters=1"}))  \
  ENTRY(annotate,                                                                                  \
        kind<&kind_traits::annotate>("annotate", {"block_or_loop", "ann_key", "ann_val"}))         \
  ENTRY(unannotate, kind<&kind_traits::unannotate>("unannotate", {"block_or_loop", "ann_key"}))    \
  ENTRY(assert_, renamed(kind<&kind_traits::require>("assert_", {"condition"}), "assert"))         \
  ENTRY(enter_postproc, kind<&kind_traits::enter_postproc>("enter_postproc", {}))                  \
  ENTRY(sparse_reorder, kind<&sparse_reorder>("sparse_reorder", {"block", "new_order"}))           \
  ENTRY(sparse_fuse, kind<&sparse_fuse>("sparse_fuse", {"block", "axes"}))                         \
  ENTRY(add_atomically, kind<&add_atomically>("add_atomically", {"block"}))                        \
  ENTRY(sparse_decompose, kind<&sparse_decompose>("sparse_decompose", {"block"}))
