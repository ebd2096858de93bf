# Sums below one loop into a buffer that all of its iterations read afterwards.
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3, 4), "int32")):
    S = T.alloc_buffer((4,), "int32")
    R = T.alloc_buffer((1,), "int32")
    for j in range(4):
        with T.block("Z"):
            vj = T.axis.spatial(4, j)
            S[vj] = 0
    with T.block("Y"):
        R[0] = 0
    for i in range(3):
        for j in range(4):
            with T.block("S"):
                vi, vj = T.axis.remap("RS", [i, j])
                S[vj] = S[vj] + A[vi, vj]
        for j in range(4):
            with T.block("R"):
                vi, vj = T.axis.remap("RR", [i, j])
                R[0] = R[0] + A[vi, vj] * vj
    for i, j in T.grid(3, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = S[vj] * R[0] + A[vi, vj]
