# A buffer that is written, read, and written again.
# each_kind
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * 2
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[3 - vi]
    for i in T.serial(4):
        with T.block("B2"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] - 1
    for i in T.serial(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = B[vi] + C[vi]
