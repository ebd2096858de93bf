# Loops and variables of 64 bits.
@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((T.int64(6), T.int64(4)), "int32")
    for i, j in T.grid(T.int64(6), T.int64(4)):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, k in T.grid(T.int64(6), T.int64(4)):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + B[vi, T.int64(3) - vk]
