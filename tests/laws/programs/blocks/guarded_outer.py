# A guard around a block of blocks.
# each_kind
@T.prim_func
def main(A: T.Buffer((5, 3), "int32"), C: T.Buffer((5, 3), "int32")):
    S = T.alloc_buffer((6, 3), "int32")
    for o in T.serial(2):
        for x in range(3):
            with T.block("O"):
                vi = T.axis.spatial(5, o * 3 + x)
                T.where(o * 3 + x < 5)
                T.reads(A[vi, 0:3], S[vi, 0:3])
                T.writes(S[vi, 0:3], C[vi, 0:3])
                for j in range(3):
                    with T.block("S"):
                        vj = T.axis.spatial(3, j)
                        S[vi, vj] = A[vi, vj] * 2
                for j in range(3):
                    with T.block("C"):
                        vj = T.axis.spatial(3, j)
                        C[vi, vj] = S[vi, 2 - vj]
