# Only a part is written, and only that part is read.
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((3,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            T.where(i < 4)
            B[vi] = A[vi] * 2
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = B[vi] + B[vi + 1]
