# Tiles of a symbolic extent; the last one is short.
# dim n = 7
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    C = T.match_buffer(c, (n,), "int32")
    B = T.alloc_buffer((n,), "int32")
    for i0, i1 in T.grid((n + 3) // 4, 4):
        with T.block("B"):
            vi = T.axis.spatial(n, i0 * 4 + i1)
            T.where(i0 * 4 + i1 < n)
            B[vi] = A[vi] * 2
    for i0 in range((n + 2) // 3):
        for i1 in range(T.min(3, n - i0 * 3)):
            with T.block("C"):
                vi = T.axis.spatial(n, i0 * 3 + i1)
                C[vi] = B[n - 1 - vi] + 1
