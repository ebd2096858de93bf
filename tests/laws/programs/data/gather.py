# A gather of a result, by an index that is a result, too.
# data I = 3 0 4 3 1
@T.prim_func
def main(A: T.Buffer((5,), "int32"), I: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    J = T.alloc_buffer((5,), "int32")
    B = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("J"):
            vi = T.axis.spatial(5, i)
            J[vi] = 4 - I[vi]
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = A[vi] * 2
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            T.reads(B[0:5], J[vi])
            T.writes(C[vi])
            C[vi] = B[J[vi]] + B[vi]
