# Inside a block, a loop has a scalar for each iteration and a row for all.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 4), "int32"), C: T.Buffer((2, 4), "int32"), D: T.Buffer((2, 4), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for o in range(2):
        with T.block("O"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0:4], S[0], D[vo, 0:4])
            T.writes(C[vo, 0:4], D[vo, 0:4], S[0])
            for i in T.serial(4):
                with T.block("X"):
                    vi = T.axis.spatial(4, i)
                    S[0] = A[vo, vi] * 2
                    D[vo, vi] = A[vo, vi] + 1
                with T.block("Y"):
                    vi = T.axis.spatial(4, i)
                    C[vo, vi] = S[0] + D[vo, vi]
