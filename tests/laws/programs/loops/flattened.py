# Digits of an index, and sums of them.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((4, 3), "int32")):
    B = T.alloc_buffer((12,), "int32")
    D = T.alloc_buffer((12,), "int32")
    for i in range(12):
        with T.block("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = A[vi // 4, vi % 4]
    for i, j in T.grid(3, 4):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi * 4 + vj] = B[vi * 4 + vj] * 2
    for i, j in T.grid(4, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vj * 4 + vi]
