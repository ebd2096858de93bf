# from tvm.script import tir as T

@T.prim_func
def main(A0: T.Buffer((3, 9), "float32"), V: T.Buffer((2,), "float32"), T3: T.Buffer((3, 3), "float32")):
    # with T.block("root"):
    T0 = T.alloc_buffer((3, 3), "float32")
    T1 = T.alloc_buffer((3, 3), "float32")
    T2 = T.alloc_buffer((4,), "float32")
    for i, j, k in T.grid(3, 3, 9):
        with T.block("T0"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A0[T.min(vi, vj):T.min(vi, vj) + (T.max(vi + 1, vj + 1) - T.min(vi, vj)), vk])
            T.writes(T0[vi, vj])
            with T.init():
                T0[vi, vj] = T.float32(0.0)
            T0[vi, vj] = T0[vi, vj] + T.max(T.min(A0[vi, vk] * T.max(T.min(A0[vj, vk], T.float32(20.0)), T.float32(-20.0)), T.float32(20.0)), T.float32(-20.0))
    for i, j in T.grid(3, 3):
        with T.block("T1"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(T0[vj, vi])
            T.writes(T1[vi, vj])
            T1[vi, vj] = T0[vj, vi] + T.float32(1.0)
    for i in range(2):
        with T.block("T2"):
            vi = T.axis.spatial(2, i)
            T.reads(V[vi])
            T.writes(T2[vi])
            T2[vi] = V[vi] + T.float32(1.0)
    for i in range(2):
        with T.block("T2_1"):
            vi = T.axis.spatial(2, i)
            T.reads(V[vi])
            T.writes(T2[vi + 2])
            T2[vi + 2] = V[vi]
    for i, j, k in T.grid(3, 3, 3):
        with T.block("T3"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(T1[T.min(vi, vk):T.min(vi, vk) + (T.max(vi + 1, vk + 1) - T.min(vi, vk)), T.min(vk, vj):T.min(vk, vj) + (T.max(vk + 1, vj + 1) - T.min(vk, vj))])
            T.writes(T3[vi, vj])
            with T.init():
                T3[vi, vj] = T.float32(0.0)
            T3[vi, vj] = T3[vi, vj] + T.max(T.min(T1[vi, vk] * T.max(T.min(T1[vk, vj], T.float32(20.0)), T.float32(-20.0)), T.float32(20.0)), T.float32(-20.0))
