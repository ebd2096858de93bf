// The programs and traces that bench_search replays: a matrix product and a convolution with padding
// and activation, tiled on four levels with staged operands and results, as the search draws them.
#pragma once

namespace bench {

// clang-format off
inline constexpr const char* matmul_program = R"(@T.prim_func
def main(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32"), C: T.Buffer((512, 512), "float32")):
    for i, j, k in T.grid(512, 512, 512):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

/// 30 instructions.
inline constexpr const char* matmul_trace = R"(b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5, v6, v7 = sch.sample_perfect_tile(loop=l1, n=4, max_innermost_factor=64, decision=[8, 4, 4, 4])
l8, l9, l10, l11 = sch.split(loop=l1, factors=[v4, v5, v6, v7], preserve_unit_iters=True, disable_predication=False)
v12, v13, v14, v15 = sch.sample_perfect_tile(loop=l2, n=4, max_innermost_factor=64, decision=[4, 4, 2, 16])
l16, l17, l18, l19 = sch.split(loop=l2, factors=[v12, v13, v14, v15], preserve_unit_iters=True, disable_predication=False)
v20, v21 = sch.sample_perfect_tile(loop=l3, n=2, max_innermost_factor=64, decision=[128, 4])
l22, l23 = sch.split(loop=l3, factors=[v20, v21], preserve_unit_iters=True, disable_predication=False)
sch.reorder(l8, l16, l9, l17, l22, l10, l18, l23, l11, l19)
b24 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope="local")
sch.reverse_compute_at(block=b24, loop=l17, preserve_unit_loops=True, index=-1)
b25 = sch.cache_read(block=b0, read_buffer_index=1, storage_scope="global")
sch.compute_at(block=b25, loop=l22, preserve_unit_loops=True, index=-1)
v26 = sch.sample_categorical(candidates=[0, 16, 64, 512], probs=[0.25, 0.25, 0.25, 0.25], decision=2)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit", ann_val=v26)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.parallel", ann_val=16)
sch.enter_postproc()
sch.unannotate(block_or_loop=b0, ann_key="meta_schedule.parallel")
sch.unannotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit")
l27 = sch.fuse(l8, l16, preserve_unit_iters=True)
sch.parallel(loop=l27)
sch.annotate(block_or_loop=l27, ann_key="pragma_auto_unroll_max_step", ann_val=v26)
sch.vectorize(loop=l19)
sch.unroll(loop=l11)
l28, l29, l30, l31, l32 = sch.get_loops(block=b24)
sch.vectorize(loop=l32)
l33, l34, l35, l36, l37, l38 = sch.get_loops(block=b25)
sch.vectorize(loop=l38)
sch.unroll(loop=l37)
b39 = sch.decompose_reduction(block=b0, loop=l22)
)";

inline constexpr const char* conv2d_program = R"(@T.prim_func
def main(X: T.Buffer((1, 56, 56, 64), "float32"), F: T.Buffer((3, 3, 64, 128), "float32"), Y: T.Buffer((1, 56, 56, 128), "float32")):
    P = T.alloc_buffer((1, 58, 58, 64), "float32")
    C = T.alloc_buffer((1, 56, 56, 128), "float32")
    for n, h, w, c in T.grid(1, 58, 58, 64):
        with T.block("P"):
            vn, vh, vw, vc = T.axis.remap("SSSS", [n, h, w, c])
            P[vn, vh, vw, vc] = T.if_then_else(1 <= vh and vh < 57 and 1 <= vw and vw < 57, X[vn, vh - 1, vw - 1, vc], T.float32(0))
    for n, h, w, k, r, s, c in T.grid(1, 56, 56, 128, 3, 3, 64):
        with T.block("C"):
            vn, vh, vw, vk, vr, vs, vc = T.axis.remap("SSSSRRR", [n, h, w, k, r, s, c])
            with T.init():
                C[vn, vh, vw, vk] = T.float32(0)
            C[vn, vh, vw, vk] = C[vn, vh, vw, vk] + P[vn, vh + vr, vw + vs, vc] * F[vr, vs, vc, vk]
    for n, h, w, k in T.grid(1, 56, 56, 128):
        with T.block("Y"):
            vn, vh, vw, vk = T.axis.remap("SSSS", [n, h, w, k])
            Y[vn, vh, vw, vk] = T.max(C[vn, vh, vw, vk], T.float32(0))
)";

