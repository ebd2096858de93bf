# Two buffers that take turns.
@T.prim_func
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    D = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("Z"):
            vi = T.axis.spatial(5, i)
            D[vi] = A[vi]
    for t in range(3):
        for i in range(5):
            with T.block("B"):
                vt = T.axis.opaque(3, t)
                vi = T.axis.spatial(5, i)
                B[vi] = D[T.max(vi - 1, 0)] + D[T.min(vi + 1, 4)] + vt
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[vi] = B[vi] - 1
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = D[vi]
