# from tvm.script import tir as T

@T.prim_func
def main(A0: T.Buffer((9, 9), "float32"), A1: T.Buffer((1, 2, 2), "float32"), V: T.Buffer((1,), "float32"), T5: T.Buffer((9,), "float32")):
    # with T.block("root"):
    T0 = T.alloc_buffer((1, 2, 2), "float32")
    T1 = T.alloc_buffer((1, 2, 2), "float32")
    T2 = T.alloc_buffer((1, 2, 2), "float32")
    T3 = T.alloc_buffer((), "float32")
    T4 = T.alloc_buffer((1,), "float32")
    for i, j, k in T.grid(1, 2, 2):
        with T.block("T0"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            T.reads(A1[vi, vj - 1:vj + 1, vk])
            T.writes(T0[vi, vj, vk])
            T0[vi, vj, vk] = T.max(T.min(A1[vi, vj, vk] + T.if_then_else(vj - 1 >= 0, A1[vi, vj - 1, vk], T.float32(0.0)), T.float32(20.0)), T.float32(-20.0))
    for outer, inner, j, k in T.grid(1, 4, 2, 2):
        with T.block("T1"):
            vi = T.axis.spatial(1, outer * 4 + inner)
            vj, vk = T.axis.remap("SS", [j, k])
            T.where(outer * 4 + inner < 1)
            T.reads(T0[vi, vj, vk])
            T.writes(T1[vi, vj, vk])
            T1[vi, vj, vk] = T.max(T.min(T0[vi, vj, vk] * T.float32(2.0) + T.float32(1.0), T.float32(20.0)), T.float32(-20.0))
    for i, j, k in T.grid(1, 2, 2):
        with T.block("T2"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            T.reads(T1[vi, vj - 2:vj + 3, vk])
            T.writes(T2[vi, vj, vk])
            T2[vi, vj, vk] = T.max(T.min(T1[vi, vj, vk] + T.if_then_else(vj - 2 >= 0, T1[vi, vj - 2, vk], T.float32(0.0)) - T.if_then_else(vj + 2 < 2, T1[vi, vj + 2, vk], T.float32(1.0)), T.float32(20.0)), T.float32(-20.0))
    for i, j, k in T.grid(1, 2, 2):
        with T.block("T3"):
            vi, vj, vk = T.axis.remap("RRR", [i, j, k])
            T.reads(T2[vi, vj, vk])
            T.writes(T3[()])
            with T.init():
                T3[()] = T.float32(0.0)
            T3[()] = T3[()] + T2[vi, vj, vk]
    for i, j in T.grid(1, 1):
        with T.block("T4"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(V[vi + vj])
            T.writes(T4[vi])
            with T.init():
                T4[vi] = T.float32(0.0)
            T4[vi] = T4[vi] + V[vi + vj]
    for i, j in T.grid(9, 9):
        with T.block("T5"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(A0[vi, vj])
            T.writes(T5[vi])
            with T.init():
                T5[vi] = T.float32(0.0)
            T5[vi] = T5[vi] + A0[vi, vj]
