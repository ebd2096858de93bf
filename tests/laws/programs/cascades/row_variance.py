# The squared differences of a row to its mean, which needs the row's sum.
@T.prim_func
def main(X: T.Buffer((3, 4), "float32"), Q: T.Buffer((3,), "float32"), Y: T.Buffer((3, 4), "float32")):
    S = T.alloc_buffer((3,), "float32")
    for i, j in T.grid(3, 4):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj]
    for i, j in T.grid(3, 4):
        with T.block("Q"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                Q[vi] = T.float32(0)
            Q[vi] = Q[vi] + (X[vi, vj] - S[vi] / T.float32(4)) * (X[vi, vj] - S[vi] / T.float32(4))
    for i, j in T.grid(3, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * Q[vi]
