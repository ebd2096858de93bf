# Each result needs those before it.
@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), X: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            C[vi] = X[vi]
        for j in range(i):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.reduce(4, j)
                C[vi] = C[vi] - A[vi, vj] * C[vj]
