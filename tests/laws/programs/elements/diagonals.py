# Each instance writes one element of a diagonal, in a place of two sums.
@T.prim_func
def main(A: T.Buffer((3, 3), "int32"), C: T.Buffer((5, 3), "int32"), D: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5, 3), "int32")
    for i, j in T.grid(5, 3):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = 0
    for i, j in T.grid(3, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi + vj, vj] = A[vi, vj] * 2
    for i, k in T.grid(5, 3):
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = 0
            D[vi] = D[vi] + B[vi, vk]
    for i, j in T.grid(5, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[4 - vi, vj]
