# Domains without an element under loops that have iterations: only guards keep the blocks from running.
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), F: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    S = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] + 1
            S[vi] = A[vi] - 1
    for i, z0, z1 in T.grid(4, 2, 2):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            vz = T.axis.spatial(0, z0 * 2 + z1)
            T.where(z0 * 2 + z1 < 0)
            B[vi] = vz
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] * 2
    for i, k0, k1 in T.grid(4, 2, 2):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(0, k0 * 2 + k1)
            T.where(k0 * 2 + k1 < 0)
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vk]
    for i in range(4):
        with T.block("F"):
            vi = T.axis.spatial(4, i)
            F[vi] = S[vi] * 2
