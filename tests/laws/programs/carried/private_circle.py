# A circular buffer that each outer iteration fills anew.
# each_kind
@T.prim_func
def main(A: T.Buffer((2, 5), "int32"), C: T.Buffer((2, 5), "int32")):
    S = T.alloc_buffer((2,), "int32")
    for o in T.serial(2):
        with T.block("Z"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0])
            T.writes(S[1])
            S[1] = A[vo, 0]
        for i in range(5):
            with T.block("S"):
                vo = T.axis.spatial(2, o)
                vi = T.axis.opaque(5, i)
                S[vi % 2] = A[vo, vi] * 2
            with T.block("C"):
                vo = T.axis.spatial(2, o)
                vi = T.axis.opaque(5, i)
                T.reads(S[0:2])
                T.writes(C[vo, vi])
                C[vo, vi] = S[(vi + 1) % 2] - S[vi % 2]
