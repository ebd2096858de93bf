# Reals, and a row's largest element taken off it.
@T.prim_func
def main(A: T.Buffer((3, 5), "float32"), C: T.Buffer((3, 5), "float32")):
    M = T.alloc_buffer((3,))
    B = T.alloc_buffer((3, 5))
    for i, k in T.grid(3, 5):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(-1000)
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, j in T.grid(3, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] - M[vi]
    for i, j in T.grid(3, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * T.float32(2)
