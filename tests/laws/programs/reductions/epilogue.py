# A reduction, what is done to each result, and one who reads both.
@T.prim_func
def main(A: T.Buffer((4, 5), "int32"), X: T.Buffer((4,), "int32"), E: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    C = T.alloc_buffer((4,), "int32")
    for i, k in T.grid(4, 5):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] + X[vi]
    for i in range(4):
        with T.block("E"):
            vi = T.axis.spatial(4, i)
            E[vi] = C[vi] * C[vi]
