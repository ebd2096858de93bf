# Blocks without variables that use loops and lets of their own scope.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), E: T.Buffer((3,), "int32"),
         F: T.Buffer((3,), "int32")):
    X = T.alloc_buffer((3,), "int32")
    Y = T.alloc_buffer((3, 4), "int32")
    for t in range(3):
        n: T.int32 = t % 2 + 1
        with T.block("X"):
            X[t] = A[t, n] * n
        for i in range(n):
            with T.block("Y"):
                vt = T.axis.spatial(3, t)
                vi = T.axis.spatial(4, i)
                Y[vt, vi] = A[vt, vi] + X[vt]
    for t in range(3):
        m: T.int32 = A[t, 0] % 2
        if m > 0:
            with T.block("F"):
                F[t] = X[t] + m
        with T.block("two"):
            with T.block("E"):
                E[t] = X[2 - t] - m
            for i in range(2):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[0, vi] = A[1, vi]
                with T.block("B1"):
                    B[t, i + 2] = Y[t, 0] + m
