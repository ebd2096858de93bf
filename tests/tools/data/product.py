@T.prim_func
def product(a: T.handle, x: T.handle, y: T.handle):
    m, k = T.int32(), T.int32()
    A = T.match_buffer(a, (m, k), "float32")
    X = T.match_buffer(x, (k, 8), "float32")
    Y = T.match_buffer(y, (m, 8), "float32")
    for i, j, l in T.grid(m, 8, k):
        with T.block("Y"):
            vi, vj, vl = T.axis.remap("SSR", [i, j, l])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vl] * X[vl, vj]
