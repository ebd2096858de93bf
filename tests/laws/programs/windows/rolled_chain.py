# Two producers, one inside the windows of the other.
@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    C = T.alloc_buffer((6,), "int32")
    for i in range(4):
        for ax0 in range(5):
            with T.block("B"):
                v0 = T.axis.spatial(8, i + ax0)
                B[v0] = A[v0] * 2
        for ax0 in range(3):
            with T.block("C"):
                v0 = T.axis.spatial(6, i + ax0)
                C[v0] = B[v0] + B[v0 + 2]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = C[vi] + C[vi + 1] + C[vi + 2]
