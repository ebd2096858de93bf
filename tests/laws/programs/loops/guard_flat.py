@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((16,), "int32")):
    for i in range(4):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi * 4 + vj] = A[vi, vj] * 2
        for j_0, j_1 in T.grid(2, 2):
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(T.max(2 - i, 0), j_0 * 2 + j_1)
                T.where(j_0 * 2 + j_1 < T.max(2 - i, 0))
                T.reads()
                T.writes(C[vi * 4 + vj])
                C[vi * 4 + vj] = 1