/// 50 instructions.
inline constexpr const char* conv2d_trace = R"(b0 = sch.get_block(name="C", func_name="main")
b1 = sch.get_block(name="Y", func_name="main")
b2 = sch.get_block(name="P", func_name="main")
l3, l4, l5, l6, l7, l8, l9 = sch.get_loops(block=b0)
v10, v11, v12, v13 = sch.sample_perfect_tile(loop=l3, n=4, max_innermost_factor=64, decision=[1, 1, 1, 1])
l14, l15, l16, l17 = sch.split(loop=l3, factors=[v10, v11, v12, v13], preserve_unit_iters=True, disable_predication=False)
v18, v19, v20, v21 = sch.sample_perfect_tile(loop=l4, n=4, max_innermost_factor=64, decision=[7, 4, 2, 1])
l22, l23, l24, l25 = sch.split(loop=l4, factors=[v18, v19, v20, v21], preserve_unit_iters=True, disable_predication=False)
v26, v27, v28, v29 = sch.sample_perfect_tile(loop=l5, n=4, max_innermost_factor=64, decision=[2, 2, 2, 7])
l30, l31, l32, l33 = sch.split(loop=l5, factors=[v26, v27, v28, v29], preserve_unit_iters=True, disable_predication=False)
v34, v35, v36, v37 = sch.sample_perfect_tile(loop=l6, n=4, max_innermost_factor=64, decision=[2, 2, 2, 16])
l38, l39, l40, l41 = sch.split(loop=l6, factors=[v34, v35, v36, v37], preserve_unit_iters=True, disable_predication=False)
v42, v43 = sch.sample_perfect_tile(loop=l7, n=2, max_innermost_factor=64, decision=[1, 3])
l44, l45 = sch.split(loop=l7, factors=[v42, v43], preserve_unit_iters=True, disable_predication=False)
v46, v47 = sch.sample_perfect_tile(loop=l8, n=2, max_innermost_factor=64, decision=[3, 1])
l48, l49 = sch.split(loop=l8, factors=[v46, v47], preserve_unit_iters=True, disable_predication=False)
v50, v51 = sch.sample_perfect_tile(loop=l9, n=2, max_innermost_factor=64, decision=[16, 4])
l52, l53 = sch.split(loop=l9, factors=[v50, v51], preserve_unit_iters=True, disable_predication=False)
sch.reorder(l14, l22, l30, l38, l15, l23, l31, l39, l44, l48, l52, l16, l24, l32, l40, l45, l49, l53, l17, l25, l33, l41)
b54 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope="local")
sch.reverse_compute_at(block=b54, loop=l39, preserve_unit_loops=True, index=-1)
sch.reverse_compute_at(block=b1, loop=l39, preserve_unit_loops=True, index=-1)
b55 = sch.cache_read(block=b0, read_buffer_index=1, storage_scope="global")
sch.compute_at(block=b55, loop=l52, preserve_unit_loops=True, index=-1)
l56 = sch.sample_compute_location(block=b2, decision=4)
sch.compute_at(block=b2, loop=l56, preserve_unit_loops=True, index=-1)
v57 = sch.sample_categorical(candidates=[0, 16, 64, 512], probs=[0.25, 0.25, 0.25, 0.25], decision=2)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit", ann_val=v57)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.parallel", ann_val=16)
sch.annotate(block_or_loop=b0, ann_key="meta_schedule.vectorize", ann_val=64)
sch.enter_postproc()
sch.unannotate(block_or_loop=b0, ann_key="meta_schedule.parallel")
sch.unannotate(block_or_loop=b0, ann_key="meta_schedule.vectorize")
sch.unannotate(block_or_loop=b0, ann_key="meta_schedule.unroll_explicit")
l58 = sch.fuse(l14, l22, l30, preserve_unit_iters=True)
sch.parallel(loop=l58)
sch.annotate(block_or_loop=l58, ann_key="pragma_auto_unroll_max_step", ann_val=v57)
sch.vectorize(loop=l41)
sch.unroll(loop=l33)
l60, l61, l62, l63, l64, l65, l66, l67, l68, l69 = sch.get_loops(block=b1)
l70 = sch.fuse(l68, l69, preserve_unit_iters=True)
b80 = sch.decompose_reduction(block=b0, loop=l44)
l81, l82, l83, l84, l85, l86, l87, l88, l89, l90 = sch.get_loops(block=b54)
sch.vectorize(loop=l90)
l91, l92, l93, l94, l95, l96, l97, l98, l99, l100, l101, l102, l103 = sch.get_loops(block=b55)
l104 = sch.fuse(l100, l101, preserve_unit_iters=True)
sch.vectorize(loop=l103)
l105, l106, l107, l108, l109, l110 = sch.get_loops(block=b2)
l111 = sch.fuse(l107, l108, preserve_unit_iters=True)
l112, l113 = sch.split(loop=l110, factors=[None, 16], preserve_unit_iters=True, disable_predication=False)
)";
// clang-format on

}  // namespace bench
