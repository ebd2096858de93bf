# A producer where a row of its consumer needs it, two rows that overlap.
@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((5, 4), "int32")):
    B = T.alloc_buffer((6, 4), "int32")
    for i in range(5):
        for ax0, ax1 in T.grid(2, 4):
            with T.block("B"):
                v0 = T.axis.spatial(6, i + ax0)
                v1 = T.axis.spatial(4, ax1)
                B[v0, v1] = A[v0, v1] * 2
        for j in range(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 1, vj]
