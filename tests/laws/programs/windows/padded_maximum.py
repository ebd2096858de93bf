# A padded input, a windowed maximum and an average that reads both.
@T.prim_func
def main(A: T.Buffer((7,), "int32"), C: T.Buffer((7,), "int32"), D: T.Buffer((4,), "int32")):
    Pd = T.alloc_buffer((9,), "int32")
    M = T.alloc_buffer((7,), "int32")
    for i in range(9):
        with T.block("Pd"):
            vi = T.axis.spatial(9, i)
            Pd[vi] = T.if_then_else(1 <= vi and vi < 8, A[vi - 1], -100)
    for i, k in T.grid(7, 3):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = -1000
            M[vi] = T.max(M[vi], Pd[vi + vk])
    for i in range(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            C[vi] = M[vi] - Pd[vi + 1]
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = M[vi * 2] + T.if_then_else(vi < 3, Pd[vi * 2 + 2], 0)
