# Blocks inside a block: the second reads in reverse what the first wrote.
# each_kind
@T.prim_func
def main(A: T.Buffer((6,), "int32"), E: T.Buffer((6,), "int32")):
    S = T.alloc_buffer((6,), "int32")
    for i in T.serial(3):
        with T.block("O"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi * 2:vi * 2 + 2], S[vi * 2:vi * 2 + 2])
            T.writes(E[vi * 2:vi * 2 + 2], S[vi * 2:vi * 2 + 2])
            for j in range(2):
                with T.block("S"):
                    vj = T.axis.spatial(2, j)
                    S[vi * 2 + vj] = A[vi * 2 + vj]
            for j in range(2):
                with T.block("E"):
                    vj = T.axis.spatial(2, j)
                    E[vi * 2 + vj] = S[vi * 2 + 1 - vj]
