# Attention of a row: a maximum, shares, their sum and values that they weigh, each of which needs those before.
@T.prim_func
def main(X: T.Buffer((2, 6), "float32"), V: T.Buffer((6, 3), "float32"), Y: T.Buffer((2, 3), "float32")):
    M = T.alloc_buffer((2,), "float32")
    E = T.alloc_buffer((2, 6), "float32")
    S = T.alloc_buffer((2,), "float32")
    Z = T.alloc_buffer((2, 3), "float32")
    for i, j in T.grid(2, 6):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], X[vi, vj])
    for i, j in T.grid(2, 6):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(X[vi, vj] - M[vi])
    for i, j in T.grid(2, 6):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vj]
    for i, e, j in T.grid(2, 3, 6):
        with T.block("Z"):
            vi, ve, vj = T.axis.remap("SSR", [i, e, j])
            with T.init():
                Z[vi, ve] = T.float32(0)
            Z[vi, ve] = Z[vi, ve] + E[vi, vj] * V[vj, ve]
    for i, e in T.grid(2, 3):
        with T.block("Y"):
            vi, ve = T.axis.remap("SS", [i, e])
            Y[vi, ve] = Z[vi, ve] / S[vi]
