# Sums of bytes and truths.
@T.prim_func
def main(A: T.Buffer((4, 6), "int8"), C: T.Buffer((4,), "int32"), D: T.Buffer((4, 6), "bool")):
    B = T.alloc_buffer((4, 6), "bool")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] < T.int8(0)
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + T.cast(A[vi, vk], "int32")
    for i, j in T.grid(4, 6):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, 5 - vj]
