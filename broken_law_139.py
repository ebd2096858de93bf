# from tvm.script import tir as T

@T.prim_func
def main(A0: T.Buffer((8, 6), "float32"), A1: T.Buffer((2, 6), "float32"), V: T.Buffer((6,), "float32"), T0: T.Buffer((6,), "float32"), T4: T.Buffer((), "float32")):
    # with T.block("root"):
    T1 = T.alloc_buffer((6,), "float32")
    T2 = T.alloc_buffer((12,), "float32")
    T3 = T.alloc_buffer((8, 2), "float32")
    for outer, inner in T.grid(2, 3):
        with T.block("T0"):
            vi = T.axis.spatial(6, outer * 3 + inner)
            T.reads(V[vi])
            T.writes(T0[vi])
            T0[vi] = T.max(T.min(V[vi] * T.float32(2.0) + T.float32(1.0), T.float32(20.0)), T.float32(-20.0))
    for i, j in T.grid(6, 8):
        with T.block("T1"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(A0[vj, vi])
            T.writes(T1[vi])
            with T.init():
                T1[vi] = T.float32(0.0)
            T1[vi] = T1[vi] + A0[vj, vi]
    for i in range(12):
        with T.block("T2"):
            vi = T.axis.spatial(12, i)
            T.reads(A1[vi // 6, vi % 6])
            T.writes(T2[vi])
            T2[vi] = A1[vi // 6, vi % 6]
    for i, j, k in T.grid(8, 2, 6):
        with T.block("T3"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A0[vi, vk], A1[vj, vk])
            T.writes(T3[vi, vj])
            with T.init():
                T3[vi, vj] = T.float32(0.0)
            T3[vi, vj] = T3[vi, vj] + T.max(T.min(A0[vi, vk] * T.max(T.min(A1[vj, vk], T.float32(20.0)), T.float32(-20.0)), T.float32(20.0)), T.float32(-20.0))
    for i, j in T.grid(8, 2):
        with T.block("T4"):
            vi, vj = T.axis.remap("RR", [i, j])
            T.reads(T3[vi, vj])
            T.writes(T4[()])
            with T.init():
                T4[()] = T.float32(0.0)
            T4[()] = T4[()] + T3[vi, vj]
