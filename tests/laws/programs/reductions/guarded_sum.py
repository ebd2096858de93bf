# A reduction over loops that reach too far.
@T.prim_func
def main(A: T.Buffer((5, 7), "int32"), C: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i0, i1, k0, k1 in T.grid(2, 3, 2, 4):
        with T.block("B"):
            vi = T.axis.spatial(5, i0 * 3 + i1)
            vk = T.axis.reduce(7, k0 * 4 + k1)
            T.where(i0 * 3 + i1 < 5 and k0 * 4 + k1 < 7)
            with T.init():
                B[vi] = -1000
            B[vi] = T.max(B[vi], A[vi, vk])
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = B[vi] + 1
