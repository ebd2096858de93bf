# Views alone, in blocks without variables that use the loop around them.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), E: T.Buffer((3,), "int32")):
    X = T.alloc_buffer((3, 4), "int32")
    for t in range(3):
        with T.block("part"):
            T.reads(A[t, 0:4])
            T.writes(X[t, 0:4], E[t])
            V = T.match_buffer(A[t, 0:4], (4,), "int32", offset_factor=1)
            W = T.match_buffer(X[t, 0:4], (4,), "int32", offset_factor=1)
            with T.block("X"):
                W[0] = V[1] + t
            for i in range(3):
                with T.block("Y"):
                    vi = T.axis.spatial(4, i + 1)
                    W[vi] = V[vi] * 2
            with T.block("E"):
                E[t] = W[t] + V[0]
    for t in range(3):
        with T.block("other"):
            T.reads(X[t, 0:4])
            T.writes(B[t, 0:4])
            V = T.match_buffer(X[t, 0:4], (4,), "int32", offset_factor=1)
            for i in range(4):
                with T.block("B"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    B[vt, vi] = V[3 - vi] - 1
