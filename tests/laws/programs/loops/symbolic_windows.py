# Windows of a symbolic extent, and halves of it.
# dim n = 6
@T.prim_func
def main(a: T.handle, c: T.handle, d: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    C = T.match_buffer(c, (n,), "int32")
    D = T.match_buffer(d, (n,), "int32")
    B = T.alloc_buffer((n + 1,), "int32")
    for i in range(n + 1):
        with T.block("B"):
            vi = T.axis.spatial(n + 1, i)
            B[vi] = T.if_then_else(vi < n, A[vi], 0, dtype="int32")
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi] + B[vi + 1]
    for i in range(n // 2):
        with T.block("D"):
            vi = T.axis.spatial(n // 2, i)
            D[vi * 2] = C[vi]
            D[vi * 2 + 1] = C[vi + n // 2]
