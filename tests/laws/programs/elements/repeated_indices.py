# Stores that compute an index more than once.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), X: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = A[(vi * 5 + 2) % 6] + X[(vi * 5 + 2) % 6]
