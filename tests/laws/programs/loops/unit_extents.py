# Loops that run once.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), F: T.Buffer((1,), "int32")):
    B = T.alloc_buffer((4, 1), "int32")
    for i, u in T.grid(4, 1):
        with T.block("B"):
            vi, vu = T.axis.remap("SS", [i, u])
            B[vi, vu] = A[vi] + vu
    for i, k in T.grid(4, 1):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + B[vi, vk]
    for u in range(1):
        with T.block("F"):
            vu = T.axis.spatial(1, u)
            F[vu] = C[vu + 3] * 2
