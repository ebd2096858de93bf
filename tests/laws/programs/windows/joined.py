# Two writers of the ends of a buffer, and windows over the seam.
@T.prim_func
def main(A: T.Buffer((3,), "int32"), X: T.Buffer((3,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(3):
        with T.block("P"):
            vi = T.axis.spatial(3, i)
            B[vi] = A[vi] + 1
    for i in range(3):
        with T.block("Q"):
            vi = T.axis.spatial(3, i)
            B[vi + 3] = X[vi] * 2
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[vi] + B[vi + 1]
