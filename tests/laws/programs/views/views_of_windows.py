# Parts are read through views, with an offset that moves.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((4, 2), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in T.serial(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for i in T.serial(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(B[vi:vi + 3])
            T.writes(C[vi, 0:2])
            V = T.match_buffer(B[vi:vi + 3], (3,), "int32", strides=["s"], offset_factor=1)
            for j in range(2):
                with T.block("M"):
                    vj = T.axis.spatial(2, j)
                    T.reads(V[vj:vj + 2])
                    T.writes(C[vi, vj])
                    W = T.match_buffer(V[vj:vj + 2], (2,), "int32", strides=["t"], offset_factor=1)
                    C[vi, vj] = W[0] - W[1]
