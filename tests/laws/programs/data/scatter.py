# A scatter; its places differ.
# data I = 3 0 4 1 2
@T.prim_func
def main(A: T.Buffer((5,), "int32"), I: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            T.reads(A[vi], I[vi])
            T.writes(B[0:5])
            B[I[vi]] = A[vi] * 2
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[vi] + 1
