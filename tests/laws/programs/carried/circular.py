# A circular buffer: an iteration reads what the one before left.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    S = T.alloc_buffer((2,), "int32")
    for i in range(6):
        with T.block("S"):
            vi = T.axis.opaque(6, i)
            S[vi % 2] = A[vi] * 2
        with T.block("C"):
            vi = T.axis.opaque(6, i)
            T.reads(S[0:2])
            T.writes(C[vi])
            C[vi] = T.if_then_else(0 < vi, S[(vi + 1) % 2], 0, dtype="int32") + S[vi % 2]
