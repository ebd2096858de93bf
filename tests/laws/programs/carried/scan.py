# A sum that goes on from element to element.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    S = T.alloc_buffer((7,), "int32")
    with T.block("Z"):
        T.reads()
        T.writes(S[0])
        S[0] = 1
    for i in range(6):
        with T.block("S"):
            vi = T.axis.opaque(6, i)
            S[vi + 1] = S[vi] + A[vi]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = S[vi + 1]
