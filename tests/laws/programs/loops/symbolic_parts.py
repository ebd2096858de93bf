# Symbolic rows in blocks without variables.
# dim n = 5
@T.prim_func
def main(a: T.handle, b: T.handle, E: T.Buffer((8,), "int32")):
    n = T.int32()
    A = T.match_buffer(a, (n, 4), "int32")
    B = T.match_buffer(b, (n, 4), "int32")
    for t in range(n):
        with T.block("part"):
            X = T.alloc_buffer((1,), "int32")
            with T.block("X"):
                X[0] = A[t, 0] * n + t
            for i in range(4):
                with T.block("B"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    T.where(t + i < n + 2)
                    B[vt, vi] = A[n - 1 - vt, vi] + X[0]
            with T.block("E"):
                T.where(t < 8)
                E[t] = X[0]
