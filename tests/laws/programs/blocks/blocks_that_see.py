# Blocks without variables that use loops and lets around their scope, beside blocks with variables.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), E: T.Buffer((3,), "int32"),
         F: T.Buffer((), "int32")):
    for t in range(3):
        n: T.int32 = t + 2
        with T.block("part"):
            X = T.alloc_buffer((), "int32")
            Y = T.alloc_buffer((4,), "int32")
            S = T.alloc_buffer((), "int32")
            R = T.alloc_buffer((), "int32")
            with T.block("X"):
                X[()] = A[t, n - 2] * n
            for i in range(n):
                with T.block("Y"):
                    vi = T.axis.spatial(4, i)
                    Y[vi] = A[0, vi] + X[()]
            for k in range(4):
                with T.block("S"):
                    vk = T.axis.reduce(4, k)
                    with T.init():
                        S[()] = 0
                    S[()] = S[()] + Y[vk % 2]
            with T.block("F"):
                F[()] = S[()] + t
            for u in range(1):
                with T.block("R"):
                    with T.init():
                        R[()] = 0
                    R[()] = R[()] + A[t, n - 1] * t
            with T.block("E"):
                E[t] = R[()]
            for i in range(4):
                with T.block("B"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    B[vt, vi] = Y[T.min(vi, vt + 1)]
