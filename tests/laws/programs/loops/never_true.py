# Guards that never hold and guards that always hold.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.where(i < 9)
            B[vi] = A[vi] * 2
    for i in range(4):
        with T.block("N"):
            vi = T.axis.spatial(4, i)
            T.where(i < 0)
            B[vi] = 5
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] + 1
