# A reduction that reads results of others.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), X: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(X[vi], A[vi, vj], C[0:4])
            T.writes(C[vi])
            with T.init():
                C[vi] = X[vi]
            C[vi] = C[vi] - T.if_then_else(vj < vi, A[vi, vj] * C[vj], 0, dtype="int32")
