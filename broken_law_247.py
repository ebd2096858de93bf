# from tvm.script import tir as T

@T.prim_func
def main(A0: T.Buffer((9, 2), "float32"), A1: T.Buffer((9, 4), "float32"), V: T.Buffer((7,), "float32"), T1: T.Buffer((6,), "float32")):
    # with T.block("root"):
    T0 = T.alloc_buffer((7,), "float32")
    for i in range(7):
        with T.block("T0"):
            vi = T.axis.spatial(7, i)
            T.reads(V[vi - 1:vi + 2])
            T.writes(T0[vi])
            T0[vi] = T.max(T.min(V[vi] + T.if_then_else(vi - 1 >= 0, V[vi - 1], T.float32(0.0)) - T.if_then_else(vi + 1 < 7, V[vi + 1], T.float32(1.0)), T.float32(20.0)), T.float32(-20.0))
    for i, j in T.grid(6, 2):
        with T.block("T1"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(T0[vi + vj])
            T.writes(T1[vi])
            with T.init():
                T1[vi] = T.float32("-inf")
            T1[vi] = T.max(T1[vi], T0[vi + vj])
