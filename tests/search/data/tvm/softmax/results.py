# record 0
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 128))
        P_rf = T.sblock_alloc_buffer((64, 4))
        for i_fused_fused_fused in T.parallel(64):
            for ax0, ax1 in T.grid(4, 1):
                with T.sblock("P_rf_init"):
                    vj_1 = T.axis.spatial(4, ax0)
                    vi = T.axis.spatial(64, i_fused_fused_fused + ax1)
                    T.reads()
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
                for ax2 in range(32):
                    with T.sblock("P_rf_update"):
                        vj_1 = T.axis.spatial(4, ax0)
                        vi = T.axis.spatial(64, i_fused_fused_fused + ax1)
                        vj_0 = T.axis.reduce(32, ax2)
                        T.reads(P_rf[vi, vj_1], X[vi, vj_0 * 4 + vj_1])
                        T.writes(P_rf[vi, vj_1])
                        P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 * 4 + vj_1])
            for j in range(128):
                for ax1_init in range(1):
                    with T.sblock("P_init"):
                        vi = T.axis.spatial(64, i_fused_fused_fused + ax1_init)
                        T.reads()
                        T.writes(P[vi])
                        P[vi] = T.float32(-340282346638528859811704183484516925440.0)
                for ax0, ax1 in T.grid(4, 1):
                    with T.sblock("P_update"):
                        vj_1 = T.axis.reduce(4, ax0)
                        vi = T.axis.spatial(64, i_fused_fused_fused + ax1)
                        T.reads(P[vi], P_rf[vi, vj_1])
                        T.writes(P[vi])
                        P[vi] = T.max(P[vi], P_rf[vi, vj_1])
                with T.sblock("E"):
                    vi, vj = T.axis.remap("SS", [i_fused_fused_fused, j])
                    T.reads(X[vi, vj], P[vi])
                    T.writes(E[vi, vj])
                    E[vi, vj] = T.exp(X[vi, vj] - P[vi])
        for i_fused_fused in T.parallel(64):
            for ax0, ax1 in T.grid(128, 1):
                with T.sblock("S_rf_init"):
                    vj_0 = T.axis.spatial(128, ax0)
                    vi = T.axis.spatial(64, i_fused_fused + ax1)
                    T.reads()
                    T.writes(S_rf[vi, vj_0])
                    S_rf[vi, vj_0] = T.float32(0.0)
                for ax2 in range(1):
                    with T.sblock("S_rf_update"):
                        vj_0 = T.axis.spatial(128, ax0)
                        vi = T.axis.spatial(64, i_fused_fused + ax1)
                        vj_1 = T.axis.reduce(1, ax2)
                        T.reads(S_rf[vi, vj_0], E[vi, vj_0 + vj_1])
                        T.writes(S_rf[vi, vj_0])
                        S_rf[vi, vj_0] = S_rf[vi, vj_0] + E[vi, vj_0 + vj_1]
            with T.sblock("S_init"):
                vi = T.axis.spatial(64, i_fused_fused)
                T.reads()
                T.writes(S[vi])
                S[vi] = T.float32(0.0)
            for j_0 in range(128):
                with T.sblock("S_update"):
                    vj_0, vi = T.axis.remap("RS", [j_0, i_fused_fused])
                    T.reads(S[vi], S_rf[vi, vj_0])
                    T.writes(S[vi])
                    S[vi] = S[vi] + S_rf[vi, vj_0]
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("Y"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(E[vi, vj], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = E[vi, vj] / S[vi]
# record 1
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        P_rf = T.sblock_alloc_buffer((64, 1))
        for i_fused in T.parallel(64):
            for j_1_init in range(1):
                with T.sblock("P_rf_init"):
                    vj_1, vi = T.axis.remap("SS", [j_1_init, i_fused])
                    T.reads()
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
            for j_0, j_1 in T.grid(128, 1):
                with T.sblock("P_rf_update"):
                    vj_1, vi, vj_0 = T.axis.remap("SSR", [j_1, i_fused, j_0])
                    T.reads(P_rf[vi, vj_1], X[vi, vj_0 + vj_1])
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 + vj_1])
        for i_fused_fused_fused in T.parallel(64):
            for ax1_init in range(1):
                with T.sblock("P_init"):
                    vi = T.axis.spatial(64, i_fused_fused_fused + ax1_init)
                    T.reads()
                    T.writes(P[vi])
                    P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for ax0, ax1 in T.grid(1, 1):
                with T.sblock("P_update"):
                    vj_1 = T.axis.reduce(1, ax0)
                    vi = T.axis.spatial(64, i_fused_fused_fused + ax1)
                    T.reads(P[vi], P_rf[vi, vj_1])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_1])
            for ax0 in range(1):
                with T.sblock("S_init"):
                    vi = T.axis.spatial(64, i_fused_fused_fused + ax0)
                    T.reads()
                    T.writes(S[vi])
                    S[vi] = T.float32(0.0)
                for ax1 in range(128):
                    with T.sblock("S_update"):
                        vi = T.axis.spatial(64, i_fused_fused_fused + ax0)
                        vj = T.axis.reduce(128, ax1)
                        T.reads(S[vi], X[vi, vj], P[vi])
                        T.writes(S[vi])
                        S[vi] = S[vi] + T.exp(X[vi, vj] - P[vi])
            for j in range(128):
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused_fused_fused, j])
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 2
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 2))
        P_rf = T.sblock_alloc_buffer((64, 64))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for j_0 in range(64):
                with T.sblock("P_rf_init"):
                    vj_0, vi = T.axis.remap("SS", [j_0, i_fused])
                    T.reads()
                    T.writes(P_rf[vi, vj_0])
                    P_rf[vi, vj_0] = T.float32(-340282346638528859811704183484516925440.0)
                for j_1 in range(2):
                    with T.sblock("P_rf_update"):
                        vj_0, vi, vj_1 = T.axis.remap("SSR", [j_0, i_fused, j_1])
                        T.reads(P_rf[vi, vj_0], X[vi, vj_0 * 2 + vj_1])
                        T.writes(P_rf[vi, vj_0])
                        P_rf[vi, vj_0] = T.max(P_rf[vi, vj_0], X[vi, vj_0 * 2 + vj_1])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for ax1_init in range(1):
                with T.sblock("P_init"):
                    vi = T.axis.spatial(64, i_fused + ax1_init)
                    T.reads()
                    T.writes(P[vi])
                    P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for ax0, ax1 in T.grid(64, 1):
                with T.sblock("P_update"):
                    vj_0 = T.axis.reduce(64, ax0)
                    vi = T.axis.spatial(64, i_fused + ax1)
                    T.reads(P[vi], P_rf[vi, vj_0])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_0])
            for j in range(128):
                for ax0_init, ax0_init_1, ax1_init in T.grid(2, 1, 1):
                    with T.sblock("S_rf_init"):
                        vj_0 = T.axis.spatial(2, ax0_init + ax0_init_1)
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S_rf[vi, vj_0])
                        S_rf[vi, vj_0] = T.float32(0.0)
                for ax1_init in range(1):
                    with T.sblock("S_init"):
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S[vi])
                        S[vi] = T.float32(0.0)
                for ax0 in range(2):
                    for ax0_1, ax1, ax2 in T.grid(1, 1, 64):
                        with T.sblock("S_rf_update"):
                            vj_0 = T.axis.spatial(2, ax0 + ax0_1)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            vj_1 = T.axis.reduce(64, ax2)
                            T.reads(S_rf[vi, vj_0], X[vi, vj_0 * 64 + vj_1], P[vi])
                            T.writes(S_rf[vi, vj_0])
                            S_rf[vi, vj_0] = S_rf[vi, vj_0] + T.exp(X[vi, vj_0 * 64 + vj_1] - P[vi])
                    for ax1 in range(1):
                        with T.sblock("S_update"):
                            vj_0 = T.axis.reduce(2, ax0)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            T.reads(S[vi], S_rf[vi, vj_0])
                            T.writes(S[vi])
                            S[vi] = S[vi] + S_rf[vi, vj_0]
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 3
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        P_rf = T.sblock_alloc_buffer((64, 8))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for j in range(128):
                for ax0, ax1 in T.grid(8, 1):
                    with T.sblock("P_rf_init"):
                        vj_1 = T.axis.spatial(8, ax0)
                        vi = T.axis.spatial(64, i_fused + ax1)
                        T.reads()
                        T.writes(P_rf[vi, vj_1])
                        P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
                    for ax2 in range(16):
                        with T.sblock("P_rf_update"):
                            vj_1 = T.axis.spatial(8, ax0)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            vj_0 = T.axis.reduce(16, ax2)
                            T.reads(P_rf[vi, vj_1], X[vi, vj_0 * 8 + vj_1])
                            T.writes(P_rf[vi, vj_1])
                            P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 * 8 + vj_1])
                for ax1_init in range(1):
                    with T.sblock("P_init"):
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(P[vi])
                        P[vi] = T.float32(-340282346638528859811704183484516925440.0)
                for ax0, ax1 in T.grid(8, 1):
                    with T.sblock("P_update"):
                        vj_1 = T.axis.reduce(8, ax0)
                        vi = T.axis.spatial(64, i_fused + ax1)
                        T.reads(P[vi], P_rf[vi, vj_1])
                        T.writes(P[vi])
                        P[vi] = T.max(P[vi], P_rf[vi, vj_1])
                with T.sblock("E"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(X[vi, vj], P[vi])
                    T.writes(E[vi, vj])
                    E[vi, vj] = T.exp(X[vi, vj] - P[vi])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            with T.sblock("S_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(S[vi])
                S[vi] = T.float32(0.0)
            for j in range(128):
                with T.sblock("S_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(S[vi], E[vi, vj])
                    T.writes(S[vi])
                    S[vi] = S[vi] + E[vi, vj]
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("Y"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(E[vi, vj], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = E[vi, vj] / S[vi]
# record 4
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 32))
        P_rf = T.sblock_alloc_buffer((64, 32))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for j_1_fused_init in T.vectorized(32):
                with T.sblock("P_rf_init"):
                    vj_1, vi = T.axis.remap("SS", [j_1_fused_init, i_fused])
                    T.reads()
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
            for j_0 in range(4):
                for j_1_fused in T.vectorized(32):
                    with T.sblock("P_rf_update"):
                        vj_1, vi, vj_0 = T.axis.remap("SSR", [j_1_fused, i_fused, j_0])
                        T.reads(P_rf[vi, vj_1], X[vi, vj_0 * 32 + vj_1])
                        T.writes(P_rf[vi, vj_1])
                        P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 * 32 + vj_1])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for ax1_init in range(1):
                with T.sblock("P_init"):
                    vi = T.axis.spatial(64, i_fused + ax1_init)
                    T.reads()
                    T.writes(P[vi])
                    P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for ax0, ax1 in T.grid(32, 1):
                with T.sblock("P_update"):
                    vj_1 = T.axis.reduce(32, ax0)
                    vi = T.axis.spatial(64, i_fused + ax1)
                    T.reads(P[vi], P_rf[vi, vj_1])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_1])
            for j in range(128):
                with T.sblock("E"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(X[vi, vj], P[vi])
                    T.writes(E[vi, vj])
                    E[vi, vj] = T.exp(X[vi, vj] - P[vi])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for j_1_fused_init in T.vectorized(32):
                with T.sblock("S_rf_init"):
                    vj_1, vi = T.axis.remap("SS", [j_1_fused_init, i_fused])
                    T.reads()
                    T.writes(S_rf[vi, vj_1])
                    S_rf[vi, vj_1] = T.float32(0.0)
            for j_0 in range(4):
                for j_1_fused in T.vectorized(32):
                    with T.sblock("S_rf_update"):
                        vj_1, vi, vj_0 = T.axis.remap("SSR", [j_1_fused, i_fused, j_0])
                        T.reads(S_rf[vi, vj_1], E[vi, vj_0 * 32 + vj_1])
                        T.writes(S_rf[vi, vj_1])
                        S_rf[vi, vj_1] = S_rf[vi, vj_1] + E[vi, vj_0 * 32 + vj_1]
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for ax1_init in range(1):
                with T.sblock("S_init"):
                    vi = T.axis.spatial(64, i_fused + ax1_init)
                    T.reads()
                    T.writes(S[vi])
                    S[vi] = T.float32(0.0)
            for ax0, ax1 in T.grid(32, 1):
                with T.sblock("S_update"):
                    vj_1 = T.axis.reduce(32, ax0)
                    vi = T.axis.spatial(64, i_fused + ax1)
                    T.reads(S[vi], S_rf[vi, vj_1])
                    T.writes(S[vi])
                    S[vi] = S[vi] + S_rf[vi, vj_1]
            for j in range(128):
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(E[vi, vj], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = E[vi, vj] / S[vi]
# record 5
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        P_rf = T.sblock_alloc_buffer((64, 16))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for ax0, ax1 in T.grid(16, 1):
                with T.sblock("P_rf_init"):
                    vj_1 = T.axis.spatial(16, ax0)
                    vi = T.axis.spatial(64, i_fused + ax1)
                    T.reads()
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
                for ax2 in range(8):
                    with T.sblock("P_rf_update"):
                        vj_1 = T.axis.spatial(16, ax0)
                        vi = T.axis.spatial(64, i_fused + ax1)
                        vj_0 = T.axis.reduce(8, ax2)
                        T.reads(P_rf[vi, vj_1], X[vi, vj_0 * 16 + vj_1])
                        T.writes(P_rf[vi, vj_1])
                        P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 * 16 + vj_1])
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j_1 in range(16):
                with T.sblock("P_update"):
                    vj_1, vi = T.axis.remap("RS", [j_1, i_fused])
                    T.reads(P[vi], P_rf[vi, vj_1])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_1])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for ax0 in range(1):
                with T.sblock("S_init"):
                    vi = T.axis.spatial(64, i_fused + ax0)
                    T.reads()
                    T.writes(S[vi])
                    S[vi] = T.float32(0.0)
                for ax1 in range(128):
                    with T.sblock("S_update"):
                        vi = T.axis.spatial(64, i_fused + ax0)
                        vj = T.axis.reduce(128, ax1)
                        T.reads(S[vi], X[vi, vj], P[vi])
                        T.writes(S[vi])
                        S[vi] = S[vi] + T.exp(X[vi, vj] - P[vi])
            for j in range(128):
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 6
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 16))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j in range(128):
                with T.sblock("P_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(P[vi], X[vi, vj])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], X[vi, vj])
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("E"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(X[vi, vj], P[vi])
                    T.writes(E[vi, vj])
                    E[vi, vj] = T.exp(X[vi, vj] - P[vi])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for j_1_fused_init in T.vectorized(16):
                with T.sblock("S_rf_init"):
                    vj_1, vi = T.axis.remap("SS", [j_1_fused_init, i_fused])
                    T.reads()
                    T.writes(S_rf[vi, vj_1])
                    S_rf[vi, vj_1] = T.float32(0.0)
            for j_0 in range(8):
                for j_1_fused in T.vectorized(16):
                    with T.sblock("S_rf_update"):
                        vj_1, vi, vj_0 = T.axis.remap("SSR", [j_1_fused, i_fused, j_0])
                        T.reads(S_rf[vi, vj_1], E[vi, vj_0 * 16 + vj_1])
                        T.writes(S_rf[vi, vj_1])
                        S_rf[vi, vj_1] = S_rf[vi, vj_1] + E[vi, vj_0 * 16 + vj_1]
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for j in range(128):
                for ax1_init in range(1):
                    with T.sblock("S_init"):
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S[vi])
                        S[vi] = T.float32(0.0)
                for ax0, ax1 in T.grid(16, 1):
                    with T.sblock("S_update"):
                        vj_1 = T.axis.reduce(16, ax0)
                        vi = T.axis.spatial(64, i_fused + ax1)
                        T.reads(S[vi], S_rf[vi, vj_1])
                        T.writes(S[vi])
                        S[vi] = S[vi] + S_rf[vi, vj_1]
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(E[vi, vj], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = E[vi, vj] / S[vi]
# record 7
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        E = T.sblock_alloc_buffer((64, 128))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 2))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for j in range(128):
                for ax0 in range(1):
                    with T.sblock("P_init"):
                        vi = T.axis.spatial(64, i_fused + ax0)
                        T.reads()
                        T.writes(P[vi])
                        P[vi] = T.float32(-340282346638528859811704183484516925440.0)
                    for ax1 in range(128):
                        with T.sblock("P_update"):
                            vi = T.axis.spatial(64, i_fused + ax0)
                            vj = T.axis.reduce(128, ax1)
                            T.reads(P[vi], X[vi, vj])
                            T.writes(P[vi])
                            P[vi] = T.max(P[vi], X[vi, vj])
                for ax0, ax1 in T.grid(1, 128):
                    with T.sblock("E"):
                        vi = T.axis.spatial(64, i_fused + ax0)
                        vj = T.axis.spatial(128, ax1)
                        T.reads(X[vi, vj], P[vi])
                        T.writes(E[vi, vj])
                        E[vi, vj] = T.exp(X[vi, vj] - P[vi])
                for ax0_init, ax0_init_1, ax1_init in T.grid(2, 1, 1):
                    with T.sblock("S_rf_init"):
                        vj_0 = T.axis.spatial(2, ax0_init + ax0_init_1)
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S_rf[vi, vj_0])
                        S_rf[vi, vj_0] = T.float32(0.0)
                for ax1_init in range(1):
                    with T.sblock("S_init"):
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S[vi])
                        S[vi] = T.float32(0.0)
                for ax0 in range(2):
                    for ax0_1, ax1, ax2 in T.grid(1, 1, 64):
                        with T.sblock("S_rf_update"):
                            vj_0 = T.axis.spatial(2, ax0 + ax0_1)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            vj_1 = T.axis.reduce(64, ax2)
                            T.reads(S_rf[vi, vj_0], E[vi, vj_0 * 64 + vj_1])
                            T.writes(S_rf[vi, vj_0])
                            S_rf[vi, vj_0] = S_rf[vi, vj_0] + E[vi, vj_0 * 64 + vj_1]
                    for ax1 in range(1):
                        with T.sblock("S_update"):
                            vj_0 = T.axis.reduce(2, ax0)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            T.reads(S[vi], S_rf[vi, vj_0])
                            T.writes(S[vi])
                            S[vi] = S[vi] + S_rf[vi, vj_0]
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(E[vi, vj], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = E[vi, vj] / S[vi]
# record 8
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 4))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j in range(128):
                with T.sblock("P_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(P[vi], X[vi, vj])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], X[vi, vj])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            for j in range(128):
                for ax0_init, ax0_init_1, ax1_init in T.grid(4, 1, 1):
                    with T.sblock("S_rf_init"):
                        vj_1 = T.axis.spatial(4, ax0_init + ax0_init_1)
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S_rf[vi, vj_1])
                        S_rf[vi, vj_1] = T.float32(0.0)
                for ax1_init in range(1):
                    with T.sblock("S_init"):
                        vi = T.axis.spatial(64, i_fused + ax1_init)
                        T.reads()
                        T.writes(S[vi])
                        S[vi] = T.float32(0.0)
                for ax0 in range(4):
                    for ax0_1, ax1, ax2 in T.grid(1, 1, 32):
                        with T.sblock("S_rf_update"):
                            vj_1 = T.axis.spatial(4, ax0 + ax0_1)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            vj_0 = T.axis.reduce(32, ax2)
                            T.reads(S_rf[vi, vj_1], X[vi, vj_0 * 4 + vj_1], P[vi])
                            T.writes(S_rf[vi, vj_1])
                            S_rf[vi, vj_1] = S_rf[vi, vj_1] + T.exp(X[vi, vj_0 * 4 + vj_1] - P[vi])
                    for ax1 in range(1):
                        with T.sblock("S_update"):
                            vj_1 = T.axis.reduce(4, ax0)
                            vi = T.axis.spatial(64, i_fused + ax1)
                            T.reads(S[vi], S_rf[vi, vj_1])
                            T.writes(S[vi])
                            S[vi] = S[vi] + S_rf[vi, vj_1]
                with T.sblock("Y"):
                    vi, vj = T.axis.remap("SS", [i_fused, j])
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 9
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        P_rf = T.sblock_alloc_buffer((64, 16))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for ax0, ax1 in T.grid(16, 1):
                with T.sblock("P_rf_init"):
                    vj_1 = T.axis.spatial(16, ax0)
                    vi = T.axis.spatial(64, i_fused + ax1)
                    T.reads()
                    T.writes(P_rf[vi, vj_1])
                    P_rf[vi, vj_1] = T.float32(-340282346638528859811704183484516925440.0)
                for ax2 in range(8):
                    with T.sblock("P_rf_update"):
                        vj_1 = T.axis.spatial(16, ax0)
                        vi = T.axis.spatial(64, i_fused + ax1)
                        vj_0 = T.axis.reduce(8, ax2)
                        T.reads(P_rf[vi, vj_1], X[vi, vj_0 * 16 + vj_1])
                        T.writes(P_rf[vi, vj_1])
                        P_rf[vi, vj_1] = T.max(P_rf[vi, vj_1], X[vi, vj_0 * 16 + vj_1])
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j_1 in range(16):
                with T.sblock("P_update"):
                    vj_1, vi = T.axis.remap("RS", [j_1, i_fused])
                    T.reads(P[vi], P_rf[vi, vj_1])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_1])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            with T.sblock("S_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(S[vi])
                S[vi] = T.float32(0.0)
            for j in range(128):
                with T.sblock("S_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(S[vi], X[vi, vj], P[vi])
                    T.writes(S[vi])
                    S[vi] = S[vi] + T.exp(X[vi, vj] - P[vi])
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("Y"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 10
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j in range(128):
                with T.sblock("P_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(P[vi], X[vi, vj])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], X[vi, vj])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 64, "pragma_unroll_explicit": 1}):
            with T.sblock("S_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(S[vi])
                S[vi] = T.float32(0.0)
            for j in range(128):
                with T.sblock("S_update"):
                    vi, vj = T.axis.remap("SR", [i_fused, j])
                    T.reads(S[vi], X[vi, vj], P[vi])
                    T.writes(S[vi])
                    S[vi] = S[vi] + T.exp(X[vi, vj] - P[vi])
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("Y"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
# record 11
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((64, 128), "float32"), Y: T.Buffer((64, 128), "float32")):
        T.func_attr({"global_symbol": "softmax", "tirx.noalias": True})
        # with T.sblock("root"):
        P = T.sblock_alloc_buffer((64,))
        S = T.sblock_alloc_buffer((64,))
        S_rf = T.sblock_alloc_buffer((64, 4))
        P_rf = T.sblock_alloc_buffer((64, 32))
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for j_0 in range(32):
                with T.sblock("P_rf_init"):
                    vj_0, vi = T.axis.remap("SS", [j_0, i_fused])
                    T.reads()
                    T.writes(P_rf[vi, vj_0])
                    P_rf[vi, vj_0] = T.float32(-340282346638528859811704183484516925440.0)
                for j_1 in range(4):
                    with T.sblock("P_rf_update"):
                        vj_0, vi, vj_1 = T.axis.remap("SSR", [j_0, i_fused, j_1])
                        T.reads(P_rf[vi, vj_0], X[vi, vj_0 * 4 + vj_1])
                        T.writes(P_rf[vi, vj_0])
                        P_rf[vi, vj_0] = T.max(P_rf[vi, vj_0], X[vi, vj_0 * 4 + vj_1])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            with T.sblock("P_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(-340282346638528859811704183484516925440.0)
            for j_0 in range(32):
                with T.sblock("P_update"):
                    vj_0, vi = T.axis.remap("RS", [j_0, i_fused])
                    T.reads(P[vi], P_rf[vi, vj_0])
                    T.writes(P[vi])
                    P[vi] = T.max(P[vi], P_rf[vi, vj_0])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            for j_1_fused_init in T.vectorized(4):
                with T.sblock("S_rf_init"):
                    vj_1, vi = T.axis.remap("SS", [j_1_fused_init, i_fused])
                    T.reads()
                    T.writes(S_rf[vi, vj_1])
                    S_rf[vi, vj_1] = T.float32(0.0)
            for j_0 in range(32):
                for j_1_fused in T.vectorized(4):
                    with T.sblock("S_rf_update"):
                        vj_1, vi, vj_0 = T.axis.remap("SSR", [j_1_fused, i_fused, j_0])
                        T.reads(S_rf[vi, vj_1], X[vi, vj_0 * 4 + vj_1], P[vi])
                        T.writes(S_rf[vi, vj_1])
                        S_rf[vi, vj_1] = S_rf[vi, vj_1] + T.exp(X[vi, vj_0 * 4 + vj_1] - P[vi])
        for i_fused in T.parallel(64, annotations={"pragma_auto_unroll_max_step": 512, "pragma_unroll_explicit": 1}):
            with T.sblock("S_init"):
                vi = T.axis.spatial(64, i_fused)
                T.reads()
                T.writes(S[vi])
                S[vi] = T.float32(0.0)
            for j_1 in range(4):
                with T.sblock("S_update"):
                    vj_1, vi = T.axis.remap("RS", [j_1, i_fused])
                    T.reads(S[vi], S_rf[vi, vj_1])
                    T.writes(S[vi])
                    S[vi] = S[vi] + S_rf[vi, vj_1]
        for i_j_fused_0 in T.parallel(128):
            for i_j_fused_1 in T.vectorized(64):
                with T.sblock("Y"):
                    vi = T.axis.spatial(64, (i_j_fused_0 * 64 + i_j_fused_1) // 128)
                    vj = T.axis.spatial(128, (i_j_fused_0 * 64 + i_j_fused_1) % 128)
                    T.reads(X[vi, vj], P[vi], S[vi])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = T.exp(X[vi, vj] - P[vi]) / S[vi]
