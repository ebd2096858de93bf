# Only some elements are overwritten.
# each_kind
@T.prim_func
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i in T.serial(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = 7
    for i in T.serial(5):
        with T.block("U"):
            vi = T.axis.spatial(5, i)
            T.reads(A[vi])
            T.writes(B[vi])
            if A[vi] < 1:
                B[vi] = A[vi]
    for i in T.serial(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[vi] * 2
