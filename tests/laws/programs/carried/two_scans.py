# Two sums that go on from row to row, one of them backwards.
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    S = T.alloc_buffer((5, 3), "int32")
    for j in range(3):
        with T.block("Z"):
            vj = T.axis.spatial(3, j)
            S[0, vj] = 0
    for i in range(4):
        for j in range(3):
            with T.block("S"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.spatial(3, j)
                S[vi + 1, vj] = S[vi, vj] + A[vi, vj]
    for i in range(4):
        for j in range(3):
            with T.block("U"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.spatial(3, j)
                T.where(0 < i)
                S[4 - vi, vj] = S[4 - vi, vj] - S[5 - vi, vj]
    for i, j in T.grid(4, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = S[vi + 1, vj]
