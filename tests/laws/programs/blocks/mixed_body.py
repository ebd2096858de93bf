# A block that stores by itself and holds blocks.
# each_kind
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3, 4), "int32")):
    for i in T.serial(3):
        with T.block("O"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi, 0:4])
            T.writes(C[vi, 0:4])
            S = T.alloc_buffer((5,), "int32")
            S[0] = A[vi, 3]
            for j in range(4):
                with T.block("S"):
                    vj = T.axis.spatial(4, j)
                    S[vj + 1] = A[vi, vj] * 2
            for j in range(4):
                with T.block("C"):
                    vj = T.axis.spatial(4, j)
                    C[vi, vj] = S[vj] + S[vj + 1]
