# record 0
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_i_1_j_1_fused in T.parallel(384, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(1, 4, 4, 1):
                with T.sblock("C_init"):
                    vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 24 * 4 + i_2_init * 4 + i_3_init)
                    vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 24 * 4 + j_2_init + j_3_init)
                    T.reads()
                    T.writes(C[vi, vj])
                    T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                    C[vi, vj] = T.float32(0.0)
            for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(2, 1, 4, 24, 4, 1):
                with T.sblock("C_update"):
                    vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 24 * 4 + i_2 * 4 + i_3)
                    vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 24 * 4 + j_2 + j_3)
                    vk = T.axis.reduce(48, k_0 * 24 + k_1)
                    T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                    T.writes(C[vi, vj])
                    T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(4):
                for ax1_fused in T.vectorized(4):
                    with T.sblock("D"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 24 * 4 + ax0)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 24 * 4 + ax1_fused)
                        T.reads(C[vi, vj])
                        T.writes(D[vi, vj])
                        D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 1
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(6, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(4, 2):
                for i_2_init, j_2_init, i_3_init in T.grid(1, 4, 16):
                    for j_3_fused_init in T.vectorized(2):
                        with T.sblock("C_init"):
                            vi = T.axis.spatial(64, i_1 * 16 + i_2_init * 16 + i_3_init)
                            vj = T.axis.spatial(96, i_0_j_0_fused * 16 + j_1 * 8 + j_2_init * 2 + j_3_fused_init)
                            T.reads()
                            T.writes(C[vi, vj])
                            T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3 in T.grid(1, 1, 4, 48, 16):
                    for j_3_fused in T.vectorized(2):
                        with T.sblock("C_update"):
                            vi = T.axis.spatial(64, i_1 * 16 + i_2 * 16 + i_3)
                            vj = T.axis.spatial(96, i_0_j_0_fused * 16 + j_1 * 8 + j_2 * 2 + j_3_fused)
                            vk = T.axis.reduce(48, k_0 * 48 + k_1)
                            T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                            T.writes(C[vi, vj])
                            T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(64):
                for ax1_fused in T.vectorized(16):
                    with T.sblock("D"):
                        vi = T.axis.spatial(64, ax0)
                        vj = T.axis.spatial(96, i_0_j_0_fused * 16 + ax1_fused)
                        T.reads(C[vi, vj])
                        T.writes(D[vi, vj])
                        D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 2
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(96, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(8, 2):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(1, 2, 2, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 24 * 16 + i_1 * 2 + i_2_init * 2 + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 24 * 4 + j_1 * 2 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(1, 1, 2, 48, 2, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 24 * 16 + i_1 * 2 + i_2 * 2 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 24 * 4 + j_1 * 2 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 48 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 3
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_i_1_fused in T.parallel(384, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for j_1 in range(1):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(1, 16, 1, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_fused // 96 * 16 + i_0_j_0_i_1_fused % 16 + i_2_init + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_fused % 96 // 16 * 16 + j_1 * 16 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(16, 1, 16, 3, 1, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_fused // 96 * 16 + i_0_j_0_i_1_fused % 16 + i_2 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_fused % 96 // 16 * 16 + j_1 * 16 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 3 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 4
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_i_1_j_1_fused in T.parallel(32, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for i_2_init, j_2_init, i_3_init in T.grid(8, 12, 1):
                for j_3_fused_init in T.vectorized(2):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 4 * 8 + i_2_init + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 4 * 24 + j_2_init * 2 + j_3_fused_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
            for k_0, i_2, j_2, k_1, i_3 in T.grid(12, 8, 12, 4, 1):
                for j_3_fused in T.vectorized(2):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 4 * 8 + i_2 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 4 * 24 + j_2 * 2 + j_3_fused)
                        vk = T.axis.reduce(48, k_0 * 4 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 5
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_i_1_j_1_fused in T.parallel(256, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(8, 3, 1, 1):
                with T.sblock("C_init"):
                    vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 128 * 32 + i_0_j_0_i_1_j_1_fused % 64 // 16 * 8 + i_2_init + i_3_init)
                    vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 128 // 64 * 48 + i_0_j_0_i_1_j_1_fused % 16 * 3 + j_2_init + j_3_init)
                    T.reads()
                    T.writes(C[vi, vj])
                    T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                    C[vi, vj] = T.float32(0.0)
            for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(16, 8, 3, 3, 1, 1):
                with T.sblock("C_update"):
                    vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused // 128 * 32 + i_0_j_0_i_1_j_1_fused % 64 // 16 * 8 + i_2 + i_3)
                    vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused % 128 // 64 * 48 + i_0_j_0_i_1_j_1_fused % 16 * 3 + j_2 + j_3)
                    vk = T.axis.reduce(48, k_0 * 3 + k_1)
                    T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                    T.writes(C[vi, vj])
                    T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 6
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(8, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(16, 8):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(2, 3, 1, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 4 * 32 + i_1 * 2 + i_2_init + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 4 * 24 + j_1 * 3 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(1, 2, 3, 48, 1, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 4 * 32 + i_1 * 2 + i_2 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 4 * 24 + j_1 * 3 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 48 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(32):
                for ax1_fused in T.vectorized(24):
                    with T.sblock("D"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 4 * 32 + ax0)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 4 * 24 + ax1_fused)
                        T.reads(C[vi, vj])
                        T.writes(D[vi, vj])
                        D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 7
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(256, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(1, 6):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(4, 1, 1, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 16 * 4 + i_1 * 4 + i_2_init + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 16 * 6 + j_1 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(6, 4, 1, 8, 1, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 16 * 4 + i_1 * 4 + i_2 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 16 * 6 + j_1 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 8 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 8
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(2, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(4, 32):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(1, 3, 8, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_fused * 32 + i_1 * 8 + i_2_init * 8 + i_3_init)
                        vj = T.axis.spatial(96, j_1 * 3 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(6, 1, 3, 8, 8, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_fused * 32 + i_1 * 8 + i_2 * 8 + i_3)
                        vj = T.axis.spatial(96, j_1 * 3 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 8 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0, ax1 in T.grid(32, 96):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, i_0_j_0_fused * 32 + ax0)
                    vj = T.axis.spatial(96, ax1)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 9
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused_fused in T.parallel(16):
            for i_1, j_1 in T.grid(1, 2):
                for i_2_init, j_2_init, i_3_init in T.grid(1, 6, 4):
                    for j_3_fused_init in T.vectorized(8):
                        with T.sblock("C_init"):
                            vi = T.axis.spatial(64, i_0_j_0_fused_fused * 4 + i_1 * 4 + i_2_init * 4 + i_3_init)
                            vj = T.axis.spatial(96, j_1 * 48 + j_2_init * 8 + j_3_fused_init)
                            T.reads()
                            T.writes(C[vi, vj])
                            T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3 in T.grid(24, 1, 6, 2, 4):
                    for j_3_fused in T.vectorized(8):
                        with T.sblock("C_update"):
                            vi = T.axis.spatial(64, i_0_j_0_fused_fused * 4 + i_1 * 4 + i_2 * 4 + i_3)
                            vj = T.axis.spatial(96, j_1 * 48 + j_2 * 8 + j_3_fused)
                            vk = T.axis.reduce(48, k_0 * 2 + k_1)
                            T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                            T.writes(C[vi, vj])
                            T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0, ax1 in T.grid(4, 96):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, i_0_j_0_fused_fused * 4 + ax0)
                    vj = T.axis.spatial(96, ax1)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 10
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_i_1_j_1_fused in T.parallel(96, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_2_init, j_2_init, i_3_init in T.grid(4, 2, 4):
                for j_3_fused_init in T.vectorized(2):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused % 32 // 8 * 16 + i_2_init * 4 + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused // 32 * 32 + i_0_j_0_i_1_j_1_fused % 8 * 4 + j_2_init * 2 + j_3_fused_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
            for k_0, i_2, j_2, k_1, i_3 in T.grid(4, 4, 2, 12, 4):
                for j_3_fused in T.vectorized(2):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_i_1_j_1_fused % 32 // 8 * 16 + i_2 * 4 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_i_1_j_1_fused // 32 * 32 + i_0_j_0_i_1_j_1_fused % 8 * 4 + j_2 * 2 + j_3_fused)
                        vk = T.axis.reduce(48, k_0 * 12 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_j_fused_0 in T.parallel(96):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("D"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 96)
                    vj = T.axis.spatial(96, (i_j_fused_0 * 64 + i_j_fused_1) % 96)
                    T.reads(C[vi, vj])
                    T.writes(D[vi, vj])
                    D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
# record 11
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 96), "float32"), D: T.Buffer((64, 96), "float32")):
        T.func_attr({"global_symbol": "dense_relu", "tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((64, 96))
        for i_0_j_0_fused in T.parallel(768, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for i_1, j_1 in T.grid(1, 1):
                for i_2_init, j_2_init, i_3_init, j_3_init in T.grid(1, 2, 4, 1):
                    with T.sblock("C_init"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 48 * 4 + i_1 * 4 + i_2_init * 4 + i_3_init)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 48 * 2 + j_1 * 2 + j_2_init + j_3_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = T.float32(0.0)
                for k_0, i_2, j_2, k_1, i_3, j_3 in T.grid(2, 1, 2, 24, 4, 1):
                    with T.sblock("C_update"):
                        vi = T.axis.spatial(64, i_0_j_0_fused // 48 * 4 + i_1 * 4 + i_2 * 4 + i_3)
                        vj = T.axis.spatial(96, i_0_j_0_fused % 48 * 2 + j_1 * 2 + j_2 + j_3)
                        vk = T.axis.reduce(48, k_0 * 24 + k_1)
                        T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                        T.writes(C[vi, vj])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
                for ax0 in range(4):
                    for ax1_fused in T.vectorized(2):
                        with T.sblock("D"):
                            vi = T.axis.spatial(64, i_0_j_0_fused // 48 * 4 + ax0)
                            vj = T.axis.spatial(96, i_0_j_0_fused % 48 * 2 + ax1_fused)
                            T.reads(C[vi, vj])
                            T.writes(D[vi, vj])
                            D[vi, vj] = T.max(C[vi, vj], T.float32(0.0))
