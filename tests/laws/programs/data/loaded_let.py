# An index that has a name.
# each_kind
# data I = 3 0 4 3 1
@T.prim_func
def main(A: T.Buffer((5,), "int32"), I: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = A[vi] * 2
    for i in T.serial(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            T.reads(B[0:5], I[vi])
            T.writes(C[vi])
            k: T.int32 = I[vi]
            C[vi] = B[k] + B[4 - k]
