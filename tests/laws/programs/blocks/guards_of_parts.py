# Blocks without variables under guards of loops around them, one inside of the other.
@T.prim_func
def main(A: T.Buffer((5, 4), "int32"), B: T.Buffer((5, 4), "int32"), E: T.Buffer((5,), "int32")):
    X = T.alloc_buffer((5, 4), "int32")
    for o, t in T.grid(2, 3):
        with T.block("outer"):
            T.where(o * 3 + t < 5)
            with T.block("X0"):
                X[o * 3 + t, 0] = A[o * 3 + t, 1]
            with T.block("middle"):
                T.where(t < 2)
                for i in range(3):
                    with T.block("X"):
                        vi = T.axis.spatial(4, i + 1)
                        X[0, vi] = A[0, vi] + 1
            for i in range(4):
                with T.block("B"):
                    vt = T.axis.spatial(5, o * 3 + t)
                    vi = T.axis.spatial(4, i)
                    B[vt, vi] = A[vt, vi] + X[vt, 0]
            with T.block("E"):
                T.where(o > 0)
                E[o * 3 + t] = X[0, t + 1]
