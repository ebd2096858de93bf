# Loops of every kind, and parts that begin late.
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32"), E: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    S = T.alloc_buffer((4,), "int32")
    for i in T.parallel(4):
        for j in T.vectorized(6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, 5 - vj] + 1
        for k in T.unroll(6):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = A[vi, 0]
                S[vi] = S[vi] + B[vi, vk]
    for i in T.serial(1, 4):
        with T.block("part"):
            for j in T.parallel(6):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi - 1, vj] - S[vi]
        with T.block("E"):
            E[i] = S[i] * 2
    for j in range(6):
        with T.block("C0"):
            vj = T.axis.spatial(6, j)
            C[0, vj] = B[3, vj]
    with T.block("E0"):
        E[0] = S[0]
