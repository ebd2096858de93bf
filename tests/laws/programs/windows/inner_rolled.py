# Inside of a block, a producer where its consumer needs it.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 6), "int32"), C: T.Buffer((2, 5), "int32")):
    for o in T.serial(2):
        with T.block("O"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0:6])
            T.writes(C[vo, 0:5])
            B = T.alloc_buffer((6,), "int32")
            for i in range(5):
                for x in range(2):
                    with T.block("B"):
                        vi = T.axis.spatial(6, i + x)
                        B[vi] = A[vo, vi] * 2
                with T.block("C"):
                    vi = T.axis.spatial(5, i)
                    C[vo, vi] = B[vi] - B[vi + 1]
